"""Times MLIR inside jaxlib on the file that the first argument names, in as many rounds as the second says, and writes
one measurement as JSON. Parsing verifies too; printing trusts that."""

import json
import sys
import time

import jaxlib.version
from jax._src.interpreters import mlir as jax_mlir
from jax._src.lib.mlir import ir


def status(key):
    with open("/proc/self/status") as lines:
        return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(key + ":"))


def reset_peak():
    with open("/proc/self/clear_refs", "w") as file:
        file.write("5")
    return status("VmRSS")


def best(rounds, run):
    fastest = None
    for _ in range(rounds):
        start = time.perf_counter()
        run()
        seconds = time.perf_counter() - start
        fastest = seconds if fastest is None else min(fastest, seconds)
    return fastest


with open(sys.argv[1], "rb") as file:
    text = file.read()
rounds = int(sys.argv[2])
with jax_mlir.make_ir_context():
    ir.Module.parse("module {}")
    before = reset_peak()
    module = ir.Module.parse(text)
    peak = status("VmHWM") - before
    parse = best(rounds, lambda: ir.Module.parse(text))
    asm = lambda: module.operation.get_asm(binary=True, assume_verified=True)
    out = {"parse": parse, "print": best(rounds, asm), "peak": peak, "text": len(asm())}
    out["peer"] = "jaxlib " + jaxlib.version.__version__
    print(json.dumps(out))
