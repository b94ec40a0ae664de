"""Makes the files of this folder from the programs in it: `python make.py`, with jax 0.12."""

import io
import pathlib

from jax._src.interpreters import mlir as jax_mlir
from jax._src.lib.mlir import ir
from jaxlib.mlir.dialects import stablehlo

here = pathlib.Path(__file__).parent


def parsed(name):
    context = jax_mlir.make_ir_context()
    context.allow_unregistered_dialects = True
    return ir.Module.parse((here / f"{name}.mlir").read_text(), context)


for version in (0, 6):
    out = io.BytesIO()
    parsed("attributes").operation.write_bytecode(out, desired_version=version)
    (here / f"attributes.bc{version}.mlirbc").write_bytes(out.getvalue())
for target in ("0.9.0", "1.18.0"):
    data = stablehlo.serialize_portable_artifact(parsed("ops"), target)
    (here / f"ops.vhlo{target}.mlirbc").write_bytes(data)
data = stablehlo.serialize_portable_artifact(parsed("mixed"), "1.22.0", allow_other_dialects=True)
(here / "mixed.vhlo1.22.0.mlirbc").write_bytes(data)
