"""Times a pass pipeline of jaxlib on the file that the first argument names: the second is the pipeline, the third the
rounds of which the fastest counts, fewer where they take more than 10 seconds, more where they take less than the
fourth. Writes the result to standard output, and the times as JSON to standard error."""

import json
import sys
import time

import jaxlib.version
from jax._src.interpreters import mlir as jax_mlir
from jax._src.lib.mlir import ir, passmanager

with open(sys.argv[1]) as file:
    text = file.read()
pipeline, rounds, least = sys.argv[2], int(sys.argv[3]), float(sys.argv[4])
best, cheapest, total, out = None, None, 0.0, None
n = 0
while total <= 10 and (n < rounds or total < least):
    with jax_mlir.make_ir_context():
        module = ir.Module.parse(text)
        manager = passmanager.PassManager.parse(f'builtin.module({pipeline})')
        manager.enable_verifier(False)
        start, used = time.perf_counter(), time.process_time()
        manager.run(module.operation)
        seconds, used = time.perf_counter() - start, time.process_time() - used
        out = out or str(module)
    best = seconds if best is None else min(best, seconds)
    cheapest = used if cheapest is None else min(cheapest, used)
    total += seconds
    n += 1
sys.stdout.write(out)
sys.stdout.flush()
print(json.dumps({'seconds': best, 'cpu': cheapest, 'version': 'jaxlib ' + jaxlib.version.__version__}), file=sys.stderr)
