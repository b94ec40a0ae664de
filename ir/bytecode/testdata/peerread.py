"""Reads programs with files of them, one JSON object a line, from standard input, and writes for each what jaxlib reads
in the files, and what it reads in the artifacts that it writes itself of the program."""

import base64
import io
import json
import sys

from jaxlib.mlir.dialects import stablehlo
from jax._src.lib.mlir import ir

from peer import new_context, text_of

OTHER_SYNTAX = "arith."  # of a dialect whose own syntax is not compared


def judged(read):
    try:
        module = read()
        text = text_of(module)
        if OTHER_SYNTAX in text:
            text = module.operation.get_asm(enable_debug_info=True, print_generic_op_form=True)
        return {"text": text}
    except Exception as error:
        return {"error": str(error)}


def aligned(data):
    """Returns a copy of bytes at a multiple of 64: MLIR refuses files with aligned sections that lie elsewhere, and Python puts bytes anywhere."""
    others = []
    for size in range(1000):
        copy = bytes(bytearray(data))
        if (id(copy) + bytes.__basicsize__ - 1) % 64 == 0:
            return copy
        others += [copy, bytes(size)]
    return data


def own_bytecode(text, version):
    out = io.BytesIO()
    ir.Module.parse(text).operation.write_bytecode(out, desired_version=version)
    return ir.Module.parse(aligned(out.getvalue()))


def own_artifact(context, text, target):
    data = stablehlo.serialize_portable_artifact(ir.Module.parse(text), target, allow_other_dialects=True)
    return stablehlo.deserialize_portable_artifact(context, aligned(data))


def judge(program):
    context = new_context()
    answers = []
    with context:
        for file in program["files"]:
            data, target = aligned(base64.b64decode(file["data"])), file["target"]
            if target:
                answer = judged(lambda: stablehlo.deserialize_portable_artifact(context, data))
                answer["own"] = judged(lambda: own_artifact(context, program["text"], target))
            else:
                answer = judged(lambda: ir.Module.parse(data))
                answer["own"] = judged(lambda: own_bytecode(program["text"], file["version"]))
            answers.append(answer)
    return answers


for line in sys.stdin:
    print(json.dumps(judge(json.loads(line))), flush=True)
