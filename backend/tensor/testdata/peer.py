"""Runs StableHLO programs on XLA for CPU.

Reads one JSON object per line, {"text": module, "args": [{"dtype", "shape", "data"}]} with base64 little-endian data, and answers each with
{"results": [...]} in the same form, or {"error": message}.
"""
import base64
import json
import os
import sys

os.environ["JAX_PLATFORMS"] = "cpu"
import jax
import ml_dtypes
import numpy as np

jax.config.update("jax_enable_x64", True)
from jax._src import compiler
from jax._src.interpreters import mlir as jax_mlir
from jax._src.lib import xla_client
from jaxlib.mlir import ir

DTYPES = {
    "i1": np.bool_, "i2": ml_dtypes.int2, "i4": ml_dtypes.int4, "i8": np.int8, "i16": np.int16, "i32": np.int32, "i64": np.int64,
    "ui2": ml_dtypes.uint2, "ui4": ml_dtypes.uint4, "ui8": np.uint8, "ui16": np.uint16, "ui32": np.uint32, "ui64": np.uint64,
    "f4E2M1FN": ml_dtypes.float4_e2m1fn, "f8E3M4": ml_dtypes.float8_e3m4, "f8E4M3": ml_dtypes.float8_e4m3,
    "f8E4M3B11FNUZ": ml_dtypes.float8_e4m3b11fnuz, "f8E4M3FN": ml_dtypes.float8_e4m3fn, "f8E4M3FNUZ": ml_dtypes.float8_e4m3fnuz,
    "f8E5M2": ml_dtypes.float8_e5m2, "f8E5M2FNUZ": ml_dtypes.float8_e5m2fnuz, "f8E8M0FNU": ml_dtypes.float8_e8m0fnu,
    "bf16": ml_dtypes.bfloat16, "f16": np.float16, "f32": np.float32, "f64": np.float64,
    "complex<f32>": np.complex64, "complex<f64>": np.complex128,
}
NAMES = {np.dtype(v): k for k, v in DTYPES.items()}


def run(text, args):
    with jax_mlir.make_ir_context(), ir.Location.unknown():
        module = ir.Module.parse(text)
        options = compiler.get_compile_options(num_replicas=1, num_partitions=1)
        devices = jax.devices()[:1]
        exe = compiler.backend_compile_and_load(devices[0].client, module, xla_client.DeviceList(tuple(devices)), options, [])
        out = exe.execute_sharded([jax.device_put(a) for a in args]).disassemble_into_single_device_arrays()
        return [np.asarray(o[0]) for o in out]


def answer(request):
    args = [
        np.frombuffer(base64.b64decode(a["data"]), DTYPES[a["dtype"]]).reshape(a["shape"]) for a in request["args"]
    ]
    return [
        {"dtype": NAMES[r.dtype], "shape": list(r.shape), "data": base64.b64encode(np.ascontiguousarray(r).tobytes()).decode()}
        for r in run(request["text"], args)
    ]


if __name__ == "__main__":
    for line in sys.stdin:
        try:
            reply = {"results": answer(json.loads(line))}
        except Exception as error:
            reply = {"error": str(error).splitlines()[0] if str(error) else repr(error)}
        print(json.dumps(reply), flush=True)
