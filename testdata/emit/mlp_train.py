"""jit_mlp_train on the mesh data=4, model=2, as autoshard planned it.

Run it to compare the sharded program with the unsharded one; --help lists the options.

INPUTS and OUTPUTS name the arguments and results in order, as the model does. Where the model
comes from jax.jit, these are the leaves of the function's arguments, without those that the
function does not use: jit drops them.
"""

import argparse
import os
import sys

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

DEVICES = 8
INPUTS = (
    ("arg0", jnp.float32, (64,)),
    ("arg1", jnp.float32, (32, 64)),
    ("arg2", jnp.float32, (64,)),
    ("arg3", jnp.float32, (64, 64)),
    ("arg4", jnp.float32, (16,)),
    ("arg5", jnp.float32, (64, 16)),
    ("arg6", jnp.float32, (16, 32)),
    ("arg7", jnp.float32, (16, 16)),
)
OUTPUTS = (
    ("result[0][0]['bias']", jnp.float32, (64,)),
    ("result[0][0]['w']", jnp.float32, (32, 64)),
    ("result[0][1]['bias']", jnp.float32, (64,)),
    ("result[0][1]['w']", jnp.float32, (64, 64)),
    ("result[0][2]['bias']", jnp.float32, (16,)),
    ("result[0][2]['w']", jnp.float32, (64, 16)),
    ("result[1]", jnp.float32, ()),
)
IN_SPECS = (
    P(("data", "model")),
    P(None, ("data", "model")),
    P(),
    P(("data", "model")),
    P(),
    P(),
    P(),
    P(),
)
OUT_SPECS = (
    P(("data", "model")),
    P(None, ("data", "model")),
    P(),
    P(("data", "model")),
    P(),
    P(),
    P(),
)


def make_mesh():
    devices = jax.devices()
    if len(devices) < DEVICES:
        raise SystemExit(f"{DEVICES} devices are needed, {len(devices)} are there")
    return Mesh(np.array(devices[:DEVICES]).reshape(4, 2), ("data", "model"))


def on_devices(f, mesh, in_specs, out_specs, check=False, axes=None):
    """Returns f, which sees one device's blocks, as a function of whole arrays."""
    options = {"mesh": mesh, "in_specs": in_specs, "out_specs": out_specs}
    if hasattr(jax, "shard_map"):
        if axes:
            options["axis_names"] = axes
        return jax.shard_map(f, check_vma=check, **options)
    from jax.experimental.shard_map import shard_map as old

    if axes:
        options["auto"] = frozenset(mesh.axis_names) - axes
    return old(f, check_rep=check, **options)


