"""Random programs with shard_map: bodies of collectives and local ops, among other ops, in loops, branches, batches and each other, along
all axes or some, of which the others stay automatic. A program makes the same choices each time that it is traced, checked or not."""
import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.sharding import PartitionSpec as P

import programs

SIZES = {'x': 4, 'y': 2, 'a': 2, 'b': 2, 'c': 2}


class Choices:
    """Draws when it is first asked, and says the same again after start."""

    def __init__(self, rng):
        self.rng, self.made, self.at = rng, [], 0

    def start(self):
        self.at = 0

    def pick(self, options):
        if self.at == len(self.made):
            self.made.append(options[self.rng.integers(len(options))])
        self.at += 1
        return self.made[self.at - 1]


def varying(x, axes):
    """The axes along which a value differs, in order; what is chosen by it is not asked for again where types do not tell."""
    return tuple(a for a in axes if a in jax.typeof(x).manual_axis_type.varying)


def local(c, x, y):
    op = c.pick(['sin', 'tanh', 'add', 'mul', 'square', 'turn', 'dot', 'sum', 'rows', 'sort', 'cumsum'])
    if op in ('sin', 'tanh', 'square'):
        return getattr(jnp, op)(x) * 0.9
    if op in ('add', 'mul') and x.shape == y.shape:
        return x + y if op == 'add' else x * y
    if op == 'turn':
        return x[::-1] * 0.5 + x
    if op == 'dot':
        return jnp.tanh(x @ x.T @ x / 8)
    if op == 'sum':
        return x - x.sum(0, keepdims=True) / 32
    if op == 'rows':
        return jnp.where(jnp.arange(x.shape[0])[:, None] % 2 == 0, x, -x)
    if op == 'sort':
        return jnp.sort(x, 1)
    return jnp.cumsum(x, 1) / 4


def collective(c, x, axes):
    """A collective that the shape and the type of a matrix allow."""
    among = varying(x, axes)
    choices = [('index', c_) for c_ in axes]
    for a in ([(b,) for b in among] + ([among] if len(among) > 1 else [])):
        n = int(np.prod([SIZES[b] for b in a]))
        choices += [('psum', a), ('pmean', a), ('permute', a)]
        if x.shape[0] * n <= 64:
            choices.append(('gather', a))
        for d in (0, 1):
            if x.shape[d] % n == 0:
                choices += [('scatter', (a, d)), ('exchange', (a, d))]
    kind, a = c.pick(choices)
    if kind == 'index':
        return x * (1 + lax.axis_index(a)) / 4
    if kind == 'psum':
        return lax.psum(x, a) / 4
    if kind == 'pmean':
        return x - lax.pmean(x, a) / 2  # what is centred sums up to rounding errors
    if kind == 'permute':
        n = int(np.prod([SIZES[b] for b in a]))
        return lax.ppermute(x, a, [(i, (i + 1) % n) for i in range(n)])
    if kind == 'gather':
        return lax.all_gather(x, a, axis=0, tiled=True)
    if kind == 'scatter':
        return lax.psum_scatter(x, a[0], scatter_dimension=a[1], tiled=True)
    return lax.all_to_all(x, a[0], a[1], 1 - a[1], tiled=True)


def everywhere(c, x, axes):
    """A value as one that differs along all axes, for outputs that are cut along all of them."""
    missing = c.pick([tuple(a for a in axes if a not in varying(x, axes))])
    return lax.pcast(x, missing, to='varying') if missing and programs.checks else x


def body(c, axes, steps, inner):
    """A function of blocks: matrices in, one out, and a number that is equal on all devices."""
    def f(*blocks):
        c.start()
        values = list(blocks)
        for _ in range(steps):
            x = c.pick(range(len(values)))
            y = c.pick(range(len(values)))
            kind = c.pick(['local', 'local', 'collective', 'collective', 'collective', 'loop', 'branch'] + (['inner'] if inner else []))
            if kind == 'local':
                values.append(local(c, values[x], values[y]))
            elif kind == 'collective':
                values.append(collective(c, values[x], axes))
            elif kind == 'loop':
                among = c.pick([varying(values[x], axes)])
                step = (lambda s, _: (s * 0.5 + lax.pmean(s, among) / 2, s[0])) if among else (lambda s, _: (jnp.sin(s), s[0]))
                start = values[x]
                s, rows = lax.scan(step, start, None, length=3)
                values.append(s + rows.sum(0))
            elif kind == 'branch':
                among = c.pick([varying(values[x], axes)])
                total = lax.psum(values[x].sum(), among) if among else values[x].sum()
                values.append(lax.cond(total > 0.37, lambda v: v * 0.5, jnp.cos, values[x]))
            else:
                values.append(inner(values[x]))
        last = everywhere(c, values[-1], axes)
        return last, lax.pmean(jnp.cos(last).mean(), axes)
    return f


