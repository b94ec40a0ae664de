"""Runs several emitted files in one process, on the devices that there are. Their inputs follow each other; of each file there are the
number of its outputs and the outputs, or -1 and the text of what went wrong."""

import gc
import os
import sys
import traceback
import types

os.environ["XLA_FLAGS"] += " --xla_backend_optimization_level=0 --xla_llvm_disable_expensive_passes=true"  # each runs once: compile fast

import jax
import numpy as np

FILES = []  # names, numbers of inputs, and texts


def run(name, text, arrays):
    jax.config.update("jax_enable_x64", False)  # the file says where it needs 64 bits
    module = types.ModuleType(name)
    exec(compile(text, name + ".py", "exec"), module.__dict__)
    values = [module.read(x, dtype, shape) for x, (_, dtype, shape) in zip(arrays, module.INPUTS)]
    outputs = [module.gather(y) for y in module.run(values)]
    unsharded = jax.jit(module.unsharded)() if not values else []  # those without inputs are small
    for i, want in enumerate(unsharded):
        error, close = module.compare(outputs[i], module.gather(want))
        if not close:
            raise ValueError(f"output {i} differs by {error} from the file's unsharded function")
    return [module.save(y) for y in outputs]


def option(name):
    return sys.argv[sys.argv.index(name) + 1]


if hasattr(jax.config, "jax_use_shardy_partitioner"):
    jax.config.update("jax_use_shardy_partitioner", True)  # as start() of the files does
given, outputs, taken = np.load(option("--inputs")), [], 0
for number, (name, count, text) in enumerate(FILES):
    if number % 20 == 19:  # what is compiled stays in memory
        jax.clear_caches()
        gc.collect()
    arrays = [given[f"arg{taken + i}"] for i in range(count)]
    taken += count
    try:
        found = run(name, text, arrays)
        outputs += [np.array(len(found)), *found]
    except (Exception, SystemExit):
        outputs += [np.array(-1), np.frombuffer(traceback.format_exc(limit=-4).encode(), np.uint8)]
np.savez(option("--outputs"), **{f"out{i}": y for i, y in enumerate(outputs)})
