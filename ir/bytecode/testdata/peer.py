"""Reads programs as a JSON list of texts from standard input and writes, one JSON object a line, the files that MLIR and
StableHLO make of each, with the text that each file means by their own reader."""

import base64
import json
import sys

from jax._src.interpreters import mlir as jax_mlir
from jax._src.lib.mlir import ir
from jaxlib.mlir.dialects import stablehlo

import io


def text_of(module):
    return module.operation.get_asm(enable_debug_info=True)


def new_context():
    context = jax_mlir.make_ir_context()
    context.allow_unregistered_dialects = True
    return context


def files(module, context):
    """Yields the kinds, bytes and meanings of the files of a module."""
    for version in (0, 3, 5, 6):
        out = io.BytesIO()
        module.operation.write_bytecode(out, desired_version=version)
        yield f"bytecode {version}", out.getvalue(), text_of(ir.Module.parse(out.getvalue(), context))
    for target in ("0.9.0", "0.14.0", "1.0.0", "1.9.0", "1.18.0", "1.22.0"):
        try:
            data = stablehlo.serialize_portable_artifact(module, target)
        except Exception:
            continue
        yield f"artifact {target}", data, text_of(stablehlo.deserialize_portable_artifact(context, data))
    try:
        data = stablehlo.serialize_portable_artifact(module, "1.22.0", allow_other_dialects=True)
        yield "mixed artifact", data, text_of(stablehlo.deserialize_portable_artifact(context, data))
    except Exception:
        pass


def judge(text):
    context = new_context()
    with context:
        try:
            module = ir.Module.parse(text)
        except Exception as error:
            return {"error": str(error)}
        return {"files": [
            {"kind": kind, "data": base64.b64encode(data).decode(), "text": text}
            for kind, data, text in files(module, context)
        ]}


if __name__ == "__main__":
    for program in json.load(sys.stdin):
        print(json.dumps(judge(program)), flush=True)
