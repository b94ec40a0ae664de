"""Writes golden.txt: hashes of all values, roundings and MLIR texts of the float formats.

Run with a Python that has jax: python golden.py > golden.txt
"""
import hashlib
import warnings

import ml_dtypes
import numpy as np
from jaxlib.mlir import ir

warnings.simplefilter("ignore")
FORMATS = {
    "f4E2M1FN": (ml_dtypes.float4_e2m1fn, 4), "f6E2M3FN": (ml_dtypes.float6_e2m3fn, 6), "f6E3M2FN": (ml_dtypes.float6_e3m2fn, 6),
    "f8E3M4": (ml_dtypes.float8_e3m4, 8), "f8E4M3": (ml_dtypes.float8_e4m3, 8), "f8E4M3B11FNUZ": (ml_dtypes.float8_e4m3b11fnuz, 8),
    "f8E4M3FN": (ml_dtypes.float8_e4m3fn, 8), "f8E4M3FNUZ": (ml_dtypes.float8_e4m3fnuz, 8), "f8E5M2": (ml_dtypes.float8_e5m2, 8),
    "f8E5M2FNUZ": (ml_dtypes.float8_e5m2fnuz, 8), "f8E8M0FNU": (ml_dtypes.float8_e8m0fnu, 8), "bf16": (ml_dtypes.bfloat16, 16),
    "f16": (np.float16, 16),
}


def sha(data):
    return hashlib.sha256(data).hexdigest()[:16]


def codes(dtype, bits):
    raw = np.arange(1 << bits, dtype=np.uint8 if bits <= 8 else np.uint16)
    return raw, raw.view(dtype)


def decoded(dtype, bits):
    values = codes(dtype, bits)[1].astype(np.float64)
    values[np.isnan(values)] = np.nan
    return values.astype("<f8").tobytes()


def inputs():
    high = np.arange(1 << 20, dtype=np.uint32)[:, None] << 12
    return (high | np.array([0, 1, 0x800, 0xFFF], np.uint32)).reshape(-1).view(np.float32)


def encoded(dtype, bits):
    x = inputs()
    x = x[~np.isnan(x)]
    if dtype == ml_dtypes.float8_e8m0fnu:  # ml_dtypes rounds 1.25 * 2^-127, a subnormal f32, up
        x = x[np.abs(x) >= np.finfo(np.float32).tiny]
    return x.astype(dtype).view(np.uint8 if bits <= 8 else np.uint16).tobytes()


def texts(name, dtype, bits):
    out = []
    with ir.Context():
        element = ir.Type.parse(name)
        for start in range(0, 1 << bits, 64):
            part = codes(dtype, bits)[0][start:start + 64].tolist()
            literal = ", ".join(hex(c) for c in part)
            text = str(ir.Attribute.parse(f"dense<[{literal}]> : tensor<{len(part)}x{element}>"))
            out.append(text[len("dense<["):text.index("]")].replace(", ", "\n") + "\n")
    return "".join(out).encode()


if __name__ == "__main__":
    for name, (dtype, bits) in FORMATS.items():
        print(name, sha(decoded(dtype, bits)), sha(encoded(dtype, bits)), sha(texts(name, dtype, bits)))
