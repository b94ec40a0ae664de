"""Export the programs of this folder: jax.export with symbolic shapes or several platforms, with what JAX computes.

usage: export.py FOLDER        (JAX 0.12; the text is printed without locations by `autoshard opt`)
"""
import sys

import jax
import jax.export as export
import jax.numpy as jnp
import numpy as np
from jax import lax

S = jax.ShapeDtypeStruct
f32, i32 = jnp.float32, jnp.int32
b, n = export.symbolic_shape('b, n')
h, = export.symbolic_shape('h', constraints=['mod(h, 4) == 0', 'h >= 8'])


def attention(q, k, v):
    n = q.shape[1]
    mask = jnp.tril(jnp.ones((n, n))) > 0
    scores = jnp.where(mask, jnp.einsum('bqhd,bkhd->bhqk', q, k), -1e9)
    return jnp.einsum('bhqk,bkhd->bqhd', jax.nn.softmax(scores), v)


def train(w, x):
    loss = lambda w: jnp.mean(jax.nn.gelu(x @ w, approximate=False) ** 2)
    value, grad = jax.value_and_grad(loss)(w)
    return w - 0.1 * grad, value


def shapes(x, u, v):
    # dimensions that are expressions: u is (n+1, 2*b), v is (b*n, floordiv(b, 2))
    return x.sum() + u.sum() + v.sum(), jnp.tile(x, (2, 1)), jnp.repeat(x, 3, 1), x[::-1, 1:], jnp.roll(x, 1, 0), x.reshape(-1)


def windows(x, w):
    y = lax.conv_general_dilated(x, w, (2, 2), 'SAME', dimension_numbers=('NHWC', 'HWIO', 'NHWC'))
    return lax.reduce_window(y, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), 'SAME'), jnp.cumsum(x, 1)


def loops(x, i):
    carry, rows = lax.scan(lambda c, r: (c + r, c * r), jnp.zeros(x.shape[1]), x)
    total = lax.fori_loop(0, x.shape[0], lambda k, c: c + x[k], jnp.zeros(x.shape[1]))
    return carry, rows, total, x.at[i].add(1.), jnp.sort(x, 0), jnp.argmax(x, 1), lax.cond(total[0] > 0, jnp.negative, jnp.tanh, x)


PROGRAMS = {
    'attention': (attention, [S((b, n, 4, 8), f32)] * 3, dict(b=2, n=8), None),
    'train': (train, [S((8, 6), f32), S((b, 8), f32)], dict(b=16), None),
    'shapes': (shapes, [S((b, n), f32), S((n + 1, 2 * b), f32), S((b * n, b // 2), f32)], dict(b=6, n=4), None),
    'half': (lambda x: (x.reshape(-1, 2, 3), jnp.arange(x.shape[0] // 2)), [S((2 * b, 3), f32)], dict(b=8), None),
    'windows': (windows, [S((b, n, n, 3), f32), S((3, 3, 3, 4), f32)], dict(b=4, n=7), None),
    'loops': (loops, [S((b, n), f32), S((3,), i32)], dict(b=4, n=6), None),
    'random': (lambda x, k: x + jax.random.normal(k, x.shape), [S((b, n), f32), S((2,), jnp.uint32)], dict(b=4, n=6), None),
    'constraints': (lambda x: (x.reshape(h // 4, 4, 3), lax.dynamic_slice_in_dim(x, 1, h - 2)), [S((h, 3), f32)], dict(h=12), None),
    'platforms': (lambda x: (jnp.cumsum(x, 0), lax.platform_dependent(x, cpu=jnp.sin, cuda=jnp.cos)), [S((8, 4), f32)], {}, ['cuda', 'cpu']),
    'both': (lambda x: jnp.cumsum(x, 0) / x.shape[0], [S((b, 4), f32)], dict(b=8), ['cpu', 'tpu']),
}


def concrete(spec, sizes, rng):
    shape = [d if isinstance(d, int) else d._evaluate(sizes) for d in spec.shape]
    if spec.dtype == i32:
        return rng.integers(0, 3, shape).astype(np.int32)
    if spec.dtype == jnp.uint32:
        return rng.integers(0, 1 << 32, shape, dtype=np.uint32)
    return rng.uniform(-1, 1, shape).astype(np.float32)


for name, (f, specs, sizes, platforms) in PROGRAMS.items():
    rng = np.random.default_rng(0)
    exported = export.export(jax.jit(f), **({'platforms': platforms} if platforms else {}))(*specs)
    args = [concrete(s, sizes, rng) for s in specs]
    outs = jax.tree.leaves(exported.call(*args))
    with open(f'{sys.argv[1]}/{name}.mlir', 'w') as out:
        out.write(exported.mlir_module())
    np.savez(f'{sys.argv[1]}/{name}.in.npz', **{f'arg{i}': a for i, a in enumerate(args)})
    np.savez(f'{sys.argv[1]}/{name}.out.npz', **{f'out{i}': np.asarray(a) for i, a in enumerate(outs)})
