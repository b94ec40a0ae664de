"""Programs of linear algebra, callbacks and other custom calls, lowered for cpu, cuda and tpu, with JAX's results on cpu.

    python export.py [NAME...]

writes NAME.PLATFORM.mlir.gz, NAME.in.npz and NAME.out.npz beside itself. Batches of matrices are cut along axis x of the
mesh x=2, y=2. Where a factorization leaves signs, phases or
the order of values open, a program returns what they do not change, such as the product of the factors.
"""

import gzip
import os
import sys

os.environ["JAX_PLATFORMS"] = "cpu"
os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=4"

import jax
import jax.numpy as jnp
import jax.scipy.linalg as jsl
import numpy as np
from jax import lax
from jax.sharding import PartitionSpec as P

jax.config.update("jax_enable_x64", True)

random = np.random.RandomState(0)


def array(*shape, dtype="float32"):
    x = random.standard_normal(shape)
    if np.issubdtype(dtype, np.complexfloating):
        x = x + 1j * random.standard_normal(shape)
    return x.astype(dtype)


def square(*batch, n=4, dtype="float32"):
    return array(*batch, n, n, dtype=dtype)


def adjoint(x):
    return jnp.conj(jnp.swapaxes(x, -1, -2))


def positive(x):
    return x @ adjoint(x) + x.shape[-1] * jnp.eye(x.shape[-1], dtype=x.dtype)


def cholesky(a, z):
    loss = lambda a: jnp.sum(jnp.linalg.cholesky(positive(a)) ** 2 * jnp.arange(4))
    # The second matrix of a is not positive definite: all NaN.
    bad = a.at[1].set(-jnp.eye(4, dtype=a.dtype))
    return (jnp.linalg.cholesky(positive(a)), jnp.linalg.cholesky(positive(z), upper=True), jax.grad(loss)(a),
            jnp.isnan(lax.linalg.cholesky(jnp.where(jnp.arange(4)[:, None, None] == 1, bad, positive(a)))))


def lu(a, wide, z):
    return (*lax.linalg.lu(a), *lax.linalg.lu(wide), *lax.linalg.lu(jnp.swapaxes(wide, 1, 2)), *lax.linalg.lu(z))


def solve(a, b, z):
    sign, logdet = jnp.linalg.slogdet(a)
    loss = lambda a, b: jnp.sum(jnp.linalg.solve(a, b) ** 2)
    return (jnp.linalg.solve(a, b), jnp.linalg.inv(z), jnp.linalg.det(z), sign, logdet, *jax.grad(loss, (0, 1))(a, b),
            jnp.linalg.det(jnp.zeros((3, 3), a.dtype) + a[0, 0, 0]))


def qr(a, wide, z):
    loss = lambda a: jnp.sum(jnp.linalg.qr(a)[1] ** 3)
    return (*jnp.linalg.qr(a), *jnp.linalg.qr(a, mode="complete"), *jnp.linalg.qr(wide), *jnp.linalg.qr(z),
            *jnp.linalg.qr(z, mode="complete"), jax.grad(loss)(a))


def qr_pivots(a, z):
    return (*jsl.qr(a, pivoting=True, mode="economic"), *jsl.qr(z, pivoting=True), *jsl.qr(a.T, pivoting=True))


def householder(a, z, c):
    out = []
    for x, y in ((a, c), (z, c.astype(z.dtype) * (1 + 2j))):
        f, taus = lax.linalg.geqrf(x) if hasattr(lax.linalg, "geqrf") else jnp.linalg.qr(x, mode="raw")
        if not hasattr(lax.linalg, "geqrf"):
            f = jnp.swapaxes(f, -1, -2)
        out += [f, taus, lax.linalg.householder_product(f, taus)]
        for left in (True, False):
            for transpose in (True, False):
                given = y if left else jnp.swapaxes(y, -1, -2)
                out.append(lax.linalg.ormqr(f, taus, given, left=left, transpose=transpose))
    return tuple(out)


