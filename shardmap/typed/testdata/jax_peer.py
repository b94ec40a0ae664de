"""Runs random programs, given as JSON one a line, with jax.shard_map, and answers with one line of JSON each.

A program has a mesh, manual axes, inputs, steps, and outputs with specs; values have numbers, each step says which it
takes (in) and which it makes (out), and steps of control flow have bodies with params, steps and results. An answer
has the types of all values, the results, and, with vjp set, the derivatives by all inputs of floats for cotangents
(7k mod 5) - 2 together with the number of collectives that depend on these; or the error. Arrays are float64 in
base64.
"""
import base64
import json
import os
import sys

os.environ["XLA_FLAGS"] = ("--xla_force_host_platform_device_count=16 --xla_backend_optimization_level=0 "
                           "--xla_llvm_disable_expensive_passes=true --xla_allow_excess_precision=false")
os.environ["JAX_PLATFORMS"] = "cpu"
os.environ["JAX_ENABLE_COMPILATION_CACHE"] = "false"
import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.sharding import Mesh, PartitionSpec as P

DTYPES = {"f32": jnp.float32, "bf16": jnp.bfloat16, "f16": jnp.float16, "i32": jnp.int32, "i8": jnp.int8, "ui8": jnp.uint8, "i1": jnp.bool_}


def square_plus_1(x):
    return lax.add(lax.mul(x, x), lax.full(x.shape, 1, x.dtype))


def near_sine(x):
    return lax.mul(lax.sin(x), lax.full(x.shape, 0.875, x.dtype))


UNARY = {
    "neg": lax.neg, "abs": lax.abs, "sign": lax.sign, "floor": lax.floor, "ceil": lax.ceil, "tanh": lax.tanh, "logistic": lax.logistic,
    "sin": lax.sin, "cos": lax.cos, "erf": lax.erf, "erfc": lax.erfc, "atan": lax.atan, "asinh": lax.asinh, "square": lax.square,
    "round_even": lambda x: lax.round(x, lax.RoundingMethod.TO_NEAREST_EVEN),
    "round_away": lambda x: lax.round(x, lax.RoundingMethod.AWAY_FROM_ZERO),
    "is_finite": lax.is_finite, "not": lax.bitwise_not, "popcnt": lax.population_count, "clz": lax.clz,
    "exp": lambda x: lax.exp(lax.sin(x)), "expm1": lambda x: lax.expm1(lax.sin(x)), "tan": lambda x: lax.tan(lax.sin(x)),
    "sinh": lambda x: lax.sinh(lax.sin(x)), "cosh": lambda x: lax.cosh(lax.sin(x)),
    "log": lambda x: lax.log(square_plus_1(x)), "log1p": lambda x: lax.log1p(lax.mul(x, x)), "sqrt": lambda x: lax.sqrt(square_plus_1(x)),
    "rsqrt": lambda x: lax.rsqrt(square_plus_1(x)), "cbrt": lambda x: lax.cbrt(square_plus_1(x)),
    "asin": lambda x: lax.asin(near_sine(x)), "acos": lambda x: lax.acos(near_sine(x)), "atanh": lambda x: lax.atanh(near_sine(x)),
    "acosh": lambda x: lax.acosh(lax.add(square_plus_1(x), lax.full(x.shape, 1, x.dtype))),
    "lgamma": lambda x: lax.lgamma(square_plus_1(x)), "erf_inv": lambda x: lax.erf_inv(near_sine(x)),
    "digamma": lambda x: lax.digamma(square_plus_1(x)), "barrier": lax.optimization_barrier,
    "half_precision": lambda x: lax.reduce_precision(x, 5, 10),
}


def nonzero(y):
    return square_plus_1(y) if jnp.issubdtype(y.dtype, jnp.floating) else lax.bitwise_or(y, lax.full(y.shape, 1, y.dtype))


