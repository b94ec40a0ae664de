"""Exports programs with shard_maps in them, as people write them, with what JAX makes of their inputs on 8 virtual devices.

usage: python3 export.py    (in this folder; JAX 0.6 or later)
"""
import os
os.environ['XLA_FLAGS'] = '--xla_force_host_platform_device_count=8'
import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()).reshape(4, 2), ('x', 'y'))
rng = np.random.default_rng(7)
a, b = (jnp.asarray(rng.normal(size=s), jnp.float32) for s in ((8, 16), (16, 8)))


def mapped(body, in_specs, out_specs, **options):
    return jax.shard_map(body, mesh=mesh, in_specs=in_specs, out_specs=out_specs, **options)


product = mapped(lambda a, b: jax.lax.psum(a @ b, 'y'), (P('x', 'y'), P('y', None)), P('x', None))
centred = mapped(lambda u: u - jax.lax.pmean(u, 'x'), P('x', 'y'), P('x', 'y'))


def around(a, b):
    """ops before and behind a shard_map"""
    return jnp.sin(product(jnp.cos(a), b * 2)) + 1


def several(a, b):
    """shard_maps of which one is called twice"""
    return centred(product(a, b)) * centred(jnp.ones((8, 8)))


def inscan(a, b):
    """a shard_map in the body of a loop"""
    def body(c, _):
        return jnp.tanh(product(jnp.concatenate([c, c], 1), b)), c.sum()
    return jax.lax.scan(body, a[:, :8], None, length=3)


def branch(a, b):
    """shard_maps in the branches of a conditional"""
    return jax.lax.cond(a[0, 0] > 0, lambda u: centred(u), lambda u: centred(u * 2), product(a, b))


def gradients(a, b):
    """derivatives through a shard_map"""
    return jax.grad(lambda a, b: (product(a, b) ** 2).sum(), argnums=(0, 1))(a, b)


def matmul(a, b):
    """a collective matmul, whose result the check cannot see to be equal everywhere: it is off"""
    def body(a, b):
        i, out = jax.lax.axis_index('x'), jnp.zeros((8, 8))
        for k in range(4):
            out = jax.lax.dynamic_update_slice(out, a @ b, ((i + k) % 4 * 2, 0))
            a = jax.lax.ppermute(a, 'x', [(j, (j - 1) % 4) for j in range(4)])
        return out
    return mapped(body, (P('x', None), P(None, None)), P(None, None), check_vma=False)(a, b)


def groups(a):
    """a sum over parts of an axis, which is there without the check only"""
    body = lambda a: jax.lax.psum(a, 'x', axis_index_groups=[[0, 1], [2, 3]])
    return mapped(body, P('x', 'y'), P('x', 'y'), check_vma=False)(a)


def differ(a):
    """a result that is said to be equal on all devices and is not"""
    return mapped(lambda a: a * 2, P('x', None), P(None, None), check_vma=False)(a)


def nested(a, b):
    """shard_maps over "y" in the body of one over "x", among ops and collectives over "x" """
    def inner(u, w):
        return jax.lax.psum(u @ w, 'y')
    def outer(a, b):
        product = jax.shard_map(inner, in_specs=(P(None, 'y'), P('y', None)), out_specs=P(None, None), axis_names={'y'})
        gather = jax.shard_map(lambda u: jax.lax.all_gather(u, 'y', axis=0, tiled=True), in_specs=P('y', None), out_specs=P(None, None),
                               axis_names={'y'}, check_vma=False)
        return gather(jnp.tanh(product(a * 2, b))) + jax.lax.pmean(product(a, b), 'x')
    return mapped(outer, (P('x', None), P(None, None)), P('x', None), axis_names={'x'}, check_vma=False)(a, b)


for program, inputs in ((around, (a, b)), (several, (a, b)), (inscan, (a, b)), (branch, (a, b)), (gradients, (a, b)), (matmul, (a, b)),
                        (groups, (a,)), (differ, (a,)), (nested, (a, b))):
    jitted, name = jax.jit(program), program.__name__
    with open(name + '.mlir', 'w') as f:
        f.write(jitted.lower(*inputs).as_text())
    np.savez(name + '.in.npz', **{f'arg{i}': np.asarray(x) for i, x in enumerate(inputs)})
    np.savez(name + '.out.npz', **{f'out{i}': np.asarray(x) for i, x in enumerate(jax.tree.leaves(jitted(*inputs)))})
