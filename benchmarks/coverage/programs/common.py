"""A program of the collection: a function of arrays and example arguments, made by a function that is decorated with @program.

    @program('mlp', 'two dense layers')
    def mlp(key):
        return forward, (params, x)          # or: forward, (params, x), {'donate_argnums': (0,)}

Sizes are powers of two where the framework lets them be, and small enough to run in seconds.
"""
import jax
import jax.numpy as jnp

PROGRAMS = {}


def program(name, about, *, x64=False, platforms=('cpu', 'cuda', 'tpu'), forms=None):
    """registers a builder; platforms are those that JAX can lower it for, forms other than lower() are left out by `forms`"""
    def register(build):
        assert name not in PROGRAMS, name
        PROGRAMS[name] = dict(name=name, about=about, build=build, x64=x64, platforms=platforms, forms=forms)
        return build
    return register


def normal(seed, *shape, dtype=jnp.float32, scale=1.0):
    return (scale * jax.random.normal(jax.random.key(seed), shape)).astype(dtype)


def tokens(seed, *shape, vocabulary=64):
    return jax.random.randint(jax.random.key(seed), shape, 0, vocabulary, dtype=jnp.int32)
