"""Measures on the devices of JAX what a hardware profile needs: products, memory, vector units, collectives."""

import argparse
import time

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

# Kinds in the order of the Go package.
MATMUL, VECTOR, MEMORY, ALL_GATHER, REDUCE_SCATTER, ALL_REDUCE, ALL_TO_ALL, LAUNCH, MEETING, ARRAYS = range(10)
DTYPES = {"f32": jnp.float32, "bf16": jnp.bfloat16}
LEAST, REPEATS = 0.05, 40  # seconds and runs that a sample takes at least and at most
FEW, EXTRA = 2, 10  # rounds of the shorter program, and what the longer one has more


def once(run, *args):
    """Returns the seconds of one run."""
    start = time.perf_counter()
    jax.block_until_ready(run(*args))
    return time.perf_counter() - start


def seconds(short, long, extra, *args):
    """Returns the median and the quartiles' distance of the time of one round: what extra rounds in one program take more."""
    for run in (short, long):
        jax.block_until_ready(run(*args))
    times, spent = [], 0.0
    while len(times) < 5 or (spent < LEAST and len(times) < REPEATS):
        few, many = once(short, *args), once(long, *args)
        times.append((many - few) / extra)
        spent += many
    low, middle, high = np.percentile(times, [25, 50, 75])
    return middle, high - low


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--inputs")
    parser.add_argument("--outputs")
    parser.add_argument("--no-check", action="store_true")
    args = parser.parse_args()
    sizes = dict(np.load(args.inputs))
    largest, alone = int(sizes["arg0"]), bool(sizes.get("arg1", 0))  # alone: collectives and nothing else
    devices = np.array(jax.devices())
    n = len(devices)
    rows = []

    def measure(kind, dtype, amount, body, *shapes, members=n):
        """Measures a function of the blocks of all devices, which makes the first of them anew, on all at once, in groups along x."""
        mesh, blocks = Mesh(devices.reshape(-1, members), ("groups", "x")), P(("groups", "x"))
        arrays = [jax.device_put(jnp.ones((n * s[0],) + s[1:], DTYPES[dtype]), NamedSharding(mesh, blocks)) for s in shapes]

        def rounds(count):
            def step(first, *rest):
                return jax.lax.fori_loop(0, count, lambda _, a: body(a, *rest), first)

            specs = (blocks,) * len(shapes)
            return jax.jit(jax.shard_map(step, mesh=mesh, in_specs=specs, out_specs=blocks, check_vma=False))

        middle, spread = seconds(rounds(FEW), rounds(FEW + EXTRA), EXTRA, *arrays)
        if middle > 0:
            rows.append((kind, list(DTYPES).index(dtype), amount, middle, spread))

    def scatter(a):
        part = jax.lax.psum_scatter(a, "x", tiled=True)
        return jax.lax.dynamic_update_slice(a, part / n, (0,))

    def gather(a):
        return jax.lax.dynamic_slice(jax.lax.all_gather(a, "x", tiled=True), (jax.lax.axis_index("x"),), a.shape)

    for dtype in DTYPES:
        for size in [32, 64, 96, 128, 192, 256, 384, 512, 768, 1024]:
            if size <= largest and not alone:
                measure(MATMUL, dtype, 2.0 * size**3, lambda a, b: a @ b / size, (size, size), (size, size))
    for count in [1 << k for k in range(12, 23)]:
        if count <= 16 * largest**2 and not alone:
            measure(MEMORY, "f32", 8.0 * count, lambda a: a + 1, (count,))
        if count <= 4 * largest**2:
            measure(ALL_GATHER, "f32", 4.0 * count, gather, (count // n,))
            measure(REDUCE_SCATTER, "f32", 4.0 * count, scatter, (count,))
            measure(ALL_REDUCE, "f32", 4.0 * count, lambda a: jax.lax.psum(a, "x") / n, (count,))
            measure(ALL_TO_ALL, "f32", 4.0 * count, lambda a: jax.lax.all_to_all(a, "x", 0, 0, tiled=True), (count // n,))
    for repeats in [] if alone else [4, 8, 12, 16, 24, 32]:
        def chain(a, repeats=repeats):
            for _ in range(repeats):
                a = a * 0.999 + 0.5
            return a

        measure(VECTOR, "f32", 2.0 * repeats * 16384, chain, (16384,))
    for count in [] if alone else [8, 12, 16, 24, 32, 48, 64, 96]:
        def products(a, b, count=count):
            for _ in range(count):
                a = a @ b / 16
            return a

        measure(LAUNCH, "f32", count, products, (16, 16), (16, 16))
    for size in [] if alone else [256, 1024, 4096]:
        for members in [k for k in range(2, n + 1) if n % k == 0]:
            measure(MEETING, "f32", members - 1, gather, (size // members,), members=members)
    for count in [] if alone else [1, 2, 3, 4, 6, 8, 10, 12]:
        def sums(a, count=count):
            return jnp.stack(jax.lax.psum(tuple(a[i] for i in range(count)), "x")) / n

        measure(ARRAYS, "f32", count, sums, (count, 256))
    np.savez(args.outputs, out0=np.array(rows, np.float64), out1=np.int64(n))


main()
