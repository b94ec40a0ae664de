"""Programs with shard_map as JAX users write them, each about one thing: jax.shard_map under jit, in loops and branches, under derivatives,
of several meshes, with axes that stay automatic. export.py runs and exports them."""
import functools

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

devices = np.array(jax.devices()[:8])
mesh = Mesh(devices.reshape(4, 2), ('x', 'y'))
line = Mesh(devices, ('z',))
cube = Mesh(devices.reshape(2, 2, 2), ('a', 'b', 'c'))
checks = True  # of shard_maps that do not say
PROGRAMS = []


def mapped(body, in_specs, out_specs, mesh=mesh, check=None, **options):
    check = checks if check is None else check
    return jax.shard_map(body, mesh=mesh, in_specs=in_specs, out_specs=out_specs, check_vma=check, **options)


def program(*inputs, tolerance=1e-4, grad=True, checked=True, unchecked=True):
    """Notes a program of inputs such as 'f32[8,16]', whether it has derivatives, and with which checks it is one."""
    def note(f):
        PROGRAMS.append(dict(f=f, name=f.__name__, inputs=inputs, tolerance=tolerance, grad=grad, checked=checked, unchecked=unchecked))
        return f
    return note


# Collectives and specs.

@program('f32[8,16]', 'f32[16,12]')
def product_with_sum(a, b):
    return mapped(lambda a, b: lax.psum(a @ b, 'y'), (P('x', 'y'), P('y', None)), P('x', None))(a, b)


@program('f32[8,16]', 'f32[16,12]')
def product_with_scatter(a, b):
    return mapped(lambda a, b: lax.psum_scatter(a @ b, 'y', scatter_dimension=1, tiled=True), (P('x', 'y'), P('y', None)), P('x', 'y'))(a, b)


@program('f32[8,16]', 'f32[16,12]')
def gathered_weights(a, w):
    body = lambda a, w: jnp.tanh(a @ lax.all_gather(w, 'x', tiled=True))
    return mapped(body, (P('y', None), P('x', None)), P('y', None) if not checks else P(('y', 'x'), None))(a, w)


@program('f32[8,6]')
def stacked_gather(a):
    body = lambda a: lax.all_gather(a, 'x').reshape(4, -1).sum(0, keepdims=True)
    return mapped(body, P('x', 'y'), P('x', 'y'))(a)


@program('f32[2,8,8,4]')
def heads_to_sequence(q):
    def body(q):
        q = lax.all_to_all(q, 'x', split_axis=2, concat_axis=1, tiled=True)
        return lax.all_to_all(jnp.cumsum(q, 1), 'x', split_axis=1, concat_axis=2, tiled=True)
    return mapped(body, P(None, 'x', None, None), P(None, 'x', None, None))(q)


@program('f32[16,6]')
def stencil(u):
    def body(u):
        up = lax.ppermute(u[-1:], 'x', [(i, i + 1) for i in range(3)])
        down = lax.ppermute(u[:1], 'x', [(i + 1, i) for i in range(3)])
        v = jnp.concatenate([up, u, down])
        return v[:-2] - 2 * u + v[2:]
    return mapped(body, P('x', None), P('x', None))(u)


@program('f32[8,16]', grad=False)
def softmax_over_devices(a):
    def body(a):
        e = jnp.exp(a - lax.pmax(a.max(1, keepdims=True), 'y'))
        return e / lax.psum(e.sum(1, keepdims=True), 'y')
    return mapped(body, P('x', 'y'), P('x', 'y'))(a)


@program('f32[8,6]')
def masked_by_place(a):
    def body(a):
        i, j = lax.axis_index('x'), lax.axis_index('y')
        return jnp.where((i + j) % 2 == 0, a, -a) * lax.axis_size('x')
    return mapped(body, P('x', 'y'), P('x', 'y'))(a)


@program('f32[8,8]', 'f32[8]')
def dictionary_of_results(a, b):
    def body(tree):
        return {'sum': lax.psum(tree['a'], ('x', 'y')), 'mean': lax.pmean(tree['b'], 'x'), 'own': tree['a'] * 2}
    specs = {'a': P('x', 'y'), 'b': P('x')}
    return mapped(body, (specs,), {'sum': P(), 'mean': P(), 'own': P('x', 'y')})({'a': a, 'b': b})


