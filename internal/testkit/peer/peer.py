"""Runs StableHLO programs on a real peer: XLA for CPU, or the reference evaluator of StableHLO in jaxlib.

usage: peer.py xla|evaluator. Reads one JSON object per line, {"text": module, "args": [{"dtype", "shape", "data"}]} with base64
little-endian data, and answers each with {"results": [...]} or {"error": message}. Results of XLA have the same form, those of the
evaluator are {"texts": [...]}: the constant as MLIR writes it, or of complex numbers the two constants of their parts.
"""

import base64
import json
import os
import signal
import sys

os.environ["JAX_PLATFORMS"] = "cpu"
os.environ["XLA_FLAGS"] = " ".join((
    os.environ.get("XLA_FLAGS", ""),
    "--xla_cpu_enable_concurrency_optimized_scheduler=false",  # it may run a kernel before the one that writes its operand
    "--xla_backend_optimization_level=0 --xla_llvm_disable_expensive_passes=true",  # each program runs once: compile fast
    "--xla_cpu_parallel_codegen_split_count=1",
))
LIMIT = 60  # seconds of a program, after which the process ends


def xla():
    """A function that runs a program on XLA for CPU."""
    import jax
    import ml_dtypes
    import numpy as np
    from jax._src import compiler
    from jax._src.interpreters import mlir
    from jax._src.lib import xla_client
    from jaxlib.mlir import ir

    jax.config.update("jax_enable_x64", True)
    dtypes = {
        "i1": np.bool_, "i2": ml_dtypes.int2, "i4": ml_dtypes.int4, "i8": np.int8, "i16": np.int16, "i32": np.int32, "i64": np.int64,
        "ui2": ml_dtypes.uint2, "ui4": ml_dtypes.uint4, "ui8": np.uint8, "ui16": np.uint16, "ui32": np.uint32, "ui64": np.uint64,
        "f4E2M1FN": ml_dtypes.float4_e2m1fn, "f6E2M3FN": ml_dtypes.float6_e2m3fn, "f6E3M2FN": ml_dtypes.float6_e3m2fn,
        "f8E3M4": ml_dtypes.float8_e3m4, "f8E4M3": ml_dtypes.float8_e4m3, "f8E4M3B11FNUZ": ml_dtypes.float8_e4m3b11fnuz,
        "f8E4M3FN": ml_dtypes.float8_e4m3fn, "f8E4M3FNUZ": ml_dtypes.float8_e4m3fnuz, "f8E5M2": ml_dtypes.float8_e5m2,
        "f8E5M2FNUZ": ml_dtypes.float8_e5m2fnuz, "f8E8M0FNU": ml_dtypes.float8_e8m0fnu, "bf16": ml_dtypes.bfloat16,
        "f16": np.float16, "f32": np.float32, "f64": np.float64, "complex<f32>": np.complex64, "complex<f64>": np.complex128,
    }
    names = {np.dtype(v): k for k, v in dtypes.items()}
    device = jax.devices()[0]

    def run(request):
        args = [np.frombuffer(base64.b64decode(a["data"]), dtypes[a["dtype"]]).reshape(a["shape"]) for a in request["args"]]
        with mlir.make_ir_context(), ir.Location.unknown():
            module = ir.Module.parse(request["text"])
            options = compiler.get_compile_options(num_replicas=1, num_partitions=1)
            devices = xla_client.DeviceList((device,))
            exe = compiler.backend_compile_and_load(device.client, module, devices, options, [])
        found = exe.execute_sharded([jax.device_put(a, device) for a in args]).disassemble_into_single_device_arrays()
        arrays = [np.asarray(y[0]) for y in found]
        data = [base64.b64encode(np.ascontiguousarray(y).tobytes()).decode() for y in arrays]
        return {"results": [{"dtype": names[y.dtype], "shape": list(y.shape), "data": d} for y, d in zip(arrays, data)]}

    return run


