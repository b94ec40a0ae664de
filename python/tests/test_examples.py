"""Every example runs on eight virtual devices, and equals the unsharded run."""

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"
NEEDS = {"flax_nnx": ("flax", "optax"), "equinox_cnn": ("equinox", "optax"), "torch_dtensor": ("torch",)}


@pytest.mark.parametrize("name", sorted(path.stem for path in EXAMPLES.glob("*.py")))
def test_example(name):
    for module in NEEDS.get(name, ()):
        if importlib.util.find_spec(module) is None:
            pytest.skip(f"needs {module}")
    path = EXAMPLES / f"{name}.py"
    assert len(path.read_text().splitlines()) < 60
    done = subprocess.run([sys.executable, path], env={**os.environ, "JAX_PLATFORMS": "cpu"}, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-3000:]
