"""Numerical programs: linear algebra, transforms, sorting, control flow, random numbers, number formats."""
import functools

import jax
import jax.numpy as jnp
from jax import lax
from jax.experimental import checkify  # noqa: F401  (imported to be sure that the version has it)

from common import normal, program, tokens


def spd(seed, *shape):
    a = normal(seed, *shape, shape[-1])
    return a @ a.swapaxes(-1, -2) + shape[-1] * jnp.eye(shape[-1])


@program('gaussian_process', 'Cholesky, triangular solves and the log likelihood with its gradient')
def _():
    def loss(p, x, y):
        k = jnp.exp(-0.5 * jnp.sum((x[:, None] - x[None]) ** 2, -1) / jnp.exp(p['l'])) + jnp.exp(p['n']) * jnp.eye(32)
        l = jnp.linalg.cholesky(k)
        a = jax.scipy.linalg.cho_solve((l, True), y)
        return 0.5 * y @ a + jnp.log(jnp.diag(l)).sum()
    return jax.value_and_grad(loss), ({'l': jnp.float32(0), 'n': jnp.float32(-2)}, normal(1, 32, 4), normal(2, 32))


@program('batched_solve', 'LU factorisation and solves over a batch, and its determinant')
def _():
    return lambda a, b: (jnp.linalg.solve(a, b), jnp.linalg.slogdet(a)), (spd(1, 8, 8), normal(2, 8, 8, 4))


@program('least_squares_qr', 'QR factorisation, batched')
def _():
    def solve(a, b):
        q, r = jnp.linalg.qr(a)
        return lax.linalg.triangular_solve(r, q.swapaxes(-1, -2) @ b, left_side=True)
    return solve, (normal(1, 8, 16, 8), normal(2, 8, 16, 4))


@program('eigh_svd', 'symmetric eigenvalues and singular values, batched')
def _():
    return lambda a, b: (jnp.linalg.eigvalsh(a), jnp.linalg.svd(b, compute_uv=False)), (spd(1, 8, 8), normal(2, 8, 12, 8))


@program('eig', 'eigenvalues of a general matrix', platforms=('cpu',))
def _():
    return lambda a: jnp.sort_complex(jnp.linalg.eigvals(a)), (normal(1, 8, 8),)


@program('spectral_mixing', 'Fourier transforms in two dimensions with learned complex filters')
def _():
    def forward(p, x):
        f = jnp.fft.rfft2(x, axes=(1, 2))
        return jnp.fft.irfft2(f * lax.complex(p['r'], p['i']), s=(16, 16), axes=(1, 2)) + jax.nn.gelu(x @ p['w'])
    params = {'r': normal(1, 16, 9, 8), 'i': normal(2, 16, 9, 8), 'w': normal(3, 8, 8)}
    return forward, (params, normal(4, 8, 16, 16, 8))


@program('sorting', 'sort, argsort, unique-like counts, searchsorted, median, quantiles')
def _():
    def f(x, q):
        order = jnp.argsort(x, axis=-1)
        return jnp.sort(x, -1), order, jnp.searchsorted(jnp.sort(x[0]), q), jnp.median(x, -1), jnp.quantile(x, jnp.array([0.1, 0.9]), axis=-1)
    return f, (normal(1, 8, 32), normal(2, 8))


@program('graph_network', 'message passing by gather and segment sums, with gradients')
def _():
    def forward(p, x, src, dst):
        for w in p:
            x = jax.nn.relu(jax.ops.segment_sum(x[src] @ w, dst, num_segments=32) + x)
        return x

    def step(p, x, src, dst):
        return jax.value_and_grad(lambda p: jnp.mean(forward(p, x, src, dst) ** 2))(p)
    return step, ([normal(1, 16, 16, scale=0.2), normal(2, 16, 16, scale=0.2)], normal(3, 32, 16), tokens(4, 128, vocabulary=32), tokens(5, 128, vocabulary=32))