SPECS = [P('x', 'y'), P('x', None), P(None, 'y'), P(('x', 'y')), P('y', 'x'), P()]


def automatic(axis):
    """A step along an axis that stays automatic."""
    return lambda v: lax.with_sharding_constraint(jnp.sin(v), P(None, axis))


def inside(rng, axis, steps, inner):
    """A shard_map along one more axis, for bodies of others."""
    small = body(Choices(rng), (axis,), steps, inner)

    def f(v):
        cut = P(axis) if v.shape[0] % 2 == 0 else P(None)
        return jax.shard_map(lambda v: small(v)[0], in_specs=cut, out_specs=P(axis), axis_names={axis}, check_vma=programs.checks)(v) * 0.5
    return f


def mapped(rng):
    """A function of two matrices of 8 x 8 around a shard_map."""
    c, steps = Choices(rng), int(rng.integers(2, 6))
    form = rng.choice(['whole', 'whole', 'whole', 'automatic', 'nested', 'deep'])
    if form == 'whole':
        ins, f = [SPECS[rng.integers(len(SPECS))] for _ in range(2)], body(c, ('x', 'y'), steps, None)
        out = [P('x', 'y'), P(('x', 'y')), P('y', 'x'), P(None, ('x', 'y'))][rng.integers(4)]
        return lambda a, b: programs.mapped(f, tuple(ins), (out, P()))(a, b)
    mesh, axis = (programs.cube, 'a') if form == 'deep' else (programs.mesh, 'x')
    ins = [[P(axis), P(None, axis), P()][rng.integers(3)] for _ in range(2)]
    if form == 'automatic':
        inner = automatic('y')
    elif form == 'nested':
        inner = inside(rng, 'y', 2, None)
    else:
        inner = inside(rng, 'b', 2, automatic('c') if rng.integers(2) else inside(rng, 'c', 2, None))
    f = body(c, (axis,), steps, inner)
    g = lambda a, b: programs.mapped(f, tuple(ins), (P(axis), P()), mesh, axis_names={axis})(a, b)
    g.nests = form != 'automatic'
    return g


def fit(a):
    """A matrix of 8 x 8 from any."""
    flat = jnp.tanh(a).reshape(-1)
    return jnp.tile(flat, -(-64 // flat.size))[:64].reshape(8, 8)


def program(seed):
    """A function of two matrices that gives a matrix and numbers: means of cosines, since means of both signs may cancel to nothing but
    rounding."""
    rng = np.random.default_rng(seed)
    steps = []
    for k in range(int(rng.integers(1, 4))):
        steps.append((rng.choice(['plain', 'plain', 'loop', 'branch', 'batch'] + ['local'] * (k > 0)), mapped(rng)))

    def f(a, b):
        numbers = []
        for kind, g in steps:
            if kind == 'plain':
                out, n = g(a, b)
            elif kind == 'loop':
                out, n = lax.scan(lambda s, _: (fit(g(s, b)[0]), jnp.cos(s).mean()), a, None, length=2)
                n = n.sum()
            elif kind == 'branch':
                out, n = lax.cond(a[0, 0] > b[0, 0], g, lambda a, b: g(b, a), a, b)
            elif kind == 'batch':
                out, n = jax.vmap(g)(jnp.stack([a, a * 0.5]), jnp.stack([b, -b]))
                n = n.sum()
            else:
                out, n = jnp.sin(a @ b / 4) + a.T, jnp.cos(b).mean()
            a, b = fit(out.reshape(-1, out.shape[-1])), a
            numbers.append(n)
        return a, jnp.stack(numbers)
    nests = any(getattr(g, 'nests', False) for _, g in steps)  # JAX's verifier refuses gradients of some
    return dict(f=f, name=f'random{seed}', inputs=('f32[8,8]', 'f32[8,8]'), tolerance=2e-3, grad=not nests, checked=True, unchecked=True)
