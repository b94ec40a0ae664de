"""Runs programs by the reference evaluator of StableHLO in jaxlib.

usage: evaluator.py FOLDER: for each NAME.mlir of the folder, NAME.in.npz has arg0, arg1, ...; NAME.out.npz gets out0, out1, ... What the
evaluator refuses is printed.
"""

import pathlib
import sys

import numpy as np
from jax._src.interpreters import mlir
from jax._src.lib.mlir import ir
from jaxlib.mlir.dialects import stablehlo

for path in sorted(pathlib.Path(sys.argv[1]).glob("*.mlir")):
    given = np.load(path.with_suffix(".in.npz"))
    with mlir.make_ir_context():
        try:
            module = ir.Module.parse(path.read_text())
            arguments = [ir.DenseElementsAttr.get(given[f"arg{i}"]) for i in range(len(given.files))]
            outputs = stablehlo.eval_module(module, arguments)
        except Exception as e:  # refusals have many classes
            print(path.stem, "is refused:", str(e)[:2000])
            continue
        np.savez(path.with_suffix(".out.npz"), **{f"out{i}": np.array(y) for i, y in enumerate(outputs)})
