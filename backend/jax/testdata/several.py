"""Runs several emitted files in one process, or in each of several, by the arguments of one of them. Inputs and outputs
follow each other; behind the outputs of a file come the counts of OPS in its lowered text."""

import types

import numpy as np

FILES = []  # names and texts
OPS = ("all_reduce", "all_gather", "reduce_scatter", "collective_permute", "all_to_all")

modules = []
for name, text in FILES:
    module = types.ModuleType(name)
    exec(compile(text, name + ".py", "exec"), module.__dict__)
    modules.append(module)

args = modules[0].arguments()
modules[0].start(args)
arrays, outputs = np.load(args.inputs), []
taken = 0
for module in modules:
    values = [arrays[f"arg{taken + i}"] for i in range(len(module.INPUTS))]
    taken += len(values)
    outputs += [module.gather(y) for y in module.run(values)]
    text = module.sharded(module.make_mesh()).lower(*values).as_text()
    outputs.append(np.array([text.count(f"stablehlo.{op}\"(") for op in OPS], np.int32))
if args.process == 0:
    np.savez(args.outputs, **{f"out{i}": y for i, y in enumerate(outputs)})
if args.coordinator:
    import jax
    from jax.experimental import multihost_utils

    multihost_utils.sync_global_devices("done")
    jax.distributed.shutdown()