BINARY = {
    "add": lax.add, "sub": lax.sub, "mul": lax.mul, "max": lax.max, "min": lax.min, "and": lax.bitwise_and, "or": lax.bitwise_or,
    "xor": lax.bitwise_xor, "shl": lax.shift_left, "sra": lax.shift_right_arithmetic, "srl": lax.shift_right_logical,
    "div": lambda x, y: lax.div(x, nonzero(y)), "rem": lambda x, y: lax.rem(x, nonzero(y)),
    "pow": lambda x, y: lax.pow(square_plus_1(x), lax.sin(y)), "atan2": lambda x, y: lax.atan2(x, square_plus_1(y)),
}
COMPARE = {"EQ": lax.eq, "NE": lax.ne, "LT": lax.lt, "LE": lax.le, "GT": lax.gt, "GE": lax.ge}
REDUCE = {"sum": lax.reduce_sum, "max": lax.reduce_max, "min": lax.reduce_min, "prod": lax.reduce_prod, "and": lax.reduce_and, "or": lax.reduce_or}
CUMULATIVE = {"sum": lax.cumsum, "max": lax.cummax, "min": lax.cummin, "prod": lax.cumprod}
WINDOW = {"sum": (0, lax.add), "max": (-np.inf, lax.max), "min": (np.inf, lax.min)}
SCATTER = {"add": lax.scatter_add, "set": lax.scatter, "min": lax.scatter_min, "max": lax.scatter_max}


def varying(x):
    return sorted(jax.typeof(x).manual_axis_type.varying)