def per_device(arg0, arg1, arg2, arg3, arg4, arg5, arg6, arg7):
    """The program of one device, over its blocks."""
    dot = arg6 @ arg1  # f32[16,8]  mlp_train.mlir:3
    total = dot + arg0  # f32[16,8]  mlp_train.mlir:6
    larger = jnp.maximum(total, 0.0)  # f32[16,8]  mlp_train.mlir:99
    test = total > 0.0  # i1[16,8]  mlp_train.mlir:10
    dot_1 = larger @ arg3  # f32[16,64]  mlp_train.mlir:13
    summed = lax.psum(dot_1, ("data", "model"))  # f32[16,64]
    total_1 = summed + arg2  # f32[16,64]  mlp_train.mlir:16
    larger_1 = jnp.maximum(total_1, 0.0)  # f32[16,64]  mlp_train.mlir:99
    test_1 = total_1 > 0.0  # i1[16,64]  mlp_train.mlir:20
    dot_2 = larger_1 @ arg5  # f32[16,16]  mlp_train.mlir:23
    total_2 = dot_2 + arg4  # f32[16,16]  mlp_train.mlir:26
    diff = total_2 - arg7  # f32[16,16]  mlp_train.mlir:27
    prod = diff * diff  # f32[16,16]  mlp_train.mlir:28
    prod_1 = 2.0 * diff  # f32[16,16]  mlp_train.mlir:31
    reduced = jnp.sum(prod)  # f32[]  mlp_train.mlir:33
    result_1 = reduced / 256.0  # f32[]  mlp_train.mlir:35
    quotient = jnp.float32(1.0) / 256.0  # f32[]  mlp_train.mlir:38
    prod_2 = quotient * prod_1  # f32[16,16]  mlp_train.mlir:40
    reduced_1 = jnp.sum(prod_2, axis=0)  # f32[16]  mlp_train.mlir:42
    reshaped = reduced_1.reshape(1, 16)  # f32[1,16]  mlp_train.mlir:43
    reduced_2 = jnp.sum(reshaped, axis=0)  # f32[16]  mlp_train.mlir:45
    dot_3 = prod_2.T @ larger_1  # f32[16,64]  mlp_train.mlir:46
    transposed = dot_3.T  # f32[64,16]  mlp_train.mlir:47
    dot_4 = prod_2 @ arg5.T  # f32[16,64]  mlp_train.mlir:48
    chosen = jnp.where(test_1, dot_4, 0.0)  # f32[16,64]  mlp_train.mlir:51
    reduced_3 = jnp.sum(chosen, axis=0)  # f32[64]  mlp_train.mlir:53
    reshaped_1 = reduced_3.reshape(1, 64)  # f32[1,64]  mlp_train.mlir:54
    reduced_4 = jnp.sum(reshaped_1, axis=0)  # f32[64]  mlp_train.mlir:56
    dot_5 = chosen.T @ larger  # f32[64,8]  mlp_train.mlir:57
    transposed_1 = dot_5.T  # f32[8,64]  mlp_train.mlir:58
    dot_6 = chosen @ arg3.T  # f32[16,8]  mlp_train.mlir:59
    chosen_1 = jnp.where(test, dot_6, 0.0)  # f32[16,8]  mlp_train.mlir:62
    reduced_5 = jnp.sum(chosen_1, axis=0)  # f32[8]  mlp_train.mlir:64
    reshaped_2 = reduced_5.reshape(1, 8)  # f32[1,8]  mlp_train.mlir:65
    reduced_6 = jnp.sum(reshaped_2, axis=0)  # f32[8]  mlp_train.mlir:67
    dot_7 = chosen_1.T @ arg6  # f32[8,32]  mlp_train.mlir:68
    transposed_2 = dot_7.T  # f32[32,8]  mlp_train.mlir:69
    prod_3 = 0.1 * reduced_6  # f32[8]  mlp_train.mlir:72
    result_0_0_bias = arg0 - prod_3  # f32[8]  mlp_train.mlir:73
    prod_4 = 0.1 * transposed_2  # f32[32,8]  mlp_train.mlir:76
    result_0_0_w = arg1 - prod_4  # f32[32,8]  mlp_train.mlir:77
    prod_5 = 0.1 * reduced_4  # f32[64]  mlp_train.mlir:80
    result_0_1_bias = arg2 - prod_5  # f32[64]  mlp_train.mlir:81
    prod_6 = 0.1 * transposed_1  # f32[8,64]  mlp_train.mlir:84
    result_0_1_w = arg3 - prod_6  # f32[8,64]  mlp_train.mlir:85
    prod_7 = 0.1 * reduced_2  # f32[16]  mlp_train.mlir:88
    result_0_2_bias = arg4 - prod_7  # f32[16]  mlp_train.mlir:89
    prod_8 = 0.1 * transposed  # f32[64,16]  mlp_train.mlir:92
    result_0_2_w = arg5 - prod_8  # f32[64,16]  mlp_train.mlir:93
    return (
        result_0_0_bias,
        result_0_0_w,
        result_0_1_bias,
        result_0_1_w,
        result_0_2_bias,
        result_0_2_w,
        result_1,
    )


