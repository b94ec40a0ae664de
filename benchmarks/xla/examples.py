"""Compiles the Python examples with the shardings that autoshard chose for them, by jax.jit and real XLA, and compares what
XLA sends with what the plans predict:

    AUTOSHARD_SHARED=../shared python benchmarks/xla/examples.py [-o benchmarks/results/xla_examples.md]

Every example runs as it is; its plan is caught on the way. XLA compiles the step twice: with the shardings of its inputs and
outputs alone, as plan.jit has it, and with those inside, too, as plan.constrain does. Bytes are what a device sends in a step
where collectives are rings, of XLA's from the text that it compiled (oracle/xla.py), of ours from the plan. XLA for CPU has no
reduce-scatter for partial sums: it reduces and slices, which sends twice as much, whatever the program; so the plan's bytes are
also counted with that. With plan.constrain the geometric means of the ratios, of collectives and of bytes as CPU sends them,
have to be within 10 %.
"""

import argparse
import contextlib
import io
import math
import os
import pathlib
import runpy
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
LIMIT = 1.1
EXAMPLES = ("jax_transformer", "flax_nnx", "equinox_cnn", "moe")


def caught(name):
    """The plan of an example, and the arguments that it was made for."""
    import autoshard

    found, plan = [], autoshard.plan
    def watch(function, *args, **options):
        found.append((plan(function, *args, **options), args))
        return found[-1][0]
    autoshard.plan = watch
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            runpy.run_path(str(ROOT / "examples" / f"{name}.py"), run_name="__main__")
    finally:
        autoshard.plan = plan
    return found[0]


def sent(compiled, devices):
    """How many collectives a device takes part in, and how many bytes it sends, in what XLA compiled."""
    sys.path.insert(0, str(pathlib.Path(os.environ["AUTOSHARD_SHARED"]) / "oracle"))
    import xla

    table = [(xla.ring_bytes(kind, group, operand, result), times)
             for kind, group, operand, result, times in xla.collectives(compiled.as_text(), devices) if group > 1]
    return sum(times for _, times in table), sum(size * times for size, times in table)


def rows(examples=EXAMPLES):
    """For each example what the plan predicts and what XLA compiles: name, how, pairs (predicted, found) of collectives and of bytes as CPU
    sends them, and bytes of the plan."""
    for name in examples:
        plan, args = caught(name)
        devices = math.prod(axis.size for axis in plan.message.mesh)
        count = sum(c.count for c in plan.message.collectives)
        size = sum(c.bytes for c in plan.message.collectives) / devices
        on_cpu = size + sum(c.bytes for c in plan.message.collectives if c.kind == "reduce_scatter") / devices
        for how, step in (("plan.jit", plan.jit()), ("plan.constrain", plan.constrain())):
            found, moved = sent(step.lower(*args).compile(), devices)
            yield name, how, (count, found), (on_cpu, moved), size


def mean(pairs):
    """The geometric mean of found by predicted, of those where there is something."""
    logs = [math.log(found / predicted) for predicted, found in pairs if predicted and found]
    return math.exp(sum(logs) / len(logs)) if logs else 1.0


def table(found):
    lines = ["| example | how | collectives: plan | XLA | KiB a device sends: plan | as CPU sends | XLA | by that |",
             "|---|---|---|---|---|---|---|---|"]
    for name, how, (count, has), (on_cpu, moved), size in found:
        kib = " | ".join(f"{n / 1024:.1f}" for n in (size, on_cpu, moved))
        lines.append(f"| {name} | {how} | {count} | {has} | {kib} | {moved / on_cpu:.3f} |")
    for how in ("plan.jit", "plan.constrain"):
        mine = [row for row in found if row[1] == how]
        lines.append(f"| geometric mean | {how} | | {mean([row[2] for row in mine]):.3f} | | | | {mean([row[3] for row in mine]):.3f} |")
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-o", help="file to write the table to")
    out = parser.parse_args().o
    found = list(rows())
    text = "# The examples, compiled by XLA\n\n`python benchmarks/xla/examples.py`; what is measured stands there.\n\n" + table(found)
    print(text)
    if out:
        pathlib.Path(out).write_text(text)
    sys.exit(verdict(found))


def verdict(found):
    """What is wrong with the programs that have all of the plan, nothing where they are as predicted."""
    kept = [row for row in found if row[1] == "plan.constrain"]
    for what, at in (("collectives", 2), ("bytes", 3)):
        ratio = mean([row[at] for row in kept])
        if not 1 / LIMIT <= ratio <= LIMIT:
            return f"{what} differ by a factor of {ratio:.3f} in geometric mean"
    return None


if __name__ == "__main__":
    main()