@program('wave_equation', 'finite differences with shifted slices and padding, in a fori_loop')
def _():
    def f(u, v, c):
        def step(_, s):
            u, v = s
            p = jnp.pad(u, 1)
            lap = p[2:, 1:-1] + p[:-2, 1:-1] + p[1:-1, 2:] + p[1:-1, :-2] - 4 * u
            v = v + 0.1 * c * lap
            return u + 0.1 * v, v
        return lax.fori_loop(0, 8, step, (u, v))
    return f, (normal(1, 32, 32), normal(2, 32, 32), jnp.abs(normal(3, 32, 32)))


@program('ode_rk4', 'a neural differential equation by Runge-Kutta in scan, with gradients')
def _():
    def f(p, y):
        return jnp.tanh(y @ p['w1']) @ p['w2']

    def solve(p, y):
        def step(y, _):
            k1 = f(p, y)
            k2 = f(p, y + 0.05 * k1)
            k3 = f(p, y + 0.05 * k2)
            k4 = f(p, y + 0.1 * k3)
            return y + 0.1 / 6 * (k1 + 2 * k2 + 2 * k3 + k4), y
        return lax.scan(step, y, length=10)
    return jax.value_and_grad(lambda p, y: jnp.mean(solve(p, y)[0] ** 2)), ({'w1': normal(1, 8, 32, scale=0.3), 'w2': normal(2, 32, 8, scale=0.3)}, normal(3, 16, 8))


@program('newton_while', 'Newton iterations until every element has converged')
def _():
    def f(a):
        def more(s):
            x, i = s
            return (jnp.max(jnp.abs(x * x - a)) > 1e-4) & (i < 50)
        return lax.while_loop(more, lambda s: ((s[0] + a / s[0]) / 2, s[1] + 1), (jnp.ones_like(a), 0))
    return f, (jnp.abs(normal(1, 16, 16)) + 1,)


@program('branches', 'cond, switch and select over arrays')
def _():
    def f(i, x, y):
        a = lax.cond(x.sum() > 0, lambda: x @ y, lambda: x - y)
        b = lax.switch(i, [jnp.sin, jnp.cos, lambda v: v * 2], x)
        return a, b, jnp.select([x > 1, x > 0], [x, y], 0)
    return f, (jnp.int32(1), normal(1, 16, 16), normal(2, 16, 16))


@program('custom_gradient', 'custom_vjp, stop_gradient and clipping through a straight-through estimator')
def _():
    @jax.custom_vjp
    def quantise(x):
        return jnp.round(x * 4) / 4
    quantise.defvjp(lambda x: (quantise(x), x), lambda x, g: (jnp.where(jnp.abs(x) < 1, g, 0),))

    def loss(w, x):
        return jnp.mean((quantise(x @ w) - lax.stop_gradient(x[:, :16])) ** 2)
    return jax.value_and_grad(loss), (normal(1, 32, 16, scale=0.2), normal(2, 16, 32))


@program('elementwise', 'special functions: erf, lgamma, digamma, bessel, asinh, expm1, polynomial and complex ones')
def _():
    def f(x, z):
        y = jnp.abs(x) + 0.5
        return [lax.erf(x), lax.erfc(x), lax.erf_inv(jnp.tanh(x)), lax.lgamma(y), lax.digamma(y), lax.bessel_i1e(x), jnp.arcsinh(x), jnp.arccosh(1 + y),
                jnp.sinh(x), jnp.arctan2(x, y), jnp.expm1(x), jnp.log1p(y), lax.cbrt(x), jax.nn.gelu(x, approximate=False), jnp.exp(z), jnp.abs(z), jnp.angle(z),
                jax.scipy.special.zeta(y + 1, y), jax.scipy.special.polygamma(1, y), lax.igamma(y, y), jnp.nextafter(x, y), lax.population_count(tokens(3, 16)), lax.clz(tokens(3, 16))]
    return f, (normal(1, 16, 16), lax.complex(normal(2, 16, 16), normal(3, 16, 16)))


