"""Runs programs given as JSON with jax.shard_map and prints, one line each, results and types of all values, or the error.

A program is {mesh: [[name, size]], inputs: [{spec: [axes], data: [...]}], steps: [{op, in, axes, ...}],
outputs: [{value, spec}]}. Every value is an f32[4] block; value k is input k or the result of step k - len(inputs).
With vjp set also the derivatives by all inputs, for cotangents (7k mod 5) - 2; with unchecked set there are no types.
"""
import json
import os
import sys

os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=8"
os.environ["JAX_PLATFORMS"] = "cpu"
import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.sharding import Mesh, PartitionSpec as P


def varying(x):
    aval = jax.typeof(x)
    if hasattr(aval, "vma"):
        return sorted(aval.vma)
    return sorted(aval.manual_axis_type.varying)


def step(s, env, sizes):
    op, axes = s["op"], tuple(s.get("axes") or ())
    x = [env[i] for i in s.get("in") or ()]
    n = int(np.prod([sizes[a] for a in axes])) if axes else 1
    if op == "const":
        return jnp.full((4,), s["value"], jnp.float32)
    if op == "add":
        return x[0] + x[1]
    if op == "mul":
        return x[0] * x[1]
    if op == "max":
        return jnp.maximum(x[0], x[1])
    if op == "tanh":
        return jnp.tanh(x[0])
    if op == "softplus":
        return jnp.log(jnp.exp(x[0] / 8) + 1)
    if op == "div":
        return x[0] / (x[1] * x[1] + 1)
    if op == "neg":
        return -x[0]
    if op == "where":
        return jnp.where(x[0] > 0, x[1], x[2])
    if op == "flip":
        return x[0][::-1]
    if op == "scale":
        return x[0] * jnp.sum(x[1])
    if op in ("psum", "pmax", "pmin", "pmean"):
        return getattr(lax, op)(x[0], axes)
    if op == "all_gather":
        return lax.all_gather(x[0], axes, axis=0, tiled=True)[min(2, 4 * n - 4):][:4]
    if op == "all_gather_invariant":
        return lax.all_gather(x[0], axes, axis=0, tiled=True, to="invarying")[min(2, 4 * n - 4):][:4]
    if op == "psum_scatter":
        return jnp.tile(lax.psum_scatter(x[0], axes, scatter_dimension=0, tiled=True), n)
    if op == "all_to_all":
        return lax.all_to_all(x[0], axes, 0, 0, tiled=True)
    if op == "ppermute":
        return lax.ppermute(x[0], axes, [tuple(p) for p in s["perm"]])
    if op == "axis_index":
        return x[0] + lax.axis_index(axes).astype(jnp.float32)
    if op == "cast":
        return lax.pcast(x[0], axes, to="varying")
    if op == "scan":
        def body(c, row):
            return (c[1] + x[2], c[0]), c[0] * row
        (a, b), ys = lax.scan(body, (x[0], x[1]), x[3].reshape(4, 1), reverse=s["reverse"])
        return a + b + ys[:, 0]
    if op == "cond":
        return lax.cond(jnp.sum(x[0]) > 0, lambda: x[1] + 1, lambda: x[2])
    if op == "while":
        def test(c):
            return c[0] < 3
        return lax.while_loop(test, lambda c: (c[0] + 1, c[1] + x[1]), (0, x[0]))[1]
    raise ValueError(op)


def run(p):
    names, sizes = [a for a, _ in p["mesh"]], dict(map(tuple, p["mesh"]))
    count = int(np.prod(list(sizes.values())))
    mesh = Mesh(np.array(jax.devices()[:count]).reshape(list(sizes.values())), names)
    types = []

    def f(*args):
        env = list(args)
        for s in p["steps"]:
            env.append(step(s, env, sizes))
        if not p.get("unchecked"):
            types[:] = [varying(v) for v in env]
        return tuple(env[o["value"]] for o in p["outputs"])

    def spec(axes):
        return P(tuple(axes)) if axes else P()

    g = jax.jit(jax.shard_map(f, mesh=mesh, check_vma=not p.get("unchecked", False), in_specs=tuple(spec(i["spec"]) for i in p["inputs"]),
                              out_specs=tuple(spec(o["spec"]) for o in p["outputs"])))
    args = [np.array(i["data"], np.float32) for i in p["inputs"]]
    if p.get("vjp"):
        out, pull = jax.vjp(g, *args)
        grads = pull(tuple(jnp.asarray(np.arange(o.size) * 7 % 5 - 2, jnp.float32) for o in out))
        return {"results": [np.asarray(o).tolist() for o in out], "grads": [np.asarray(o).tolist() for o in grads]}
    out = g(*args)
    return {"types": types, "results": [np.asarray(o).tolist() for o in out]}


for line in sys.stdin:
    try:
        answer = run(json.loads(line))
    except Exception as e:
        answer = {"error": (str(e) or type(e).__name__).strip().split("\n")[0]}
    print(json.dumps(answer), flush=True)