class Program:
    def __init__(self, p):
        self.p = p
        self.sizes = dict(map(tuple, p["mesh"]))
        self.types = {}

    def bind(self, env, numbers, values):
        for k, v in zip(numbers, values, strict=True):
            env[k] = v
            if not self.p.get("unchecked"):
                self.types[k] = varying(v)

    def steps(self, steps, env):
        for s in steps:
            out = self.step(s, [env[i] for i in s.get("in") or ()], env)
            self.bind(env, s["out"], out if isinstance(out, (list, tuple)) else [out])

    def body(self, body, env, args):
        env = dict(env)
        self.bind(env, body.get("params") or (), args)
        self.steps(body.get("steps") or (), env)
        return tuple(env[r] for r in body["results"])

    def step(self, s, x, env):
        op = s["op"]
        if hasattr(self, "do_" + op):
            return getattr(self, "do_" + op)(s, x, env)
        return self.local(s, x)

    def local(self, s, x):
        op, mode, dims = s["op"], s.get("mode"), s.get("dims") or []
        if op == "const":
            return jnp.full(s.get("shape") or (), s["value"], DTYPES[s["dtype"]])
        if op == "iota":
            return lax.broadcasted_iota(DTYPES[s["dtype"]], s["shape"], s["dim"])
        if op == "unary":
            return UNARY[mode](x[0])
        if op == "binary":
            return BINARY[mode](x[0], x[1])
        if op == "with":
            return (lax.rem if mode == "rem" else BINARY[mode])(x[0], jnp.full(x[0].shape, s["value"], x[0].dtype))
        if op == "compare":
            return COMPARE[mode](x[0], x[1])
        if op == "select":
            return lax.select(x[0], x[1], x[2])
        if op == "clamp":
            return lax.clamp(x[0], x[1], x[2])
        if op == "convert":
            return lax.convert_element_type(x[0], DTYPES[s["dtype"]])
        if op == "reshape":
            return lax.reshape(x[0], s.get("shape") or ())
        if op == "transpose":
            return lax.transpose(x[0], dims)
        if op == "broadcast":
            return lax.broadcast_in_dim(x[0], s["shape"], dims)
        if op == "reverse":
            return lax.rev(x[0], dims)
        if op == "slice":
            return lax.slice(x[0], s["low"], s["high"], s["interior"])
        if op == "pad":
            return lax.pad(x[0], x[1], list(zip(s["low"], s["high"], s["interior"])))
        if op == "concatenate":
            return lax.concatenate(x, s["dim"])
        if op == "dot":
            return lax.dot_general(x[0], x[1], tuple(tuple(dims or () for dims in s[k]) for k in ("contract", "batch")))
        if op == "reduce":
            return REDUCE[mode](x[0], dims)
        if op == "cumulative":
            return CUMULATIVE[mode](x[0], axis=s["dim"], reverse=s["reverse"])
        if op == "window":
            init, f = WINDOW[mode]
            return lax.reduce_window(x[0], np.asarray(init, x[0].dtype), f, s["shape"], s["interior"], list(zip(s["low"], s["high"])))
        if op == "sort":
            return lax.sort(tuple(x), dimension=s["dim"], is_stable=True, num_keys=1)
        if op == "take":
            sizes = list(x[0].shape)
            sizes[s["dim"]] = 1
            offset = [d for d in range(x[0].ndim) if d != s["dim"]]
            n = lax.GatherDimensionNumbers(offset_dims=tuple(offset), collapsed_slice_dims=(s["dim"],), start_index_map=(s["dim"],))
            return lax.gather(x[0], lax.reshape(x[1], (x[1].shape[0], 1)), n, tuple(sizes), mode="clip")
        if op == "scatter":
            window = [d for d in range(x[0].ndim) if d != s["dim"]]
            n = lax.ScatterDimensionNumbers(update_window_dims=tuple(window), inserted_window_dims=(s["dim"],), scatter_dims_to_operand_dims=(s["dim"],))
            return SCATTER[mode](x[0], lax.reshape(x[1], (x[1].shape[0], 1)), x[2], n, unique_indices=mode == "set", mode="drop")
        if op == "dynamic_slice":
            return lax.dynamic_slice(x[0], x[1:], s["shape"], allow_negative_indices=False)
        if op == "dynamic_update_slice":
            return lax.dynamic_update_slice(x[0], x[1], x[2:], allow_negative_indices=False)
        if op == "conv":
            spatial = "XY"[:x[0].ndim - 2]
            form = s["form"].replace("S", spatial).split(",")
            return lax.conv_general_dilated(x[0], x[1], s["shape"], list(zip(s["low"], s["high"])), lhs_dilation=s["interior"], rhs_dilation=dims,
                                            dimension_numbers=tuple(form), feature_group_count=s["length"], batch_group_count=s["source"])
        raise KeyError(op)

    def do_collective(self, s, x, env):
        mode, axes = s["mode"], tuple(s.get("axes") or ())
        groups, tiled, dim = s.get("groups"), not s.get("untiled"), s.get("dim", 0)
        if mode in ("psum", "pmax", "pmin", "pmean"):
            return getattr(lax, mode)(x[0], axes, axis_index_groups=groups)
        if mode == "all_gather":
            return lax.all_gather(x[0], axes, axis=dim, tiled=tiled, axis_index_groups=groups)
        if mode == "all_gather_invariant":
            return lax.all_gather(x[0], axes, axis=dim, tiled=tiled, to="invarying")
        if mode == "psum_scatter":
            return lax.psum_scatter(x[0], axes, scatter_dimension=dim, tiled=tiled, axis_index_groups=groups)
        if mode == "all_to_all":
            return lax.all_to_all(x[0], axes, dim, s["concat"], tiled=tiled, axis_index_groups=groups)
        if mode == "ppermute":
            return lax.ppermute(x[0], axes, [tuple(p) for p in s.get("perm") or ()])
        if mode == "pshuffle":
            return lax.pshuffle(x[0], axes, s["dims"])
        if mode == "axis_index":
            return lax.axis_index(axes)
        if mode == "cast":
            return lax.pcast(x[0], axes, to="varying")
        n = int(np.prod([self.sizes[a] for a in axes]))
        if mode == "pscatter":
            size = x[0].shape[dim] // n
            return lax.dynamic_slice_in_dim(x[0], lax.axis_index(axes) * size, size, dim, allow_negative_indices=False)
        if mode == "pbroadcast":
            here = lax.axis_index(axes) == s.get("source", 0)
            y = lax.psum(jnp.where(here, x[0], jnp.zeros_like(x[0])), axes)
            return y if self.p.get("unchecked") else lax.pcast(y, axes, to="varying")
        raise KeyError(mode)

    def do_scan(self, s, x, env):
        n, body = s["length"], s["bodies"][0]
        carries = s["source"]

        def f(c, row):
            out = self.body(body, env, c + row)
            return out[:carries], out[carries:]
        last, ys = lax.scan(f, tuple(x[:carries]), tuple(x[carries:]), length=n, reverse=s["reverse"])
        return last + ys

    def do_while(self, s, x, env):
        limit = x[0] if s["mode"] == "dynamic" else s["length"]
        init = tuple(x[1:] if s["mode"] == "dynamic" else x)
        return lax.while_loop(lambda c: c[0] < limit, lambda c: (c[0] + 1,) + self.body(s["bodies"][0], env, c[1:]), (jnp.int32(0),) + init)[1:]

    def do_cond(self, s, x, env):
        branches = [lambda b=b: self.body(b, env, ()) for b in s["bodies"]]
        if x[0].dtype == jnp.bool_:
            return lax.cond(x[0], branches[1], branches[0])
        return lax.switch(x[0], branches)


def spec(dims):
    return P(*[None if not d else d[0] if len(d) == 1 else tuple(d) for d in dims or ()])


COLLECTIVES = {"psum", "psum_invariant", "pmax", "pmin", "all_gather", "all_gather_invariant", "reduce_scatter", "all_to_all", "ppermute", "pbroadcast"}