def unsharded(arg0, arg1, arg2, arg3, arg4, arg5, arg6, arg7):
    """The program over whole arrays."""
    dot = arg6 @ arg1  # f32[16,64]  mlp_train.mlir:3
    total = dot + arg0  # f32[16,64]  mlp_train.mlir:6
    larger = jnp.maximum(total, 0.0)  # f32[16,64]  mlp_train.mlir:99
    test = total > 0.0  # i1[16,64]  mlp_train.mlir:10
    dot_1 = larger @ arg3  # f32[16,64]  mlp_train.mlir:13
    total_1 = dot_1 + arg2  # f32[16,64]  mlp_train.mlir:16
    larger_1 = jnp.maximum(total_1, 0.0)  # f32[16,64]  mlp_train.mlir:99
    test_1 = total_1 > 0.0  # i1[16,64]  mlp_train.mlir:20
    dot_2 = larger_1 @ arg5  # f32[16,16]  mlp_train.mlir:23
    total_2 = dot_2 + arg4  # f32[16,16]  mlp_train.mlir:26
    diff = total_2 - arg7  # f32[16,16]  mlp_train.mlir:27
    prod = diff * diff  # f32[16,16]  mlp_train.mlir:28
    prod_1 = 2.0 * diff  # f32[16,16]  mlp_train.mlir:31
    reduced = jnp.sum(prod)  # f32[]  mlp_train.mlir:33
    result_1 = reduced / 256.0  # f32[]  mlp_train.mlir:35
    quotient = jnp.float32(1.0) / 256.0  # f32[]  mlp_train.mlir:38
    prod_2 = quotient * prod_1  # f32[16,16]  mlp_train.mlir:40
    reduced_1 = jnp.sum(prod_2, axis=0)  # f32[16]  mlp_train.mlir:42
    reshaped = reduced_1.reshape(1, 16)  # f32[1,16]  mlp_train.mlir:43
    reduced_2 = jnp.sum(reshaped, axis=0)  # f32[16]  mlp_train.mlir:45
    dot_3 = prod_2.T @ larger_1  # f32[16,64]  mlp_train.mlir:46
    transposed = dot_3.T  # f32[64,16]  mlp_train.mlir:47
    dot_4 = prod_2 @ arg5.T  # f32[16,64]  mlp_train.mlir:48
    chosen = jnp.where(test_1, dot_4, 0.0)  # f32[16,64]  mlp_train.mlir:51
    reduced_3 = jnp.sum(chosen, axis=0)  # f32[64]  mlp_train.mlir:53
    reshaped_1 = reduced_3.reshape(1, 64)  # f32[1,64]  mlp_train.mlir:54
    reduced_4 = jnp.sum(reshaped_1, axis=0)  # f32[64]  mlp_train.mlir:56
    dot_5 = chosen.T @ larger  # f32[64,64]  mlp_train.mlir:57
    transposed_1 = dot_5.T  # f32[64,64]  mlp_train.mlir:58
    dot_6 = chosen @ arg3.T  # f32[16,64]  mlp_train.mlir:59
    chosen_1 = jnp.where(test, dot_6, 0.0)  # f32[16,64]  mlp_train.mlir:62
    reduced_5 = jnp.sum(chosen_1, axis=0)  # f32[64]  mlp_train.mlir:64
    reshaped_2 = reduced_5.reshape(1, 64)  # f32[1,64]  mlp_train.mlir:65
    reduced_6 = jnp.sum(reshaped_2, axis=0)  # f32[64]  mlp_train.mlir:67
    dot_7 = chosen_1.T @ arg6  # f32[64,32]  mlp_train.mlir:68
    transposed_2 = dot_7.T  # f32[32,64]  mlp_train.mlir:69
    prod_3 = 0.1 * reduced_6  # f32[64]  mlp_train.mlir:72
    result_0_0_bias = arg0 - prod_3  # f32[64]  mlp_train.mlir:73
    prod_4 = 0.1 * transposed_2  # f32[32,64]  mlp_train.mlir:76
    result_0_0_w = arg1 - prod_4  # f32[32,64]  mlp_train.mlir:77
    prod_5 = 0.1 * reduced_4  # f32[64]  mlp_train.mlir:80
    result_0_1_bias = arg2 - prod_5  # f32[64]  mlp_train.mlir:81
    prod_6 = 0.1 * transposed_1  # f32[64,64]  mlp_train.mlir:84
    result_0_1_w = arg3 - prod_6  # f32[64,64]  mlp_train.mlir:85
    prod_7 = 0.1 * reduced_2  # f32[16]  mlp_train.mlir:88
    result_0_2_bias = arg4 - prod_7  # f32[16]  mlp_train.mlir:89
    prod_8 = 0.1 * transposed  # f32[64,16]  mlp_train.mlir:92
    result_0_2_w = arg5 - prod_8  # f32[64,16]  mlp_train.mlir:93
    return (
        result_0_0_bias,
        result_0_0_w,
        result_0_1_bias,
        result_0_1_w,
        result_0_2_bias,
        result_0_2_w,
        result_1,
    )


