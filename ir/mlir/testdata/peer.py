"""Reads programs as a JSON list of texts from standard input and writes what MLIR makes of each, as JSON, one a line:
its own printing, the generic form and the form with locations, or the diagnostics with which it is rejected."""

import json
import sys

from jax._src.interpreters import mlir as jax_mlir
from jax._src.lib.mlir import ir
from jaxlib.mlir.dialects import stablehlo


def judge(text):
    context = jax_mlir.make_ir_context()
    context.allow_unregistered_dialects = True
    stablehlo.register_interpreter_dialect(context)
    with context:
        try:
            module = ir.Module.parse(text)
        except Exception as error:
            return {"error": str(error)}
        op = module.operation
        return {
            "pretty": str(module),
            "generic": op.get_asm(print_generic_op_form=True),
            "locations": op.get_asm(enable_debug_info=True),
        }


for program in json.load(sys.stdin):
    print(json.dumps(judge(program)), flush=True)
