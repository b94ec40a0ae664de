"""Calls exports: reads a JSON list of (export, inputs, expected outputs) from standard input, the arrays as paths of .npz
files, and prints for each the largest difference relative to the largest magnitude of an output, one a line."""

import base64
import json
import os
import sys

os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=8"

import jax
import numpy as np
from jax import export
from jax.sharding import NamedSharding, PartitionSpec


def difference(call):
    exported = export.deserialize(bytearray(base64.b64decode(call["data"])))
    inputs, expected = np.load(call["inputs"]), np.load(call["expected"])
    args = [inputs[f"arg{i}"].astype(a.dtype) for i, a in enumerate(exported.in_avals)]
    if exported.nr_devices > 1:
        everywhere = NamedSharding(jax.make_mesh((exported.nr_devices,), ("devices",)), PartitionSpec())
        args = [jax.device_put(a, everywhere) for a in args]
    worst = 0.0
    for i, got in enumerate(jax.tree.leaves(jax.jit(exported.call)(*args))):
        want = expected[f"out{i}"].astype(np.float64)
        scale = max(1e-30, float(np.max(np.abs(want))))
        worst = max(worst, float(np.max(np.abs(np.asarray(got, dtype=np.float64) - want))) / scale)
    return worst


for call in json.load(sys.stdin):
    print(difference(call), flush=True)