@program('reductions', 'sums, products, extrema, argmax, any, cumulative and windowed ones')
def _():
    def f(x):
        return [x.sum(0), x.prod(1), x.max(), x.argmin(-1), (x > 0).any(0), jnp.cumsum(x, 0), jnp.cumprod(x, 1), lax.cummax(x, 1), jnp.cumlogsumexp(x, 0) if hasattr(jnp, 'cumlogsumexp') else lax.cumlogsumexp(x, 0),
                jax.nn.logsumexp(x, -1), x.std(0), lax.reduce_window(x, -jnp.inf, lax.max, (2, 2), (2, 2), 'SAME'), jnp.linalg.norm(x, axis=1)]
    return f, (normal(1, 16, 16),)


@program('scatter_gather', 'indexed reads and writes of all modes')
def _():
    def f(x, i, u):
        return [x[i], x.at[i].add(u), x.at[i].max(u), x.at[i, :4].set(0.5), x.at[i].multiply(u, mode='drop'), jnp.take(x, i, axis=1, mode='clip'),
                lax.dynamic_slice(x, (i[0], 2), (4, 8)), lax.dynamic_index_in_dim(x, i[1], 1), jnp.take_along_axis(x, jnp.argsort(x, 1), 1), jnp.roll(x, i[0], 0)]
    return f, (normal(1, 16, 16), tokens(2, 8, vocabulary=16), normal(3, 8, 16))


@program('random_numbers', 'uniform, normal, bernoulli, permutation, gamma and splitting of keys')
def _():
    def f(key):
        k = jax.random.split(key, 6)
        return [jax.random.uniform(k[0], (16,)), jax.random.normal(k[1], (16, 4)), jax.random.bernoulli(k[2], 0.3, (16,)), jax.random.permutation(k[3], 16),
                jax.random.gamma(k[4], 2.0, (8,)), jax.random.randint(k[5], (16,), 0, 10), jax.random.fold_in(key, 7)]
    return f, (jax.random.PRNGKey(3),)


@program('random_rbg', 'bits of the rbg generator', platforms=('cpu', 'tpu'))
def _():
    return lambda key: jax.random.normal(jax.random.wrap_key_data(key, impl='rbg'), (16, 8)), (jnp.arange(4, dtype=jnp.uint32),)


@program('x64_statistics', 'double precision and 64-bit indices', x64=True)
def _():
    def f(x, i):
        c = jnp.cov(x)
        return jnp.linalg.inv(c), jnp.sum(x, dtype=jnp.float64), x[:, i], jnp.cumsum(i)
    return f, (normal(1, 8, 32, dtype=jnp.float64), jnp.arange(0, 32, 2, dtype=jnp.int64))


@program('convolutions', 'dilated, grouped, transposed and depthwise convolutions with their gradients')
def _():
    def forward(p, x):
        conv = functools.partial(lax.conv_general_dilated, dimension_numbers=('NHWC', 'HWIO', 'NHWC'))
        a = conv(x, p['d'], (1, 1), 'SAME', rhs_dilation=(2, 2))
        b = conv(a, p['g'], (2, 2), 'VALID', feature_group_count=4)
        c = lax.conv_transpose(b, p['t'], (2, 2), 'SAME')
        return conv(c, p['w'], (1, 1), ((1, 2), (0, 1)), feature_group_count=8)

    def step(p, x):
        return jax.value_and_grad(lambda p: jnp.mean(forward(p, x) ** 2))(p)
    params = {'d': normal(1, 3, 3, 4, 8), 'g': normal(2, 3, 3, 2, 8), 't': normal(3, 3, 3, 8, 8), 'w': normal(4, 2, 2, 1, 16)}
    return step, (params, normal(5, 4, 12, 12, 4))


