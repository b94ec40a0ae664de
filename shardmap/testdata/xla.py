"""Runs partitioned programs on virtual CPU devices of XLA, 8 at most, and compares the blocks of every device.

usage: xla.py ORACLE FOLDER [TOLERANCE]: for each NAME.mlir of the folder, NAME.in.npz and NAME.out.npz hold arg0, arg1, ... and out0,
out1, ... with the blocks of all devices stacked along a new first dimension. Prints a line for each program that XLA refuses or computes
otherwise, and at last the number of those that are equal. ORACLE is the folder of the script that compiles.
"""

import pathlib
import sys

import numpy as np

oracle, folder = sys.argv[1:3]
tolerance = float(sys.argv[3]) if len(sys.argv) > 3 else 1e-5
sys.path.insert(0, oracle)
import xla  # noqa: E402


def difference(path):
    """the largest difference of an output relative to its largest element, or to 1, which inputs are about: what is left of sums that cancel
    is as far off as their terms; infinite where NaNs or shapes differ"""
    given, wanted = np.load(path.with_suffix(".in.npz")), np.load(path.with_suffix(".out.npz"))
    devices = wanted["out0"].shape[0]
    executable = xla.compile_module(path.read_text(), devices, partitioned=True)
    outputs = xla.execute(executable, [given[f"arg{i}"] for i in range(len(given.files))])
    worst = 0.0
    for i, got in enumerate(outputs):
        want = wanted[f"out{i}"].astype("float64")
        got = got.astype("float64")
        if want.shape != got.shape or not np.array_equal(np.isnan(want), np.isnan(got)):
            return np.inf
        with np.errstate(invalid="ignore"):
            apart = np.where(want == got, 0, np.abs(want - got))
        worst = max(worst, np.nanmax(apart, initial=0) / max(np.nanmax(np.abs(want), initial=0), 1))
    return worst


equal = 0
for path in sorted(pathlib.Path(folder).glob("*.mlir")):
    try:
        worst = difference(path)
    except Exception as e:  # XLA's refusals have many classes
        print(path.stem, "is refused:", str(e)[:2000])
        continue
    if worst > tolerance:
        print(path.stem, "differs by", worst)
    else:
        equal += 1
print(equal)