def sharded(mesh):
    """Returns the program as a function of whole arrays."""
    return jax.jit(on_devices(per_device, mesh, IN_SPECS, OUT_SPECS))


def run(values):
    """Runs the sharded program on all devices."""
    mesh = make_mesh()
    arrays = []
    for x, spec in zip(values, IN_SPECS):
        block = lambda i, x=x: np.asarray(x[i])
        arrays.append(jax.make_array_from_callback(x.shape, NamedSharding(mesh, spec), block))
    return sharded(mesh)(*arrays)


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--inputs", help="an .npz file of arg0, arg1, ...")
    parser.add_argument("--expect", help="an .npz file of out0, out1, ... to compare with")
    parser.add_argument("--outputs", help="the .npz file to write out0, out1, ... to")
    parser.add_argument("--no-check", action="store_true", help="do not compare with anything")
    parser.add_argument("--seed", type=int, default=0, help="of random inputs")
    parser.add_argument("--devices", type=int, help="CPU devices of this process")
    parser.add_argument("--coordinator", help="HOST:PORT of process 0, if there are several")
    parser.add_argument("--processes", type=int, default=1, help="how many processes there are")
    parser.add_argument("--process", type=int, default=0, help="number of this one")
    return parser.parse_args()


def start(args):
    """Prepares the devices, before anything uses them."""
    count = args.devices or -(-DEVICES // args.processes)
    flags = os.environ.get("XLA_FLAGS", "")
    if args.devices or "xla_force_host_platform_device_count" not in flags:
        flags += f" --xla_force_host_platform_device_count={count}"
        os.environ["XLA_FLAGS"] = flags.strip()
    if hasattr(jax.config, "jax_use_shardy_partitioner"):
        jax.config.update("jax_use_shardy_partitioner", True)  # as JAX does since 0.7
    if args.coordinator:
        jax.config.update("jax_cpu_collectives_implementation", "gloo")
        jax.distributed.initialize(
            coordinator_address=args.coordinator,
            num_processes=args.processes,
            process_id=args.process,
        )


def read(array, dtype, shape):
    """Returns an array of a file in the program's type; bfloat16 comes as raw bytes or float32."""
    dtype = np.dtype(dtype)
    if array.dtype.kind == "V" and array.dtype.itemsize == dtype.itemsize:
        array = array.view(dtype)
    if array.shape != shape:
        raise SystemExit(f"an array has shape {array.shape}, the program takes {shape}")
    return array.astype(dtype)


def save(array):
    """Returns an array in a type that files can hold."""
    if array.dtype.isbuiltin == 1:
        return array
    if jnp.issubdtype(array.dtype, jnp.floating):
        return array.astype(np.float32)
    return array.astype(np.uint8 if jnp.issubdtype(array.dtype, jnp.unsignedinteger) else np.int8)


def inputs(args, example=None):
    """Returns the arrays of a file, of the example, or random ones: floats from 0 to 1, small integers."""
    if args.inputs:
        found = np.load(args.inputs)
        return [read(found[f"arg{i}"], t, s) for i, (_, t, s) in enumerate(INPUTS)]
    if example:
        return example()[0]
    random = np.random.default_rng(args.seed)
    out = []
    for _, dtype, shape in INPUTS:
        if jnp.issubdtype(dtype, jnp.inexact):
            out.append(np.asarray(random.random(shape)).astype(dtype))
        else:
            most = 2 if np.dtype(dtype).name in ("bool", "int2", "uint2") else 4
            out.append(np.asarray(random.integers(0, most, shape)).astype(dtype))
    return out


def gather(array):
    """Returns a result as a whole array on every process."""
    if getattr(array, "is_fully_addressable", True):
        return np.asarray(array)
    from jax.experimental import multihost_utils

    return np.asarray(multihost_utils.process_allgather(array, tiled=True))


def tolerance(dtype):
    """Returns how far an element may be off, relative to the largest one."""
    if not jnp.issubdtype(dtype, jnp.inexact):
        return 0.0
    return max(1e-9, 1000 * float(jnp.finfo(dtype).eps)) if dtype.itemsize > 2 else 0.1


def compare(got, want, least=0.0):
    """Returns the largest difference, relative to the largest number or to least, and whether that is close."""
    exact = not jnp.issubdtype(got.dtype, jnp.inexact)
    wide = np.complex128 if jnp.issubdtype(got.dtype, jnp.complexfloating) else np.float64
    same = (got == want) | (got != got) & (want != want)
    if exact or np.all(same):
        return float(not np.all(same)), bool(np.all(same))
    difference = np.abs(got.astype(wide) - want.astype(wide))[~same]
    finite = np.abs(want.astype(wide))[np.isfinite(want.astype(wide))]
    error = float(np.max(difference) / max(np.max(finite, initial=0.0), least, 1e-300))
    return error, error <= tolerance(got.dtype)


def expected(args, values, unsharded, example):
    """Returns what to compare outputs with and what that is; nothing where there is nothing."""
    if args.no_check:
        return None, ""
    if args.expect:
        found = np.load(args.expect)
        arrays = [read(found[f"out{i}"], t, s) for i, (_, t, s) in enumerate(OUTPUTS)]
        return arrays, "what " + args.expect + " has"
    if unsharded:
        return [gather(y) for y in jax.jit(unsharded)(*values)], "the unsharded program"
    if example and not args.inputs:
        return example()[1], "the example"
    return None, ""


def magnitudes(unsharded, values):
    """Returns for each output how large the numbers are that it is summed from.

    A change of the inputs in their last place moves it by their last place. An output that is zero but for rounding is itself much smaller.
    """
    random = np.random.default_rng(1)

    def move(x):
        if not jnp.issubdtype(x.dtype, jnp.inexact):
            return x
        return (x * (1 + random.choice([-1, 1], x.shape) * float(jnp.finfo(x.dtype).eps))).astype(x.dtype)

    first, second = jax.jit(unsharded)(*values), jax.jit(unsharded)(*map(move, values))
    sizes = []
    for x, y in zip(map(gather, first), map(gather, second)):
        if not jnp.issubdtype(x.dtype, jnp.inexact):
            sizes.append(0.0)
            continue
        wide = np.complex128 if jnp.issubdtype(x.dtype, jnp.complexfloating) else np.float64
        moved = np.abs(x.astype(wide) - y.astype(wide))
        sizes.append(float(np.max(moved[np.isfinite(moved)], initial=0.0)) / float(jnp.finfo(x.dtype).eps))
    return sizes


def check(outputs, expected, source, sizes):
    """Compares outputs with others; returns a text and whether they agree. Sizes gives those of magnitudes, if they are needed."""
    if expected is None:
        return f"{len(outputs)} outputs", True
    worst, wrong, known = 0.0, [], []
    for i, ((name, _, _), got, want) in enumerate(zip(OUTPUTS, outputs, expected)):
        error, close = compare(got, want)
        if not close and sizes:
            known = known or sizes()
            error, close = compare(got, want, known[i])
        worst = max(worst, error)
        if not close:
            wrong.append(f"{name} differs by {error:.3g} from {source}")
    if wrong:
        return "\n".join(wrong), False
    return f"OK {len(outputs)} outputs, largest relative difference {worst:.3g}", True


def main(unsharded=None, example=None):
    args = arguments()
    start(args)
    values = inputs(args, example)
    outputs = [gather(y) for y in run(values)]
    sizes = (lambda: magnitudes(unsharded, values)) if unsharded else None
    text, agree = check(outputs, *expected(args, values, unsharded, example), sizes)
    if args.process == 0:
        if args.outputs:
            np.savez(args.outputs, **{f"out{i}": save(y) for i, y in enumerate(outputs)})
        print(text)
    if args.coordinator:
        from jax.experimental import multihost_utils

        multihost_utils.sync_global_devices("done")
        jax.distributed.shutdown()
    return 0 if agree else 1


if __name__ == "__main__":
    sys.exit(main(unsharded=unsharded))