@program('unet', 'a level of a diffusion U-Net: resize, concatenate, time embedding, group norm')
def _():
    conv = lambda x, w, s=1: lax.conv_general_dilated(x, w, (s, s), 'SAME', dimension_numbers=('NHWC', 'HWIO', 'NHWC'))

    def norm(x):
        g = x.reshape(*x.shape[:3], 4, -1)
        return ((g - g.mean((1, 2, 4), keepdims=True)) * lax.rsqrt(g.var((1, 2, 4), keepdims=True) + 1e-5)).reshape(x.shape)

    def forward(p, x, t):
        e = jnp.concatenate([jnp.sin(t[:, None] * jnp.arange(1, 9)), jnp.cos(t[:, None] * jnp.arange(1, 9))], -1) @ p['t']
        h = jax.nn.silu(norm(conv(x, p['in']) + e[:, None, None]))
        d = jax.nn.silu(norm(conv(h, p['down'], 2)))
        u = jax.image.resize(d, (d.shape[0], 8, 8, 16), 'nearest')
        return conv(jnp.concatenate([u, h], -1), p['out'])

    def step(p, x, t, noise):
        return jax.value_and_grad(lambda p: jnp.mean((forward(p, x, t) - noise) ** 2))(p)
    params = {'in': normal(1, 3, 3, 4, 16, scale=0.2), 'down': normal(2, 3, 3, 16, 16, scale=0.1), 'out': normal(3, 3, 3, 32, 4, scale=0.1), 't': normal(4, 16, 16)}
    return step, (params, normal(5, 8, 8, 8, 4), jnp.linspace(0, 1, 8), normal(6, 8, 8, 8, 4))


@program('kalman_filter', 'a Kalman filter over time with small matrix inverses')
def _():
    def f(a, h, ys):
        def step(s, y):
            m, p = s
            m, p = a @ m, a @ p @ a.T + 0.1 * jnp.eye(4)
            k = p @ h.T @ jnp.linalg.inv(h @ p @ h.T + 0.1 * jnp.eye(2))
            m = m + k @ (y - h @ m)
            return (m, (jnp.eye(4) - k @ h) @ p), m
        return jax.vmap(lambda y: lax.scan(step, (jnp.zeros(4), jnp.eye(4)), y)[1])(ys)
    return f, (normal(1, 4, 4, scale=0.3), normal(2, 2, 4), normal(3, 8, 10, 2))


@program('callbacks', 'a debug print and a pure callback beside ordinary ops', platforms=('cpu',), forms=('text', 'debug'))
def _():
    import numpy as np

    def f(x):
        jax.debug.print('sum {s}', s=x.sum())
        y = jax.pure_callback(lambda a: np.sin(a), jax.ShapeDtypeStruct(x.shape, x.dtype), x)
        return x * 2 + y
    return f, (normal(1, 8, 4),)


@program('approximate_top_k', 'approximate maxima, and composites of lax')
def _():
    @functools.partial(lax.composite, name='example.scaled_norm')
    def scaled_norm(x, *, epsilon):
        return x * lax.rsqrt(jnp.mean(x * x, -1, keepdims=True) + epsilon)

    def f(x):
        return lax.approx_max_k(x, 4), scaled_norm(x, epsilon=1e-6), lax.top_k(x, 3)
    return f, (normal(1, 16, 64),)


@program('dropped_arguments', 'arguments that the program does not read, dictionaries, tuples and None')
def _():
    def f(config, x, *, extra):
        return {'y': x @ config['w'], 'more': (extra['b'] + 1, None)}
    return lambda config, x, extra: f(config, x, extra=extra), ({'w': normal(1, 16, 16), 'unused': normal(2, 4), 'list': [normal(3, 2), None]}, normal(4, 8, 16), {'b': normal(5, 8), 'c': jnp.float32(1)})


@program('symbolic', 'a dimension that is a symbol in the exported forms', forms=('text', 'debug', 'export', 'artifact'), platforms=('cpu',))
def _():
    def f(w, x):
        return jax.nn.softmax(x @ w).reshape(-1, 4), x.shape[0] * jnp.ones(3)
    return f, (normal(1, 16, 8), normal(2, 8, 16)), {'symbols': ('_, _', 'b, _')}