@program('f32[16,3]')
def gather_over_two(a):
    body = lambda a: lax.all_gather(a, ('x', 'y'), tiled=True)[::2]
    return mapped(body, P(('x', 'y'), None), P(('x', 'y'), None))(a)


@program('f32[64,3]')
def scatter_over_two(a):
    return mapped(lambda a: lax.psum_scatter(a, ('x', 'y'), tiled=True), P(('x', 'y'), None), P(('x', 'y'), None))(a)


@program('f32[16,3]')
def permute_over_two(a):
    return mapped(lambda a: lax.ppermute(a, ('x', 'y'), [(i, (i + 3) % 8) for i in range(8)]), P(('x', 'y')), P(('x', 'y')))(a)


@program('bf16[8,16]', 'bf16[16,12]', tolerance=4e-2, grad=False)
def sixteen_bits(a, b):
    return mapped(lambda a, b: lax.psum(a @ b, 'y'), (P('x', 'y'), P('y', None)), P('x', None))(a, b)


@program('i32[8,16]', grad=False)
def integers(a):
    def body(a):
        best = lax.pmax(a.max(), ('x', 'y'))
        return lax.psum((a == best).sum(), ('x', 'y')), lax.psum(a // 3 + a % 2, 'x')
    return mapped(body, P('x', 'y'), (P(), P(None, 'y')))(a)


@program('c64[8,8]', grad=False)
def complex_numbers(a):
    body = lambda a: (lax.psum(a * jnp.conj(a[::-1]), 'y'), lax.psum(jnp.abs(a).sum(), ('x', 'y')))
    return mapped(body, P('x', 'y'), (P('x', None), P()))(a)


@program('f32[8,8]', grad=False)
def any_and_all(a):
    def body(a):
        return lax.pmax((a > 1.5).any().astype(jnp.int32), ('x', 'y')) > 0, lax.pmin((a > -9).all().astype(jnp.int32), ('x', 'y')) > 0
    return mapped(body, P('x', 'y'), (P(), P()))(a)


@program('f32[8,6]', 'f32[6,5]', 'f32[8,5]')
def loss(x, w, y):
    body = lambda x, w, y: lax.pmean(((x @ w - y) ** 2).mean(), ('x', 'y'))
    return mapped(body, (P(('x', 'y')), P(), P(('x', 'y'))), P())(x, w, y)


@program('f32[8,6]')
def closed_over(a):
    table, scale = np.arange(6, dtype=np.float32), a.mean()
    return mapped(lambda a: a * table + scale, P('x', None), P('x', None))(a)


@program('f32[4,6]')
def tiled_output(a):
    body = lambda a: a * (1 + lax.axis_index('y'))
    return mapped(body, P('x', None), P('x', 'y'))(a)


@program('f32[8,8]')
def axis_of_one(a):
    small = Mesh(devices.reshape(8, 1), ('x', 'y'))
    return mapped(lambda a: lax.psum(a + lax.pmean(a, 'x'), 'y'), P('x', 'y'), P('x', None), mesh=small)(a)


@program('f32[7,5]')
def sizes_that_do_not_divide(a):
    padded = jnp.pad(a, ((0, 1), (0, 3)))
    out = mapped(lambda a: lax.psum(jnp.sin(a), 'y'), P('x', 'y'), P('x', None))(padded)
    return out[:7].sum(0) * a.mean()


@program('f32[20,6]')
def odd_blocks(a):
    body = lambda a: lax.all_gather(a.sum(0, keepdims=True), 'x', tiled=True)[:3].T @ a[:3]
    return mapped(body, P('x', 'y'), P('x', 'y'))(a)


@program('f32[8,8]', grad=False, checked=False)
def groups_of_devices(a):
    body = lambda a: lax.psum(a, 'x', axis_index_groups=[[0, 3], [1, 2]]) + lax.all_gather(a, 'x', axis_index_groups=[[0, 1], [2, 3]]).sum(0)
    return mapped(body, P('x', 'y'), P('x', 'y'))(a)


# Loops and branches.

@program('f32[8,8]', 'f32[8,8]')
def loop_with_sums(a, w):
    def body(a, w):
        def step(h, _):
            h = jnp.tanh(lax.psum(h @ w, 'y'))
            return lax.dynamic_slice_in_dim(h, lax.axis_index('y') * 4, 4, 1), h.mean()
        h, means = lax.scan(step, a, None, length=3)
        return h, lax.pmean(means, 'x')
    return mapped(body, (P('x', 'y'), P('y', None)), (P('x', 'y'), P()))(a, w)


@program('f32[8,8]', 'f32[3,8,8]')
def layers_in_a_loop(a, ws):
    layer = mapped(lambda h, w: jnp.tanh(lax.psum(h @ w, 'y')), (P('x', 'y'), P('y', None)), P('x', None))
    return lax.scan(lambda h, w: (layer(h, w), h.sum()), a, ws)


@program('f32[8,8]', grad=False)
def while_it_moves(a):
    def body(a):
        def step(s):
            a, _, n = s
            b = (a + lax.ppermute(a, 'x', [(i, (i + 1) % 4) for i in range(4)])) / 2
            return b, lax.pmax(jnp.abs(b - a).max(), ('x', 'y')), n + 1
        start = (a, lax.pmax(jnp.abs(a).max(), ('x', 'y')) + 1, 0)
        a, _, n = lax.while_loop(lambda s: (s[1] > 0.05) & (s[2] < 30), step, start)
        return a, n
    return mapped(body, P('x', 'y'), (P('x', 'y'), P()))(a)


@program('f32[8,8]')
def branch_inside(a):
    def body(a):
        total = lax.psum(a.sum(), ('x', 'y'))
        return lax.cond(total > 0, lambda a: lax.psum(a, 'x') + a, lambda a: a * 2, a)
    return mapped(body, P('x', 'y'), P('x', 'y'))(a)


@program('f32[8,8]')
def branch_outside(a):
    f = mapped(lambda a: a - lax.pmean(a, 'x'), P('x', 'y'), P('x', 'y'))
    return lax.cond(a[0, 0] > 0, f, lambda a: f(a * 2), a)


@program('f32[8,3]', 'f32[3,5]')
def ring_product(a, b):
    def body(a, b):
        i, n = lax.axis_index('x'), 4
        def step(k, s):
            out, a = s
            out = lax.dynamic_update_slice(out, a @ b, ((i + k) % n * 2, 0))
            return out, lax.ppermute(a, 'x', [(j, (j - 1) % n) for j in range(n)])
        zero = jnp.zeros((8, 5))
        if checks:
            zero = lax.pcast(zero, ('x',), to='varying')
        return lax.fori_loop(0, n, step, (zero, a))[0]
    return mapped(body, (P('x', None), P()), P('x', None))(a, b)


@program('f32[8,6]')
def backward_loop(a):
    def body(a):
        def step(c, row):
            c = c * 0.5 + row
            return c, lax.pmean(c, 'y')
        start = jnp.zeros_like(a[0])
        return lax.scan(step, start, a, reverse=True)[1]
    return mapped(body, P('x', 'y'), P('x', None))(a)


@program('f32[8,8]', 'i32[]', grad=False)
def one_of_three(a, k):
    def body(a, k):
        return lax.switch(k % 3, [lambda a: lax.psum(a, 'x') * 0 + a, lambda a: a + 1, lambda a: -a], a)
    return mapped(body, (P('x', 'y'), P()), P('x', 'y'))(a, k)


@program('f32[2,3,8]')
def loop_in_a_loop(a):
    def body(a):
        def outer(c, plane):
            def inner(d, row):
                return d + lax.psum(row * row, 'y').sum(), d
            d, ds = lax.scan(inner, c, plane)
            return d, ds
        return lax.scan(outer, lax.psum(a.sum() * 0, 'y'), a)[1]
    return mapped(body, P(None, None, 'y'), P())(a)


@program('f32[16,5]')
def prefix_sums(a):
    def body(a):
        own = jnp.cumsum(a, 0)
        totals = lax.all_gather(own[-1], 'x')
        before = jnp.where(jnp.arange(4)[:, None] < lax.axis_index('x'), totals, 0).sum(0)
        return own + before
    return mapped(body, P('x', None), P('x', None))(a)


@program('f32[8,8]')
def mapped_rows(a):
    return mapped(lambda a: lax.map(lambda row: lax.psum(row, 'y') * row.sum(), a), P('x', 'y'), P('x', None) if not checks else P('x', 'y'))(a)


# Derivatives.

@program('f32[8,6]', 'f32[6,4]', grad=False)
def gradient_inside(x, w):
    def body(x, w):
        g = jax.grad(lambda w: ((x @ w) ** 2).sum())(w)
        return g if checks else lax.psum(g, ('x', 'y'))
    return mapped(body, (P(('x', 'y')), P()), P())(x, w)


@program('f32[8,6]', 'f32[6,4]', grad=False)
def value_and_gradient(x, w):
    f = mapped(lambda x, w: lax.psum((jnp.sin(x @ w)).sum(), ('x', 'y')), (P(('x', 'y')), P()), P())
    return jax.value_and_grad(f, argnums=(0, 1))(x, w)


@program('f32[8,6]', 'f32[6,4]', grad=False)
def tangents(x, w):
    f = mapped(lambda x, w: lax.psum(x @ w, 'y'), (P('x', 'y'), P('y', None)), P('x', None))
    return jax.jvp(f, (x, w), (jnp.cos(x), w * 2))


@program('f32[8,6]', grad=False)
def own_backward(x):
    @jax.custom_vjp
    def clipped(x):
        return x * x
    clipped.defvjp(lambda x: (x * x, x), lambda x, g: (jnp.clip(g, -1, 1) * x,))
    f = mapped(lambda x: lax.psum(clipped(x).sum(), ('x', 'y')), P('x', 'y'), P())
    return jax.grad(f)(x)


@program('f32[8,6]', grad=False)
def own_forward(x):
    @jax.custom_jvp
    def relu(x):
        return jnp.maximum(x, 0)
    relu.defjvp(lambda p, t: (relu(*p), jnp.where(p[0] > 0, t[0], 0)))
    f = mapped(lambda x: lax.pmean(relu(x) * x, 'x').sum(0, keepdims=True), P('x', 'y'), P(None, 'y'))
    return jax.grad(lambda x: f(x).sum())(x)


@program('f32[8,6]', 'f32[6,6]', grad=False)
def computed_again(x, w):
    layer = jax.checkpoint(lambda x, w: jnp.tanh(lax.psum(x @ w, 'y')))
    f = mapped(lambda x, w: layer(x, w).sum(1), (P('x', 'y'), P('y', None)), P('x'))
    return jax.grad(lambda x, w: f(x, w).sum(), argnums=(0, 1))(x, w)


@program('f32[8,4]', grad=False)
def second_derivatives(x):
    f = mapped(lambda x: lax.psum((jnp.sin(x) * x).sum(), ('x', 'y')), P('x', 'y'), P())
    return jax.grad(lambda x: (jax.grad(f)(x) * jnp.cos(x)).sum())(x)


# Batches.

@program('f32[3,8,6]')
def batch_of_maps(a):
    return jax.vmap(mapped(lambda a: a - lax.pmean(a, 'x'), P('x', 'y'), P('x', 'y')))(a)


@program('f32[3,8,6]', 'f32[3,6,5]')
def batch_inside(a, b):
    body = lambda a, b: jax.vmap(lambda a, b: lax.psum(a @ b, 'y'))(a, b)
    return mapped(body, (P(None, 'x', 'y'), P(None, 'y', None)), P(None, 'x', None))(a, b)


# Axes that stay automatic, nests, several meshes.

@program('f32[8,16]', 'f32[16,8]')
def automatic_axis(a, w):
    def body(a, w):
        h = lax.with_sharding_constraint(jnp.tanh(a @ w), P(None, 'y'))
        return h + lax.pmean(h, 'x')
    return mapped(body, (P('x', None), P()), P('x', None), axis_names={'x'})(a, w)


@program('f32[8,16]', 'f32[16,8]')
def automatic_product(a, w):
    a = lax.with_sharding_constraint(a, NamedSharding(mesh, P('x', 'y')))
    w = lax.with_sharding_constraint(w, NamedSharding(mesh, P('y', None)))
    return mapped(lambda a, w: lax.psum(a.sum(0, keepdims=True) @ w, 'x'), (P('x', None), P()), P(), axis_names={'x'})(a, w)


@program('f32[8,16]', 'f32[16,8]', grad=False)
def one_in_another(a, b):
    def inner(u, w):
        return lax.psum(u @ w, 'y')
    def outer(a, b):
        f = jax.shard_map(inner, in_specs=(P(None, 'y'), P('y', None)), out_specs=P(None, None), axis_names={'y'}, check_vma=checks)
        return jnp.tanh(f(a * 2, b)) + lax.pmean(f(a, b), 'x')
    return mapped(outer, (P('x', None), P(None, None)), P('x', None), axis_names={'x'})(a, b)


@program('bf16[8,8]', tolerance=4e-2, grad=False)
def place_where_an_axis_is_automatic(x):
    def inner(x):
        return x * (1 + lax.axis_index('b')).astype(x.dtype)
    def outer(x):
        f = jax.shard_map(inner, in_specs=P(None, 'b'), out_specs=P(None, 'b'), axis_names={'b'}, check_vma=checks)
        return lax.scan(lambda h, _: (f(h) + (1 + lax.axis_index('a')).astype(h.dtype), h.sum(0)), x, None, length=2)[0]
    return mapped(outer, P('a'), P('a'), mesh=cube, axis_names={'a'})(x)


@program('f32[8,8]', 'f32[8,8]', grad=False)
def three_deep(x, w):
    def third(x, w):
        return lax.psum(x @ w, 'c') * (1 + lax.axis_index('c'))
    def second(x, w):
        y = jax.shard_map(third, in_specs=(P(None, 'c'), P('c', None)), out_specs=P('c'), axis_names={'c'}, check_vma=checks)(x, w)
        return lax.scan(lambda h, _: (jnp.tanh(h[:x.shape[0]] @ y[:8]) + lax.pmean(h, 'b')[:x.shape[0]], h.sum()), x, None, length=2)[0]
    def first(x, w):
        f = jax.shard_map(second, in_specs=(P('b'), P()), out_specs=P('b'), axis_names={'b'}, check_vma=checks)
        return f(x, w) + lax.ppermute(x, 'a', [(0, 1), (1, 0)])
    return mapped(first, (P('a'), P()), P('a'), mesh=cube, axis_names={'a'})(jnp.concatenate([x, x]), w)


@program('f32[8,8]', 'f32[8,8]', grad=False)
def automatic_axis_in_another(x, w):
    def inner(x, w):
        h = lax.with_sharding_constraint(jnp.tanh(x @ w), P(None, 'c'))
        return lax.psum(h @ w.T, 'b')
    def outer(x, w):
        w = lax.with_sharding_constraint(w, P(None, 'c'))
        y = jax.shard_map(inner, in_specs=(P('b'), P()), out_specs=P(), axis_names={'b'}, check_vma=checks)(x, w)
        return jnp.concatenate([y, y]) + lax.with_sharding_constraint(x, P(None, 'c')) * lax.pmean(x, 'a')
    return mapped(outer, (P('a'), P()), P('a'), mesh=cube, axis_names={'a'})(x, w)


@program('f32[8,8]', 'f32[8,8]')
def one_behind_another(a, b):
    f = mapped(lambda a, b: lax.psum(a @ b, 'y'), (P('x', 'y'), P('y', None)), P('x', None))
    g = mapped(lambda c: lax.all_to_all(c, 'x', 1, 0, tiled=True), P('x', None), P(None, 'x'))
    return g(jnp.sin(f(a, b))) + b


@program('f32[8,8]')
def two_meshes(a):
    f = mapped(lambda a: lax.psum(a, 'x'), P('x', 'y'), P(None, 'y'))
    g = mapped(lambda a: a * (1 + lax.axis_index('z')), P('z', None), P('z', None), mesh=line)
    return g(a) + jnp.concatenate([f(a)] * 4)


@program('f32[8,8]')
def called_twice(a):
    f = jax.jit(mapped(lambda a: a * lax.psum(a, 'y').sum(1, keepdims=True), P('x', 'y'), P('x', 'y')))
    return f(f(a))


@program('f32[8,8]')
def devices_in_another_order(a):
    turned = Mesh(devices[::-1].reshape(4, 2), ('x', 'y'))
    body = lambda a: lax.ppermute(a, 'x', [(i, (i + 1) % 4) for i in range(4)]) + lax.axis_index('y')
    return mapped(body, P('x', 'y'), P('x', 'y'), mesh=turned)(a)


# Networks.

@program('f32[8,6]', 'f32[8,4]', 'f32[6,16]', 'f32[16,4]', grad=False)
def fully_sharded_step(x, y, w1, w2):
    def body(x, y, w1, w2):
        def loss(ws):
            w1, w2 = (lax.all_gather(w, ('x', 'y'), axis=a, tiled=True) for w, a in zip(ws, (1, 0)))
            h = jnp.maximum(x @ w1, 0)
            return ((h @ w2 - y) ** 2).sum()
        value, grads = jax.value_and_grad(loss)((w1, w2))
        return lax.psum(value, ('x', 'y')), *(w - 0.1 * g for w, g in zip((w1, w2), grads))
    all = ('x', 'y')
    return mapped(body, (P(all), P(all), P(None, all), P(all)), (P(), P(None, all), P(all)))(x, y, w1, w2)


@program('f32[4,6,16]', 'f32[3,16,4,4]', 'f32[4,4,16]')
def attention_by_heads(x, qkv, out):
    def body(x, qkv, out):
        q, k, v = jnp.einsum('bte,sehd->sbthd', x, qkv)
        scores = jnp.einsum('bthd,bshd->bhts', q, k) / 2
        scores = jnp.where(jnp.tril(jnp.ones((6, 6), bool)), scores, -1e9)
        mixed = jnp.einsum('bhts,bshd->bthd', jax.nn.softmax(scores), v)
        return x + lax.psum(jnp.einsum('bthd,hde->bte', mixed, out), 'y')
    return mapped(body, (P('x'), P(None, None, 'y'), P('y')), P('x'))(x, qkv, out)


@program('f32[32,6]', 'f32[6,4]', 'f32[4,6,6]')
def experts(x, router, w):
    def body(x, router, w):
        gate = jax.nn.softmax(x @ router)
        choice = jax.nn.one_hot(gate.argmax(1), 4)
        sent = jnp.einsum('te,tm->etm', choice, x)
        got = lax.all_to_all(sent, 'x', 0, 0, tiled=True)
        back = lax.all_to_all(jnp.tanh(got @ w[0]), 'x', 0, 0, tiled=True)
        return jnp.einsum('te,etm->tm', choice * gate, back)
    return mapped(body, (P('x'), P(), P('x')), P('x'))(x, router, w)


@program('f32[2,16,4]', 'f32[2,16,4]', 'f32[2,16,4]')
def ring_attention(q, k, v):
    def body(q, k, v):
        n, turn = 4, [(j, (j + 1) % 4) for j in range(4)]
        top = jnp.full_like(q[..., 0], -jnp.inf)
        norm, out = jnp.zeros_like(top), jnp.zeros_like(q)
        for _ in range(n):
            s = jnp.einsum('btd,bsd->bts', q, k)
            new = jnp.maximum(top, s.max(2))
            p, old = jnp.exp(s - new[..., None]), jnp.exp(top - new)
            norm, out, top = norm * old + p.sum(2), out * old[..., None] + jnp.einsum('bts,bsd->btd', p, v), new
            k, v = lax.ppermute(k, 'x', turn), lax.ppermute(v, 'x', turn)
        return out / norm[..., None]
    return mapped(body, (P(None, 'x'),) * 3, P(None, 'x'))(q, k, v)


@program('f32[4,3,5]', 'f32[4,5,5]')
def pipeline(xs, ws):
    def body(xs, ws):
        i = lax.axis_index('x')
        state, out = jnp.zeros_like(xs[0]) + 0 * ws[0, 0], jnp.zeros_like(xs) + 0 * ws[0, 0]
        for t in range(4 + 3):
            state = jnp.tanh(jnp.where(i == 0, xs[min(t, 3)], state) @ ws[0])
            if t >= 3:
                out = out.at[t - 3].set(jnp.where(i == 3, state, 0))
            state = lax.ppermute(state, 'x', [(j, (j + 1) % 4) for j in range(4)])
        return lax.psum(out, 'x')
    return mapped(body, (P(), P('x')), P())(xs, ws)


@program('f32[16,6]', 'f32[16,3]', 'f32[6,3]', 'f32[3]', 'f32[6,3]', 'f32[3]', grad=False)
def momentum_step(x, y, w, b, mw, mb):
    def body(x, y, params, momenta):
        def loss(p):
            return lax.pmean((((x @ p['w'] + p['b']) - y) ** 2).mean(), ('x', 'y'))
        if checks:
            value, g = jax.value_and_grad(loss)(params)
        else:
            value = loss(params)
            g = jax.grad(lambda p: (((x @ p['w'] + p['b']) - y) ** 2).mean())(params)
            g = jax.tree.map(lambda g: lax.pmean(g, ('x', 'y')), g)
        momenta = jax.tree.map(lambda m, g: 0.9 * m + g, momenta, g)
        return value, jax.tree.map(lambda p, m: p - 0.1 * m, params, momenta), momenta
    batch = P(('x', 'y'))
    return mapped(body, (batch, batch, P(), P()), (P(), P(), P()))(x, y, {'w': w, 'b': b}, {'w': mw, 'b': mb})


@program('f32[16,6]', 'i32[8,3]', grad=False)
def vocabulary_in_parts(table, tokens):
    def body(table, tokens):
        local = tokens % 16 - lax.axis_index('x') * 4
        inside = (local >= 0) & (local < 4)
        rows = jnp.where(inside[..., None], table[jnp.clip(local, 0, 3)], 0)
        return lax.psum(rows, 'x')
    return mapped(body, (P('x', None), P('y', None)), P('y', None, None))(table, tokens)


@program('f32[8,16]', 'i32[8]', grad=False)
def cross_entropy(logits, labels):
    def body(logits, labels):
        top = lax.pmax(lax.stop_gradient(logits.max(1)), 'y')
        norm = lax.psum(jnp.exp(logits - top[:, None]).sum(1), 'y')
        local = labels % 16 - lax.axis_index('y') * 8
        own = jnp.where((local >= 0) & (local < 8), jnp.take_along_axis(logits, jnp.clip(local, 0, 7)[:, None], 1)[:, 0], 0)
        return lax.pmean((jnp.log(norm) + top - lax.psum(own, 'y')).mean(), 'x')
    return mapped(body, (P('x', 'y'), P('x')), P())(logits, labels)


@program('f32[8,8]', 'u32[2]', grad=False)
def noise_of_each_device(a, key):
    def body(a, key):
        key = jax.random.fold_in(jax.random.wrap_key_data(key), lax.axis_index('x') * 2 + lax.axis_index('y'))
        return a + jax.random.uniform(key, a.shape)
    return mapped(body, (P('x', 'y'), P()), P('x', 'y'))(a, key)


@program('f32[32]', grad=False)
def best_of_all(a):
    def body(a):
        return lax.top_k(lax.all_gather(lax.top_k(a, 3)[0], 'x', tiled=True), 3)[0][None]
    return mapped(body, P('x'), P('x', None))(a)


@program('f32[2,16,6,3]', 'f32[3,3,3,4]')
def convolution_with_halo(x, w):
    def body(x, w):
        up = lax.ppermute(x[:, -1:], 'x', [(i, i + 1) for i in range(3)])
        down = lax.ppermute(x[:, :1], 'x', [(i + 1, i) for i in range(3)])
        x = jnp.concatenate([up, x, down], 1)
        return lax.conv_general_dilated(x, w, (1, 1), ((0, 0), (1, 1)), dimension_numbers=('NHWC', 'HWIO', 'NHWC'))
    return mapped(body, (P(None, 'x'), P()), P(None, 'x'))(x, w)


@program('f32[8,16]', grad=False)
def spectra(a):
    body = lambda a: lax.psum(jnp.abs(jnp.fft.rfft(a)) ** 2, 'x')
    return mapped(body, P('x', None), P())(a)


@program('f32[16,3]', 'i32[16]', grad=False)
def sums_by_segment(a, ids):
    body = lambda a, ids: lax.psum(jax.ops.segment_sum(a, ids % 5, num_segments=5), 'x')
    return mapped(body, (P('x', None), P('x')), P())(a, ids)


@program('f32[4,8,6]')
def transposed_and_reshaped(a):
    def body(a):
        b = jnp.einsum('abc,adc->bd', a, a).reshape(2, -1).T
        return lax.psum(b, 'y')[None]
    return mapped(body, P('x', None, 'y'), P('x', None, None))(a)
