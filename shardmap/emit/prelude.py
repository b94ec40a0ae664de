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


def vary(x, axes):
    """Makes a value that is equal along axes count as varying; older JAX does so by itself."""
    if hasattr(lax, "pcast"):
        return lax.pcast(x, axes, to="varying")
    return lax.pvary(x, axes) if hasattr(lax, "pvary") else x


def gather_equal(x, axes, axis):
    """Joins blocks; the result counts as equal along axes."""
    if hasattr(lax, "pcast"):
        return lax.all_gather(x, axes, axis=axis, tiled=True, to="invarying")
    if hasattr(lax, "all_gather_invariant"):
        return lax.all_gather_invariant(x, axes, axis=axis, tiled=True)
    shape = list(x.shape)
    shape[axis] *= lax.psum(1, axes)
    at = lax.axis_index(axes) * x.shape[axis]
    return lax.psum(lax.dynamic_update_slice_in_dim(jnp.zeros(shape, x.dtype), x, at, axis), axes)


def pscatter(x, axes, axis):
    """Keeps this device's part of a value that is equal along axes."""
    size = x.shape[axis] // lax.psum(1, axes)
    return lax.dynamic_slice_in_dim(x, lax.axis_index(axes) * size, size, axis)


def broadcast_from(x, axes, source):
    """Gives all devices along axes the block of one of them."""
    return lax.all_gather(x, axes)[source]


def ragged_all_to_all(x, out, starts, sizes, targets, received, axes):
    """Exchanges slices of any length. XLA does so on accelerators; elsewhere all is gathered."""
    if jax.default_backend() != "cpu":
        return lax.ragged_all_to_all(x, out, starts, sizes, targets, received, axis_name=axes)
    rows = jnp.arange(out.shape[0])
    n, me = lax.psum(1, axes), lax.axis_index(axes)
    x, *slices = [lax.all_gather(a, axes) for a in (x, starts, sizes, targets)]
    each = starts.shape[0] // n
    for sender in range(n):
        for k in range(each):
            start, size, target = [a[sender, me * each + k] for a in slices]
            taken = x[sender][jnp.clip(rows - target + start, 0, x.shape[1] - 1)]
            here = (rows >= target) & (rows < target + size)
            out = jnp.where(here.reshape(-1, *[1] * (out.ndim - 1)), taken, out)
    return out


def decode(text, dtype, shape):
    """Returns an array from its bytes in base64."""
    raw = base64.b64decode(text)
    dtype = np.dtype(dtype)
    small = dtype.name in ("int2", "int4", "uint2", "uint4")  # one to a byte
    return np.frombuffer(raw, np.int8 if small else dtype).astype(dtype).reshape(shape)


def dynamic_slice(x, starts, sizes):
    """Slices from starts on; JAX alone would count negative ones from the end."""
    return lax.dynamic_slice(x, [jnp.maximum(s, jnp.zeros_like(s)) for s in starts], sizes)


def dynamic_update_slice(x, update, starts):
    """Replaces a slice from starts on; JAX alone would count negative ones from the end."""
    return lax.dynamic_update_slice(x, update, [jnp.maximum(s, jnp.zeros_like(s)) for s in starts])


def total_order(x):
    """Returns integers in the order of floats, with -NaN < -inf < -0.0 < 0.0 < inf < NaN."""
    signed = {8: jnp.int8, 16: jnp.int16, 32: jnp.int32, 64: jnp.int64}[x.dtype.itemsize * 8]
    bits = lax.bitcast_convert_type(x, signed)
    return jnp.where(bits < 0, bits ^ jnp.iinfo(signed).max, bits)


def bitcast(x, dtype, shape):
    """Reads the bits of truth values or complex numbers as another type, or the other way round."""
    places = jnp.arange(8, dtype=jnp.uint8)
    if x.dtype == jnp.bool_:
        raw = jnp.sum(x.reshape(-1, 8).astype(jnp.uint8) << places, axis=1, dtype=jnp.uint8)
    else:
        if jnp.issubdtype(x.dtype, jnp.complexfloating):
            x = jnp.stack([x.real, x.imag], axis=-1)
        raw = lax.bitcast_convert_type(x, jnp.uint8).reshape(-1)
    if dtype == jnp.bool_:
        return (((raw[:, None] >> places) & 1) != 0).reshape(shape)
    if jnp.issubdtype(dtype, jnp.complexfloating):
        part = jnp.finfo(dtype).dtype
        parts = lax.bitcast_convert_type(raw.reshape(-1, 2, part.itemsize), part)
        return lax.complex(parts[:, 0], parts[:, 1]).reshape(shape)
    size = np.dtype(dtype).itemsize
    raw = raw.reshape(-1, size) if size > 1 else raw
    return lax.bitcast_convert_type(raw, dtype).reshape(shape)


