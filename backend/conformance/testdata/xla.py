"""Runs programs of whole tensors on eight virtual CPU devices of XLA, which partitions them with Shardy.

usage: xla.py ORACLE FOLDER: for each NAME.mlir of the folder, NAME.in.npz has arg0, arg1, ...; NAME.out.npz gets out0, out1, ... What XLA
refuses is printed. ORACLE is the folder of the script that compiles.
"""

import os
import pathlib
import sys

import numpy as np

os.environ["XLA_FLAGS"] = "--xla_backend_optimization_level=0 --xla_llvm_disable_expensive_passes=true"  # each runs once: compile fast
oracle, folder = sys.argv[1:]
sys.path.insert(0, oracle)
import xla  # noqa: E402


def saved(array):
    """An array in a type that files hold."""
    if array.dtype.isbuiltin == 1:
        return array
    return array.astype(np.float32) if array.dtype.kind in "fV" else array.astype(np.int8)


for path in sorted(pathlib.Path(folder).glob("*.mlir")):
    try:
        executable = xla.compile_module(path.read_text(), 8)
        given = np.load(path.with_suffix(".in.npz"))
        outputs = xla.execute(executable, [given[f"arg{i}"] for i in range(len(given.files))])
        np.savez(path.with_suffix(".out.npz"), **{f"out{i}": saved(y) for i, y in enumerate(outputs)})
    except Exception as e:  # XLA's refusals have many classes
        print(path.stem, "is refused:", str(e)[:2000])