def eigh(a, z):
    out = []
    for x in (a, z):
        for lower in (True, False):
            v, w = lax.linalg.eigh(x, lower=lower, symmetrize_input=False)
            out += [w, jnp.abs(v), (v * w[..., None, :].astype(v.dtype)) @ adjoint(v)]
    loss = lambda a: jnp.sum(jnp.linalg.eigh(a)[1][..., 0] ** 4) + jnp.sum(jnp.linalg.eigvalsh(a) ** 3)
    return (*out, jnp.linalg.eigvalsh(z), jax.grad(loss)(a))


def eig(a, z):
    out = []
    for x in (a, z):
        w, vl, vr = lax.linalg.eig(x)
        out += [w, jnp.abs(vl), jnp.abs(vr), (vr * w[..., None, :]) @ jnp.linalg.inv(vr)]
    return (*out, jnp.linalg.eigvals(a))


def svd(tall, wide, z):
    out = []
    for x in (tall, wide, z, adjoint(z)):
        for full in (True, False):
            u, s, vt = jnp.linalg.svd(x, full_matrices=full)
            k = s.shape[-1]
            out += [s, jnp.abs(u[..., :k]), (u[..., :k] * s[..., None, :].astype(u.dtype)) @ vt[..., :k, :], u @ adjoint(u), vt @ adjoint(vt)]
    u, s, vt = lax.linalg.svd(tall, full_matrices=False, algorithm=lax.linalg.SvdAlgorithm.QR)
    loss = lambda a: jnp.sum(jnp.linalg.svd(a, compute_uv=False) ** 3)
    return (*out, s, (u * s[..., None, :]) @ vt, jnp.linalg.svd(z, compute_uv=False), jax.grad(loss)(tall))


def least_squares(a, b, z):
    x, _, rank, s = jnp.linalg.lstsq(a, b)
    return x, rank, s, jnp.linalg.pinv(a), jnp.linalg.pinv(z), jnp.linalg.cond(a), jnp.linalg.matrix_rank(z), jnp.linalg.norm(a, 2)


def schur(a, z):
    out = []
    for x in (a, z):
        t, q = jsl.schur(x)
        out += [jnp.sort(jnp.diag(t).real), q @ t @ adjoint(q), q @ adjoint(q)]
    t, q = jsl.schur(a, output="complex")
    return (*out, q @ t @ adjoint(q))


def hessenberg(a, z):
    return (*jsl.hessenberg(a, calc_q=True), *jsl.hessenberg(z, calc_q=True))


def tridiagonal(a, z):
    out = []
    for x in (a, z):
        for lower in (True, False):
            out += lax.linalg.tridiagonal(x, lower=lower)[1:]
    return tuple(out)


def tridiagonal_solve(dl, d, du, b, z):
    return lax.linalg.tridiagonal_solve(dl, d, du, b), lax.linalg.tridiagonal_solve(dl + z, d + 2 * z, du - z, b + 0 * z[..., None])


def triangular_solve(a, b, z):
    out = []
    for x in (a, z):
        x, y = x + 3 * jnp.eye(4, dtype=x.dtype), b.astype(x.dtype)
        for left in (True, False):
            for lower in (True, False):
                for transpose, conjugate in ((False, False), (True, False), (True, True)):
                    out.append(lax.linalg.triangular_solve(x, y if left else jnp.swapaxes(y, 1, 2), left_side=left, lower=lower,
                                                           transpose_a=transpose, conjugate_a=conjugate, unit_diagonal=left != lower))
    return tuple(out)


def functions(a, z):
    u, p = jsl.polar(a)
    return jsl.expm(a), u, p, jsl.sqrtm(positive(a)), jsl.funm(positive(a), jnp.log), jnp.linalg.matrix_power(z, 5), jsl.expm(z)


def sylvester(a, b, c):
    x = jsl.solve_sylvester(a, b, c)
    return x, a @ x + x @ b


def gaussian_process(x, y, scale):
    """A step of gradient descent on the marginal likelihoods of a batch of Gaussian processes."""
    def loss(scale, x, y):
        k = jnp.exp(-((x[:, None] - x[None, :]) / scale) ** 2) + 0.1 * jnp.eye(len(x), dtype=x.dtype)
        factor = jsl.cho_factor(k, lower=True)
        return y @ jsl.cho_solve(factor, y) + 2 * jnp.sum(jnp.log(jnp.diag(factor[0])))
    value, gradient = jax.vmap(jax.value_and_grad(loss))(scale, x, y)
    return value, scale - 0.01 * gradient