def mulhi(x, y):
    """Returns the upper half of the bits of a product of integers."""
    half = x.dtype.itemsize * 4
    low = (1 << half) - 1
    x_low, x_high, y_low, y_high = x & low, x >> half, y & low, y >> half
    unsigned = jnp.dtype("uint" + str(2 * half))
    carried = (x_low.astype(unsigned) * y_low.astype(unsigned)) >> half
    mid = x_high * y_low + carried.astype(x.dtype)
    rest = (mid & low) + x_low * y_high
    return x_high * y_high + (mid >> half) + (rest >> half)


def int_power(x, y):
    """Raises integers to integers; 1 / x ** n is rounded to zero."""
    result, square = jnp.ones_like(x), x
    for bit in range(x.dtype.itemsize * 8):
        result = jnp.where((y >> bit) & 1 != 0, result * square, result)
        square = square * square
    if jnp.issubdtype(x.dtype, jnp.unsignedinteger):
        return result
    sign = jnp.where(y & 1 != 0, -1, 1).astype(x.dtype)
    inverse = jnp.where(x == 1, 1, jnp.where(x == -1, sign, 0)).astype(x.dtype)
    return jnp.where(y < 0, inverse, result)


def alike(x, y):
    """Repeats two arrays to one shape."""
    shape = jnp.broadcast_shapes(x.shape, y.shape)
    return jnp.broadcast_to(x, shape), jnp.broadcast_to(y, shape)


def cholesky_upper(a):
    """Returns the upper factor u with u^H u = a, from the upper triangle of a."""
    lower = lax.linalg.cholesky(jnp.conj(jnp.swapaxes(a, -1, -2)), symmetrize_input=False)
    return jnp.conj(jnp.swapaxes(lower, -1, -2))


def along(x, vector, axis):
    """Gives a vector the rank of x, along an axis."""
    return vector.reshape([-1 if d == axis else 1 for d in range(x.ndim)])


def batch_norm_inference(x, scale, offset, mean, variance, epsilon, axis):
    scale, offset, mean, variance = [along(x, v, axis) for v in (scale, offset, mean, variance)]
    return scale * ((x - mean) / jnp.sqrt(variance + epsilon)) + offset


def batch_norm_training(x, scale, offset, epsilon, axis):
    others = tuple(d for d in range(x.ndim) if d != axis)
    mean, variance = jnp.mean(x, axis=others), jnp.var(x, axis=others)
    return batch_norm_inference(x, scale, offset, mean, variance, epsilon, axis), mean, variance


def batch_norm_grad(x, scale, mean, variance, grad, epsilon, axis):
    others = tuple(d for d in range(x.ndim) if d != axis)
    count = x.size // x.shape[axis]
    centered = x - along(x, mean, axis)
    deviation = jnp.sqrt(variance + epsilon)
    grad_offset = jnp.sum(grad, axis=others)
    moment = jnp.sum(grad * centered, axis=others)
    grad_scale = moment / deviation
    inner = count * grad - along(x, grad_offset, axis)
    inner = inner - centered * along(x, moment / (variance + epsilon), axis)
    return along(x, scale / deviation / count, axis) * inner, grad_scale, grad_offset


