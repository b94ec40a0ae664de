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
