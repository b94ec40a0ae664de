"""Writes peer.safetensors with the safetensors library: pip install safetensors numpy, then python make.py."""

import numpy as np
from safetensors.numpy import save_file

save_file(
    {
        "layer.weight": np.arange(6, dtype=np.float32).reshape(2, 3) / 4,
        "layer.bias": np.array([-1, 0.5], np.float16),
        "steps": np.array(7, np.int64),
        "mask": np.array([True, False, True]),
        "empty": np.zeros((0, 4), np.uint8),
    },
    "peer.safetensors",
    metadata={"format": "np"},
)