def kalman(state, cov, observations, h, q):
    """A Kalman filter over time, for a batch of series."""
    def step(carry, y):
        x, p = carry
        p = p + q
        s = h @ p @ jnp.swapaxes(h, -1, -2) + jnp.eye(h.shape[-2], dtype=h.dtype)
        gain = jnp.swapaxes(jnp.linalg.solve(s, h @ p), -1, -2)
        x = x + (gain @ (y - h @ x[..., None])[..., :])[..., 0]
        return (x, p - gain @ h @ p), x
    (x, p), xs = lax.scan(step, (state, cov), observations)
    return x, p, xs


def natural_gradient(w, x, y):
    """A step of a preconditioned gradient, with the inverse fourth root of a covariance as Shampoo has it."""
    loss = lambda w: jnp.mean((jnp.tanh(x @ w) - y) ** 2)
    g = jax.grad(loss)(w)
    root = lambda m: (lambda v, e: (v * e ** -0.25) @ v.T)(*lax.linalg.eigh(m)[::1])
    left, right = g @ g.T + 0.1 * jnp.eye(w.shape[0], dtype=w.dtype), g.T @ g + 0.1 * jnp.eye(w.shape[1], dtype=w.dtype)
    return w - 0.1 * root(left) @ g @ root(right), loss(w)


def sampling(seed, mean, cov, logits):
    key = jax.random.key(seed)
    k = jax.random.split(key, 4)
    q = jax.random.orthogonal(k[1], 4, dtype="float32")
    return (jax.random.multivariate_normal(k[0], mean, positive(cov), dtype="float32"), jnp.abs(q), q @ q.T, jax.random.categorical(k[2], logits),
            jax.scipy.stats.multivariate_normal.logpdf(mean, mean + 1, positive(cov)), jax.random.permutation(k[3], mean))


def approximate(x):
    return (*lax.approx_max_k(x, 3), *lax.approx_min_k(x, 3), *lax.approx_max_k(x, 2, reduction_dimension=0),
            *lax.approx_max_k(x.astype("bfloat16"), 2, reduction_dimension=0, aggregate_to_topk=False))


def updates(r, w, a, c):
    upper = jnp.triu(r) + 3 * jnp.eye(4, dtype=r.dtype)
    product = lax.linalg.symmetric_product(a, c + c.T, alpha=2.0, beta=0.5)
    return lax.linalg.cholesky_update(upper, w), jnp.tril(product)


def debug_callback(x):
    jax.debug.print("x is {x}", x=x)
    jax.debug.callback(lambda y: None, jnp.sum(x))
    return jnp.sin(x) @ x.T


def ordered_callback(x):
    jax.debug.print("first {x}", x=x[0], ordered=True)
    jax.debug.print("then {x}", x=x[1], ordered=True)
    return x * 2


def pure_callback(x):
    return jax.pure_callback(lambda y: np.asarray(y) * 2, jax.ShapeDtypeStruct(x.shape, x.dtype), x @ x) + 1


def placement(x, w):
    kept = jax.device_put(jnp.tanh(x @ w), jax.memory.Space.Host)
    return jax.device_put(kept, jax.memory.Space.Device) * 2


def f64(*shape):
    return array(*shape, dtype="float64")


def c64(*shape):
    return array(*shape, dtype="complex64")