def count(jaxpr, tainted):
    """Returns how many collectives depend on the tainted inputs, and which outputs do."""
    jaxpr = getattr(jaxpr, "jaxpr", jaxpr)
    marked, n = {v for v, t in zip(jaxpr.invars, tainted) if t}, 0
    for eqn in jaxpr.eqns:
        given = [not hasattr(v, "val") and v in marked for v in eqn.invars]
        if not any(given):
            continue
        name = eqn.primitive.name
        out = [True] * len(eqn.outvars)
        if name in COLLECTIVES:
            n += 1
        elif name == "cond":
            inner = [count(b, given[1:]) for b in eqn.params["branches"]]
            n += sum(k for k, _ in inner)
            out = [any(t) for t in zip(*[o for _, o in inner])]
        elif name == "scan":
            first, carries = (len(part) for part in eqn.params["ft_in"].unpack()[:2])
            while True:
                k, out = count(eqn.params["jaxpr"], given)
                new = [g or first <= i < first + carries and out[i - first] for i, g in enumerate(given)]
                if new == given:
                    break
                given = new
            n += k
        elif name == "while":
            n += count(eqn.params["body_jaxpr"], [True] * len(getattr(eqn.params["body_jaxpr"], "jaxpr", 0).invars))[0]
        else:
            for sub in eqn.params.values():
                sub = getattr(sub, "jaxpr", sub)
                if hasattr(sub, "eqns") and len(sub.invars) == len(given):
                    k, out = count(sub, given)
                    n += k
        marked.update(v for v, t in zip(eqn.outvars, out) if t)
    return n, [not hasattr(v, "val") and v in marked for v in jaxpr.outvars]


def pack(arrays):
    return [base64.b64encode(np.asarray(a).astype(np.float64).tobytes()).decode() for a in arrays]


MESHES = {}


def mesh_of(p):
    key = json.dumps(p["mesh"])
    if key not in MESHES:
        sizes = [n for _, n in p["mesh"]]
        MESHES[key] = Mesh(np.array(jax.devices()[:int(np.prod(sizes))]).reshape(sizes), [a for a, _ in p["mesh"]])
    return MESHES[key]


def failure(e):
    return {"class": type(e).__name__, "text": str(e).strip()[:400]}


def run(p):
    program = Program(p)

    def f(*args):
        env = {}
        program.bind(env, range(len(args)), args)
        program.steps(p.get("steps") or (), env)
        return tuple(env[o["value"]] for o in p["outputs"])

    args = [np.array(i["data"], DTYPES[i["dtype"]]).reshape(i.get("shape") or ()) for i in p["inputs"]]
    g = jax.shard_map(f, mesh=mesh_of(p), check_vma=not p.get("unchecked", False), axis_names=set(p["manual"]),
                      in_specs=tuple(spec(i.get("spec")) for i in p["inputs"]), out_specs=tuple(spec(o.get("spec")) for o in p["outputs"]))
    answer = {}
    if p.get("vjp"):
        try:
            return derivatives(p, program, g, args)
        except Exception as e:
            answer["vjpError"] = failure(e)
    traced = jax.jit(g).trace(*args)
    if not p.get("traceOnly"):
        answer["results"] = pack(traced.lower().compile()(*args))
    answer["types"] = program.types
    return answer


def derivatives(p, program, g, args):
    floats = [k for k, a in enumerate(args) if jnp.issubdtype(a.dtype, jnp.floating)]

    def all(cts, *args):
        def h(*xs):
            full = list(args)
            for k, x in zip(floats, xs):
                full[k] = x
            return g(*full)
        out, pull = jax.vjp(h, *[args[k] for k in floats])
        full = []
        for o, c in zip(out, cts, strict=True):
            full.append(c if jnp.issubdtype(o.dtype, jnp.floating) else np.zeros(o.shape, jax.dtypes.float0))
        return out, pull(tuple(full))

    shapes = jax.eval_shape(g, *args)
    cts = [np.asarray(np.arange(o.size) * 7 % 5 - 2).reshape(o.shape).astype(o.dtype) for o in shapes]
    traced = jax.jit(all).trace(cts, *args)
    n, _ = count(traced.jaxpr, [k < len(cts) for k in range(len(cts) + len(args))])
    out, grads = traced.lower().compile()(cts, *args)
    return {"types": program.types, "results": pack(out), "grads": pack(grads), "communication": n}


for line in sys.stdin:
    try:
        answer = run(json.loads(line))
    except Exception as e:
        answer = {"error": failure(e)}
    print(json.dumps(answer), flush=True)
