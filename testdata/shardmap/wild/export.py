"""Exports the programs of programs.py, or random ones, with what JAX makes of their inputs on 8 virtual devices.

usage: python3 export.py FOLDER [--variant checked|unchecked|gradient]... [--every N --at K] [--random N --seed S]
                        [--spelling shardy|gspmd|attributes]

Writes NAME.mlir, NAME.in.npz and NAME.out.npz, and programs.json with names and tolerances. Every N-th program from the K-th on is taken;
without --variant they come in turn in one that they have. Random ones that JAX refuses are there with what it says. XLA_FLAGS may say how
XLA computes, such as --xla_cpu_max_isa=AVX, as on processors without fused multiply-add.

Shardings are in Shardy's dialect; in the words of GSPMD; or in attributes of an artifact without either, which NAME.mlir is then.
"""
import argparse
import json
import os
import zlib

os.environ['XLA_FLAGS'] = '--xla_force_host_platform_device_count=8 ' + os.environ.get('XLA_FLAGS', '')
os.environ['JAX_PLATFORMS'] = 'cpu'
os.environ['TF_CPP_MIN_LOG_LEVEL'] = '3'
import jax
import jax.numpy as jnp
import numpy as np

from jax.extend import mlir

import programs
import randomly

VERSION = '1.13.0'  # of StableHLO, for artifacts
TYPES = {'f32': 'float32', 'bf16': 'bfloat16', 'i32': 'int32', 'u32': 'uint32', 'c64': 'complex64'}


def array(text, rng):
    """An input of a type such as f32[8,16]."""
    name, dims = text[:-1].split('[')
    shape = tuple(int(n) for n in dims.split(',') if n)
    if name in ('i32', 'u32'):
        return jnp.asarray(rng.integers(0, 100, shape), TYPES[name])
    x = rng.normal(size=shape)
    if name == 'c64':
        x = x + 1j * rng.normal(size=shape)
    return jnp.asarray(x, TYPES[name])


def gradient(f, inputs):
    """The function that gives the cotangents of the inputs that are floats, for outputs weighted by their numbers."""
    floats = tuple(i for i, x in enumerate(inputs) if x.dtype == jnp.float32)

    def weighted(*args):
        leaves = [y for y in jax.tree.leaves(f(*args)) if jnp.issubdtype(y.dtype, jnp.floating)]
        return sum((y * jnp.linspace(1, 2, y.size, dtype=y.dtype).reshape(y.shape)).sum() for y in leaves)
    return jax.grad(weighted, argnums=floats)


def variants(p):
    return [v for v, there in (('checked', p['checked']), ('unchecked', p['unchecked']), ('gradient', p['grad'])) if there]


def write(jitted, inputs, spelling, file):
    """Writes the program of a function that is jitted."""
    shapes = [jax.ShapeDtypeStruct(x.shape, x.dtype) for x in inputs]
    jax.config.update('jax_use_shardy_partitioner', spelling != 'gspmd')
    exported = jax.export.export(jitted)(*shapes)
    jax.config.update('jax_use_shardy_partitioner', True)
    text = exported.mlir_module().encode()
    if spelling == 'attributes':
        text = mlir.serialize_portable_artifact(text, VERSION, False)
    with open(file, 'wb') as out:
        out.write(text)


def export(p, variant, spelling, folder):
    programs.checks = variant != 'unchecked' and p['checked']
    rng = np.random.default_rng(zlib.crc32(p['name'].encode()))
    inputs = [array(text, rng) for text in p['inputs']]
    f = gradient(p['f'], inputs) if variant == 'gradient' else p['f']
    base = os.path.join(folder, p['name'] + '_' + variant)
    jitted = jax.jit(lambda *args: f(*args), keep_unused=True)
    write(jitted, inputs, spelling, base + '.mlir')
    wide = lambda x: np.asarray(x, np.float32) if x.dtype == jnp.bfloat16 else np.asarray(x)
    np.savez(base + '.in.npz', **{f'arg{i}': wide(x) for i, x in enumerate(inputs)})
    np.savez(base + '.out.npz', **{f'out{i}': wide(x) for i, x in enumerate(jax.tree.leaves(jitted(*inputs)))})
    return dict(name=p['name'] + '_' + variant, tolerance=p['tolerance'])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('folder')
    parser.add_argument('--variant', action='append', default=[])
    parser.add_argument('--every', type=int, default=1)
    parser.add_argument('--at', type=int, default=0)
    parser.add_argument('--random', type=int, default=0)
    parser.add_argument('--seed', type=int, default=1)
    parser.add_argument('--spelling', choices=('shardy', 'gspmd', 'attributes'), default='shardy')
    o = parser.parse_args()
    chosen = [randomly.program(o.seed + k) for k in range(o.random)] if o.random else programs.PROGRAMS[o.at::o.every]
    done = []
    for k, p in enumerate(chosen):
        have = variants(p)
        for v in [v for v in o.variant if v in have] if o.variant else [have[k % len(have)]]:
            try:
                done.append(export(p, v, o.spelling, o.folder))
            except Exception as e:
                if not o.random:
                    raise
                done.append(dict(name=p['name'] + '_' + v, refused=f'{type(e).__name__}: {e}'))
    with open(os.path.join(o.folder, 'programs.json'), 'w') as out:
        json.dump(done, out)


main()