PROGRAMS = {
    "cholesky": (cholesky, lambda: (square(4), square(2, dtype="complex64")), "cpu cuda tpu"),
    "lu": (lu, lambda: (square(4), array(2, 3, 5, dtype="float64"), square(2, dtype="complex64")), "cpu cuda tpu"),
    "solve": (solve, lambda: (square(4), array(4, 4, 2), square(2, dtype="complex128")), "cpu cuda tpu"),
    "qr": (qr, lambda: (array(4, 6, 4), f64(2, 3, 5), c64(2, 5, 3)), "cpu cuda tpu"),
    "qr_pivots": (qr_pivots, lambda: (array(6, 4), c64(5, 4)), "cpu cuda"),
    "householder": (householder, lambda: (array(4, 6, 3), c64(4, 6, 3), array(4, 6, 2)), "cpu cuda"),
    "eigh": (eigh, lambda: (square(4), square(2, dtype="complex64")), "cpu cuda"),
    "eig": (eig, lambda: (square(4, n=5), square(2, n=5, dtype="complex64")), "cpu cuda"),
    "svd": (svd, lambda: (array(4, 6, 4), f64(2, 3, 5), c64(2, 5, 3)), "cpu cuda"),
    "least_squares": (least_squares, lambda: (array(6, 4), array(6, 2), c64(2, 3, 4)), "cpu cuda"),
    "schur": (schur, lambda: (square(n=6), square(n=6, dtype="complex64")), "cpu"),
    "hessenberg": (hessenberg, lambda: (square(4, n=5), square(n=5, dtype="complex64")), "cpu"),
    "tridiagonal": (tridiagonal, lambda: (square(4, n=5), square(2, n=5, dtype="complex64")), "cpu cuda"),
    "tridiagonal_solve": (tridiagonal_solve, lambda: (array(4, 5), 3 + array(4, 5), array(4, 5), array(4, 5, 2), c64(4, 5)), "cpu cuda"),
    "triangular_solve": (triangular_solve, lambda: (square(4), array(4, 4, 2), square(4, dtype="complex64")), "cpu cuda"),
    "functions": (functions, lambda: (f64(4, 4), square(dtype="complex64")), "cpu"),
    "sylvester": (sylvester, lambda: (f64(4, 4), f64(3, 3), f64(4, 3)), "cpu"),
    "gaussian_process": (gaussian_process, lambda: (array(8, 6), array(8, 6), 1 + array(8) ** 2), "cpu cuda tpu"),
    "kalman": (kalman, lambda: (array(4, 3), np.stack([np.eye(3, dtype="float32")] * 4), array(5, 4, 2, 1), array(4, 2, 3),
                                0.1 * np.eye(3, dtype="float32")), "cpu cuda tpu"),
    "natural_gradient": (natural_gradient, lambda: (array(6, 4), array(16, 6), array(16, 4)), "cpu cuda"),
    "sampling": (sampling, lambda: (np.int32(7), array(4), square(), array(8, 4)), "cpu cuda"),
    "approximate": (approximate, lambda: (array(8, 64),), "cpu cuda"),
    "updates": (updates, lambda: (square(), array(4), array(4, 6), square()), "cpu cuda"),
    "debug_callback": (debug_callback, lambda: (array(8, 4),), "cpu"),
    "ordered_callback": (ordered_callback, lambda: (array(8, 4),), "cpu"),
    "pure_callback": (pure_callback, lambda: (array(8, 8),), "cpu"),
    "placement": (placement, lambda: (array(8, 4), array(4, 4)), "cpu cuda tpu"),
}


def main(names):
    here = os.path.dirname(os.path.abspath(__file__))
    for name, (function, inputs, platforms) in PROGRAMS.items():
        if names and name not in names:
            continue
        random.seed(len(name))
        args = inputs()
        mesh = jax.make_mesh((2, 2), ("x", "y"), axis_types=(jax.sharding.AxisType.Auto,) * 2)
        batched = jax.sharding.NamedSharding(mesh, P("x"))
        cut = tuple(batched if np.ndim(a) > 2 and len(a) % 4 == 0 else None for a in args)
        jitted = jax.jit(function, in_shardings=cut) if any(cut) else jax.jit(function)
        for platform in platforms.split():
            text = jitted.trace(*args).lower(lowering_platforms=(platform,)).as_text()
            with open(os.path.join(here, f"{name}.{platform}.mlir.gz"), "wb") as f:
                f.write(gzip.compress(text.encode(), mtime=0))
        outs = jax.tree.leaves(jax.jit(function)(*args))
        outs = [np.asarray(o.astype("float32") if o.dtype == jnp.bfloat16 else o) for o in outs]
        np.savez(os.path.join(here, name + ".in.npz"), **{f"arg{i}": a for i, a in enumerate(args)})
        np.savez(os.path.join(here, name + ".out.npz"), **{f"out{i}": o for i, o in enumerate(outs)})


main(sys.argv[1:])
