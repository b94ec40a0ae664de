"""Times what a JAX user waits for: from `import autoshard` to the plan of examples/jax_transformer.py, beside tracing alone.

    pip install ./python "jax==0.12.0" && python benchmarks/python/first_plan.py

Every figure is one of a fresh process that has imported jax and made the arguments. Tracing is jax.jit(f).trace(...).lower().as_text(),
which the plan needs, too; what is left of the plan's time is the package's: its imports, its server, the search.
"""

import argparse
import os
import statistics
import subprocess
import sys
from pathlib import Path

EXAMPLES = Path(__file__).parents[2] / "examples"
BEGIN = """
import sys, time
sys.path.insert(0, {examples!r})
import jax
jax.config.update("jax_num_cpu_devices", 8)
source = open({examples!r} + "/jax_transformer.py").read().replace("import autoshard\\n", "")
example = {{"__name__": "example"}}
exec(compile(source, "jax_transformer.py", "exec"), example)
function, params = example["train_step"], example["init"](jax.random.key(0))
tokens = jax.random.randint(jax.random.key(1), (example["BATCH"], example["LENGTH"] + 1), 0, example["VOCABULARY"])
jax.block_until_ready((params, tokens))
begun = time.perf_counter()
"""
TRACE = "jax.jit(function).trace(params, tokens).lower().as_text(debug_info=True)\n"
PLAN = """
import autoshard
plan = autoshard.plan(function, params, tokens, mesh={{"data": 4, "model": 2}}, hardware="cpu", memory={memory!r})
"""
END = "print(time.perf_counter() - begun)\n"


def seconds(text):
    """Returns what a fresh process says that the text took."""
    program = BEGIN.format(examples=str(EXAMPLES)) + text + END
    out = subprocess.run([sys.executable, "-c", program], stdout=subprocess.PIPE, env={**os.environ, "JAX_PLATFORMS": "cpu"}, check=True)
    return float(out.stdout)


def main():
    args = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    args.add_argument("--runs", type=int, default=9, help="processes of each kind, in turn")
    args.add_argument("--memory", default="1.5MB", help="bytes of a device, as in the example")
    args = args.parse_args()
    traced, planned = [], []
    for _ in range(args.runs):
        traced.append(seconds(TRACE))
        planned.append(seconds(PLAN.format(memory=args.memory)))
    over = [plan - trace for trace, plan in zip(traced, planned)]
    for what, times in (("tracing", traced), ("import to plan", planned), ("over tracing", over)):
        print(f"{what:16}{statistics.median(times):.2f} s (least {min(times):.2f}, most {max(times):.2f})")


main()