def evaluator():
    """A function that runs a program on the evaluator, in a process of its own: it ends the process with what it does not know."""
    from jaxlib.mlir import ir, passmanager
    from jaxlib.mlir._mlir_libs import _jax_mlir_ext
    from jaxlib.mlir.dialects import chlo, func, stablehlo

    stablehlo.register_stablehlo_passes()
    registry = ir.DialectRegistry()
    _jax_mlir_ext.register_dialects(registry)

    def is_complex(value):
        return isinstance(ir.RankedTensorType(value.type).element_type, ir.ComplexType)

    def split(module):
        """Takes complex arguments and results apart, as Python cannot have them: parts of arguments follow all others, those of results
        stand in their place. Returns which are complex."""
        main = module.body.operations[0]
        block = main.regions[0].blocks[0]
        last = list(block.operations)[-1]
        complexes = [is_complex(v) for v in block.arguments]
        with ir.InsertionPoint.at_block_begin(block):
            for v in list(block.arguments):
                if is_complex(v):
                    whole = ir.RankedTensorType(v.type)
                    part = ir.RankedTensorType.get(whole.shape, ir.ComplexType(whole.element_type).element_type)
                    pair = [block.add_argument(part, ir.Location.unknown()) for _ in range(2)]
                    v.replace_all_uses_with(stablehlo.complex(*pair))
        for i in reversed(range(len(complexes))):
            if complexes[i]:
                block.erase_argument(i)
        results, parts = [], []
        with ir.InsertionPoint(last):
            for v in last.operands:
                results.append(is_complex(v))
                parts += [stablehlo.real(v), stablehlo.imag(v)] if results[-1] else [v]
            func.ReturnOp(parts)
        last.erase()
        main.attributes["function_type"] = ir.TypeAttr.get(
            ir.FunctionType.get([a.type for a in block.arguments], [p.type for p in parts]))
        for name in ("arg_attrs", "res_attrs"):
            if name in main.attributes:
                del main.attributes[name]
        return complexes, results

    def constants(array, complex):
        """The constant that an argument is, or the two of its parts."""
        data, width, element = base64.b64decode(array["data"]), 0, array["dtype"]
        if complex:
            element = element.removeprefix("complex<").removesuffix(">")
            width = int(element[1:]) // 8
        for first in (0, width)[: 1 + complex]:
            part = b"".join(data[at : at + width] for at in range(first, len(data), 2 * width)) if complex else data
            of = "x".join([str(n) for n in array["shape"]] + [element])
            yield ir.Attribute.parse(f'dense<"0x{part.hex()}"> : tensor<{of}>' if part else f"dense<> : tensor<{of}>")

    def evaluate(request):
        context = ir.Context()
        context.append_dialect_registry(registry)
        context.enable_multithreading(False)
        for dialect in (stablehlo, chlo):
            dialect.register_dialect(context)
        context.load_all_available_dialects()
        with context, ir.Location.unknown():
            module = ir.Module.parse(request["text"])
            passmanager.PassManager.parse("builtin.module(func.func(chlo-legalize-to-stablehlo))").run(module.operation)
            arguments, results = split(module)
            order = sorted(range(len(arguments)), key=lambda i: arguments[i])
            args = [c for i in order for c in constants(request["args"][i], arguments[i])]
            texts = iter([str(y) for y in stablehlo.eval_module(module, args)])
            return {"results": [{"texts": [next(texts) for _ in range(1 + complex)]} for complex in results]}

    def run(request):
        results, write = os.pipe()
        errors = os.memfd_create("errors")
        child = os.fork()
        if child == 0:
            os.dup2(errors, 2)
            signal.alarm(LIMIT)
            with os.fdopen(write, "w") as out:
                out.write(json.dumps(answer(evaluate, request)))
            os._exit(0)
        os.close(write)
        with os.fdopen(results) as found:
            text = found.read()
        os.waitpid(child, 0)
        with os.fdopen(errors, "rb") as said:
            said.seek(0)
            last = said.read().decode(errors="replace").strip().splitlines()[:1]
        return json.loads(text) if text else {"error": "crashed: " + (last or ["without a word"])[0]}

    return run


def answer(run, request):
    try:
        return run(request)
    except Exception as error:  # refusals have many classes
        return {"error": " ".join(str(error).split())[:400] or repr(error)}


if __name__ == "__main__":
    run = {"xla": xla, "evaluator": evaluator}[sys.argv[1]]()
    for line in sys.stdin:
        if sys.argv[1] == "xla":
            signal.alarm(LIMIT)
        reply = json.dumps(answer(run, json.loads(line)))
        signal.alarm(0)
        print(reply, flush=True)
