"""A program of the contract that backend/jax runs: a matrix product whose inner dimension is cut over eight devices."""

import argparse
import sys

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.experimental import multihost_utils
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

parser = argparse.ArgumentParser()
parser.add_argument("--inputs")
parser.add_argument("--outputs")
parser.add_argument("--no-check", action="store_true")
parser.add_argument("--coordinator")
parser.add_argument("--processes", type=int, default=1)
parser.add_argument("--process", type=int, default=0)
args = parser.parse_args()

if args.coordinator:
    jax.config.update("jax_cpu_collectives_implementation", "gloo")
    jax.distributed.initialize(args.coordinator, args.processes, args.process)
if len(jax.devices()) != 8 or len(jax.local_devices()) * args.processes != 8:
    raise SystemExit(f"8 devices are needed, {len(jax.devices())} are there")

mesh = Mesh(np.array(jax.devices()), ("x",))
specs = (P(None, "x"), P("x", None))


def per_device(a, b):
    return lax.psum(a @ b, "x").astype(jnp.bfloat16), jnp.sum(a, axis=0)


def on_devices(f, **specs):
    if hasattr(jax, "shard_map"):
        return jax.shard_map(f, **specs)
    from jax.experimental.shard_map import shard_map

    return shard_map(f, **specs)


found = np.load(args.inputs)
arrays = [
    jax.make_array_from_callback(x.shape, NamedSharding(mesh, s), lambda i, x=x: x[i])
    for x, s in zip((found["arg0"], found["arg1"]), specs)
]
f = jax.jit(on_devices(per_device, mesh=mesh, in_specs=specs, out_specs=(P(), P("x"))))
outputs = [np.asarray(multihost_utils.process_allgather(y, tiled=True)) for y in f(*arrays)]
if args.process == 0:
    np.savez(args.outputs, out0=outputs[0].astype(np.float32), out1=outputs[1])
sys.exit(0)
