"""Runs emitted files, one after another in one process: run.py FILE... reads FILE.in.npz where it is there and writes
FILE.out.npz, or what went wrong to FILE.error. Where FILE has $UNSHARDED in its name, its unsharded function has to agree;
where it has $EXPLICIT in its name, JAX inserts no casts. There are $DEVICES devices, or 8."""

import gc
import importlib.util
import os
import sys
import traceback

os.environ["XLA_FLAGS"] = (  # each program runs once: compile fast
    f"--xla_force_host_platform_device_count={os.environ.get('DEVICES', 8)}"
    " --xla_backend_optimization_level=0 --xla_llvm_disable_expensive_passes=true"
    # or the CPU overwrites what is still read where routines of linear algebra follow each other: docs/customcalls.md
    " --xla_cpu_enable_concurrency_optimized_scheduler=false"
)

import jax
import numpy as np


class Arguments:
    seed, inputs = 0, None


def run(path):
    jax.config.update("jax_enable_x64", False)
    if hasattr(jax.config, "jax_use_shardy_partitioner"):
        jax.config.update("jax_use_shardy_partitioner", True)  # as start() of the files does
    if "EXPLICIT" in os.environ and hasattr(jax.config, "jax_auto_pcast"):
        jax.config.update("jax_auto_pcast", os.environ["EXPLICIT"] not in path)
    spec = importlib.util.spec_from_file_location("emitted", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    args = Arguments()
    if os.path.exists(path + ".in.npz"):
        args.inputs = path + ".in.npz"
    values = module.inputs(args)
    outputs = [module.gather(y) for y in module.run(values)]
    if os.environ.get("UNSHARDED", "\0") in path and hasattr(module, "per_device"):
        whole = [module.gather(y) for y in jax.jit(module.unsharded)(*values)]
        for i, (got, want) in enumerate(zip(outputs, whole)):
            error, close = module.compare(got, want)
            if not close:
                raise ValueError(f"output {i} differs by {error} from the unsharded function")
    np.savez(path + ".out.npz", **{f"out{i}": module.save(y) for i, y in enumerate(outputs)})


for i, path in enumerate(sys.argv[1:]):
    try:
        run(path)
    except BaseException:
        with open(path + ".error", "w") as f:
            f.write(traceback.format_exc(limit=-4))
    if i % 20 == 19:
        jax.clear_caches()
        gc.collect()
