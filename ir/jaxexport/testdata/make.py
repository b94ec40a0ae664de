"""Makes step.jaxexport, a training step with a derivative, trees, shardings and an unused argument, and symbolic.jaxexport:
`python make.py`, with jax 0.12."""

import os
import pathlib

os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=4"

import jax
import jax.numpy as jnp
from jax.sharding import NamedSharding, PartitionSpec as P

here = pathlib.Path(__file__).parent
mesh = jax.make_mesh((2, 2), ("data", "model"))


def spec(shape, *axes):
    return jax.ShapeDtypeStruct(shape, jnp.float32, sharding=NamedSharding(mesh, P(*axes)))


def step(params, unused, x, *, scale):
    y = x @ params["layers"][0]["w"] + params["layers"][0]["b"]
    return {"loss": jnp.sum(y) * scale, "y": (y, None)}


params = {"layers": [{"w": spec((8, 4), None, "model"), "b": spec((4,), "model")}]}
exported = jax.export.export(jax.jit(step))(
    params, jax.ShapeDtypeStruct((3,), jnp.int32), spec((2, 8), "data"), scale=jax.ShapeDtypeStruct((), jnp.float32))
(here / "step.jaxexport").write_bytes(exported.serialize(vjp_order=1))
b = jax.export.symbolic_shape("b")[0]
exported = jax.export.export(jax.jit(lambda x, y: y * 2))(
    jax.ShapeDtypeStruct((b, 4), jnp.float32), jax.ShapeDtypeStruct((b,), jnp.float32))
(here / "symbolic.jaxexport").write_bytes(exported.serialize())