def philox_bits(state, shape, drawn):
    """Philox4x32-10 with both halves of its counter, of which JAX lets nobody set the upper one."""
    key, low, high = state
    size, words = jax.ShapeDtypeStruct(shape, drawn).size, max(1, jnp.dtype(drawn).itemsize // 4)
    steps = -(-size * words // 4)
    counter = low + jnp.arange(steps, dtype=jnp.uint64)
    upper = high + (counter < low)
    split = lambda x: (x.astype(jnp.uint32), (x >> 32).astype(jnp.uint32))
    a, b, c, d = *split(counter), *split(upper)
    k0, k1 = split(key)
    for _ in range(10):
        x, y = jnp.uint64(0xD2511F53) * a, jnp.uint64(0xCD9E8D57) * c
        a, b, c, d = split(y)[1] ^ b ^ k0, split(y)[0], split(x)[1] ^ d ^ k1, split(x)[0]
        k0, k1 = k0 + jnp.uint32(0x9E3779B9), k1 + jnp.uint32(0xBB67AE85)
    bits = jnp.stack([a, b, c, d], axis=-1).reshape(-1)[: size * words]
    if words == 2:
        bits = bits[::2].astype(jnp.uint64) | bits[1::2].astype(jnp.uint64) << 32
    end = low + jnp.uint64(steps)
    return jnp.stack([key, end, high + (end < low)]), bits.astype(drawn).reshape(shape)


def random_bits(key, shape, drawn, dtype, algorithm):
    """Draws random bits; returns the next state and the bits as an array of a type."""
    if key.shape == (3,):
        key, bits = philox_bits(key, shape, drawn)
    else:
        key, bits = lax.rng_bit_generator(key, shape, drawn, algorithm)
    return key, bits if drawn == dtype else lax.bitcast_convert_type(bits, dtype)


def take_along(x, index, axis, batch_dims):
    """Takes elements along an axis, the first dimensions in step."""
    take = lambda a, i: jnp.take(a, i, axis=axis - batch_dims, mode="clip")
    for _ in range(batch_dims):
        take = jax.vmap(take)
    return take(x, index)


def scan_along(step, xs, carry, axis, reverse):
    """Runs step over slices along an axis: it takes and returns slices, then carries."""
    rest = len(carry)

    def body(carry, slices):
        out = step(*slices, *carry)
        out = out if isinstance(out, tuple) else (out,)
        return out[len(out) - rest :], out[: len(out) - rest]

    xs = tuple(jnp.moveaxis(x, axis, 0) for x in xs)
    carry, ys = lax.scan(body, tuple(carry), xs, reverse=reverse)
    out = tuple(jnp.moveaxis(y, 0, axis) for y in ys) + tuple(carry)
    return out[0] if len(out) == 1 else out


def sort_with(less, operands, axis):
    """Sorts along an axis, stably, with a comparator of the pairs of all operands."""
    moved = [jnp.moveaxis(x, axis, -1) for x in operands]
    pairs = [side for x in moved for side in (x[..., :, None], x[..., None, :])]
    before = jnp.vectorize(less)(*pairs)  # [..., i, j]: element i comes before element j
    n = moved[0].shape[-1]
    first = jnp.arange(n)[:, None] < jnp.arange(n)[None, :]
    before = before | (~jnp.swapaxes(before, -1, -2) & first)
    order = jnp.argsort(jnp.sum(before, axis=-2, dtype=jnp.int32), axis=-1)
    out = tuple(jnp.moveaxis(jnp.take_along_axis(x, order, axis=-1), -1, axis) for x in moved)
    return out[0] if len(out) == 1 else out


def scatter_with(combine, operands, indices, updates, dims):
    """Scatters one window after another; windows that are not wholly inside are dropped."""
    shape, rank = operands[0].shape, operands[0].ndim
    skipped = dims.inserted_window_dims + dims.operand_batching_dims
    kept = [d for d in range(rank) if d not in skipped]
    batch = [d for d in range(updates[0].ndim) if d not in dims.update_window_dims]
    order = batch + list(dims.update_window_dims)
    updates = [u.transpose(order) for u in updates]
    places = updates[0].shape[: len(batch)]
    sizes = [1] * rank
    for d, size in zip(kept, updates[0].shape[len(batch) :]):
        sizes[d] = size
    updates = [u.reshape(-1, *sizes) for u in updates]
    starts = jnp.zeros(places + (rank,), jnp.int32)
    for k, d in enumerate(dims.scatter_dims_to_operand_dims):
        starts = starts.at[..., d].set(indices[..., k].astype(jnp.int32))
    for k, d in zip(dims.scatter_indices_batching_dims, dims.operand_batching_dims):
        starts = starts.at[..., d].set(lax.broadcasted_iota(jnp.int32, places, k))
    starts = starts.reshape(-1, rank)
    room = jnp.array([n - size for n, size in zip(shape, sizes)], jnp.int32)

    def put(i, operands):
        start = starts[i]
        inside = jnp.all((start >= 0) & (start <= room))
        old = [lax.dynamic_slice(x, jnp.maximum(start, 0), sizes) for x in operands]
        new = jnp.vectorize(combine)(*old, *[u[i] for u in updates])
        new = new if isinstance(new, tuple) else (new,)
        new = [jnp.where(inside, n, o) for n, o in zip(new, old)]
        at = jnp.maximum(start, 0)
        return tuple(lax.dynamic_update_slice(x, n, at) for x, n in zip(operands, new))

    out = lax.fori_loop(0, starts.shape[0], put, tuple(operands))
    return out[0] if len(out) == 1 else out


def select_and_scatter(x, source, start, better, combine, sizes, strides, padding):
    """Chooses an element of every window and combines what source has for it into the result."""

    def keep(old, new):
        (a, i), (b, j) = old, new
        first = (j < 0) | ((i >= 0) & better(a, b))
        return jnp.where(first, a, b), jnp.where(first, i, j)

    places = jnp.arange(x.size, dtype=jnp.int32).reshape(x.shape)
    none = (jnp.zeros((), x.dtype), jnp.int32(-1))
    _, chosen = lax.reduce_window((x, places), none, keep, sizes, strides, padding)
    chosen, source = chosen.reshape(-1), source.reshape(-1)

    def put(i, out):
        old = lax.dynamic_index_in_dim(out, chosen[i], keepdims=False)
        new = jnp.where(chosen[i] < 0, old, combine(old, source[i]))
        return lax.dynamic_update_index_in_dim(out, new, chosen[i], 0)

    out = jnp.full(x.size, start, source.dtype)
    if combine is lax.add:
        return (
            out.at[jnp.where(chosen < 0, x.size, chosen)].add(source, mode="drop").reshape(x.shape)
        )
    return lax.fori_loop(0, source.size, put, out).reshape(x.shape)


def reduce_over(x, combine, axes, axis_index_groups=None):
    """Combines the arrays of the devices of a group, which JAX does with sum, max and min alone."""
    parts = lax.all_gather(x, axes, axis_index_groups=axis_index_groups)
    out = parts[0]
    for part in parts[1:]:
        out = jnp.vectorize(combine)(out, part)
    return out


def reduce_scatter_over(x, combine, axis, axes, axis_index_groups=None):
    """Combines the arrays of the devices of a group; every device keeps its part along an axis."""
    n = len(axis_index_groups[0]) if axis_index_groups else lax.psum(1, axes)
    parts = x.reshape(*x.shape[:axis], n, x.shape[axis] // n, *x.shape[axis + 1 :])
    parts = lax.all_to_all(parts, axes, axis, axis, tiled=True, axis_index_groups=axis_index_groups)
    parts = jnp.moveaxis(parts, axis, 0)
    out = parts[0]
    for part in parts[1:]:
        out = jnp.vectorize(combine)(out, part)
    return out


def copy_from(x, source, axes):
    """Copies the array of the device that source names for this one; zeros where it names none."""
    parts = lax.all_gather(x, axes)
    mine = jnp.array(source)[lax.axis_index(axes)]
    return jnp.where(mine < 0, jnp.zeros_like(x), parts[jnp.maximum(mine, 0)])


def no_info(x):
    """Returns the codes of factorizations that succeed; JAX gives NaN where they do not."""
    return jnp.zeros(x.shape[:-2], jnp.int32)


def adjoint(x):
    return jnp.conj(jnp.swapaxes(x, -1, -2))


def potrf(x, lower):
    """Returns Cholesky factors and codes."""
    factor = lax.linalg.cholesky(x if lower else adjoint(x), symmetrize_input=False)
    failed = jnp.any(jnp.isnan(factor), axis=(-2, -1)).astype(jnp.int32)
    return factor if lower else adjoint(factor), failed


def getrf(x):
    """Returns factors L and U, exchanged rows counted from one, and codes."""
    lu, pivots, _ = lax.linalg.lu(x)
    return lu, pivots + 1, no_info(x)


def geqrf(x):
    """Returns R above the reflectors of Q, and their factors."""
    packed, taus = jnp.linalg.qr(x, mode="raw")
    return jnp.swapaxes(packed, -1, -2), taus


def geqp3(x, fixed):
    """Returns R above the reflectors of Q, the order of columns counted from one, and the factors of the reflectors."""
    order = lax.linalg.qr(x, pivoting=True, full_matrices=False)[2]
    packed, taus = geqrf(jnp.take_along_axis(x, order[..., None, :], axis=-1))
    return packed, (order + 1).astype(fixed.dtype), taus


def syevd(x, lower):
    """Returns eigenvectors, eigenvalues and codes."""
    return *lax.linalg.eigh(x, lower=lower, symmetrize_input=False), no_info(x)


def geev(x, left, right):
    """Returns eigenvalues, of real matrices their real and imaginary parts, left and right eigenvectors, and codes."""
    values, *vectors = lax.linalg.eig(x, compute_left_eigenvectors=left, compute_right_eigenvectors=right)
    none = jnp.zeros(x.shape, values.dtype)
    parts = (values,) if values.dtype == x.dtype else (values.real, values.imag)
    return *parts, vectors.pop(0) if left else none, vectors.pop(0) if right else none, no_info(x)


def gesdd(x, full, vectors):
    """Returns the matrix, its singular values, left and right singular vectors, and codes."""
    if vectors:
        u, s, vt = lax.linalg.svd(x, full_matrices=full)
    else:
        s = lax.linalg.svd(x, compute_uv=False)
        u, vt = (jnp.zeros((*x.shape[:-2], n, n), x.dtype) for n in x.shape[-2:])
    return x, s, u, vt, no_info(x)


def gees(x):
    """Returns the Schur form, its vectors, the eigenvalues on its diagonal, how many were selected, and codes."""
    form, vectors = lax.linalg.schur(x)
    values = jnp.diagonal(form, axis1=-2, axis2=-1)
    if jnp.issubdtype(x.dtype, jnp.complexfloating):
        return form, vectors, values, no_info(x), no_info(x)
    pairs = -jnp.diagonal(form, 1, -2, -1) * jnp.diagonal(form, -1, -2, -1)
    first = jnp.sqrt(jnp.maximum(pairs, 0))
    room = [(0, 0)] * (x.ndim - 2)
    imaginary = jnp.pad(first, [*room, (0, 1)]) - jnp.pad(first, [*room, (1, 0)])
    return form, vectors, values, imaginary, no_info(x), no_info(x)


def gehrd(x):
    """Returns the Hessenberg form above the reflectors that make it, their factors, and codes."""
    return *lax.linalg.hessenberg(x), no_info(x)


def sytrd(x, lower):
    """Returns reflectors, the diagonal and off-diagonal that they make, their factors, and codes."""
    return *lax.linalg.tridiagonal(x, lower=lower), no_info(x)


def gtsv(low, diagonal, high, b):
    """Returns the diagonals, the solution of the tridiagonal system, and codes."""
    return low, diagonal, high, lax.linalg.tridiagonal_solve(low, diagonal, high, b), no_info(b)


def adjoint_last(found):
    """Changes right singular vectors in rows to columns."""
    x, s, u, vt, info = found
    return x, s, u, adjoint(vt), info


def vectors_swapped(found):
    """Puts right singular vectors before left ones."""
    x, s, u, vt, info = found
    return x, s, vt, u, info


def syrk(a, c, alpha, beta, transpose):
    """Returns alpha times the product of a with its transpose, and beta times c."""
    b = jnp.swapaxes(a, -1, -2)
    return alpha * (b @ a if transpose else a @ b) + beta * c


def cholesky_update(factor, x):
    """Returns the factor of the matrix with the product of x with itself added, and what is left of x."""
    return lax.linalg.cholesky_update(factor, x), jnp.zeros_like(x)


def threefry(k0, k1, x0, x1):
    """Returns counters x0, x1 enciphered with keys."""
    from jax.extend.random import threefry2x32_p

    return threefry2x32_p.bind(k0, k1, x0, x1)
