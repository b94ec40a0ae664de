"""The functions of the package: plan, propagate, check, verify, load, hardware."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, Mapping, Sequence

from . import meshes, paths, programs, progress as bars, sizes, specs
from ._gen.autoshard.v1 import answers_pb, plan_pb, service_pb
from .client import Client
from .errors import Diagnostic, InvalidError, VerificationError, diagnostic
from .plans import Answer, Plan, Propagation


def plan(program: Any, *args: Any, mesh: meshes.MeshLike = None, hardware: str = "", memory: int | str | None = None, topology: str = "",
         pins: Mapping[str, Any] | None = None, forbid: Mapping[str, str | Sequence[str]] | None = None,
         budgets: Mapping[str, int | str] | None = None,
         trip_counts: int | Mapping[str, int] | None = None, without: Sequence[str] = (), whole_axes: bool = False,
         taste: float | None = None, steps: int = 0, seed: int = 0, search_memory: int | str | None = None, rules: Sequence[str] = (),
         dims: Sequence[str] = (), platform: str = "", static_argnums: int | Sequence[int] = (), static_argnames: str | Sequence[str] = (),
         donate_argnums: int | Sequence[int] = (), kwargs: Mapping[str, Any] | None = None, start: Plan | None = None,
         cache: str = "", progress: bool | None = None, timeout: float | None = None,
         client: Client | None = None) -> Plan:
    """Chooses shardings for a program.

    program: a function, jitted or not, with its arguments, arrays or jax.ShapeDtypeStruct; or a lowered one, a jax.export.Exported, the
        text of a model, or the path of a file with one. Shardings of arguments, of jax.jit and of with_sharding_constraint are kept.
    mesh: a JAX mesh, {"data": 4, "model": 2}, "data=4,model=2", or a number of devices, for which a mesh is chosen.
    hardware: name of a profile, such as tpu-v5p; autoshard.hardware() lists them.
    memory: bytes of a device, such as "16GB"; that of the hardware by default.
    pins: shardings of inputs and outputs by path, {"params/**/w_up": P(None, "model")}; None leaves the choice to the planner.
    forbid: axes that may not cut them, {"params/embed": "data"}.
    budgets: bytes that a step may send, {"all_gather": "64MiB", "all_reduce: data": "1GiB", "sent": "100MB/device"}.
    trip_counts: iterations of loops that the data ends, or of each by its line.
    static_argnums, static_argnames, donate_argnums: as jax.jit has them, for a function that is not jitted.
    kwargs: arguments by keyword.
    start: a plan of this program, or of one with other names or numbers of layers, that the search begins with.
    cache: what the cache of a server is used for: "none" of its plans; "like", to begin with the latest plan of a program like this one, too.
    timeout: seconds after which the best plan so far is the answer.

    The other options are those of the command line's `autoshard plan`. Errors are of autoshard.AutoshardError.
    """
    client = _patient(client or Client(), timeout).prepare()
    given = programs.read(program, args, kwargs, static_argnums=static_argnums, static_argnames=static_argnames,
                          donate_argnums=donate_argnums)
    loops = trip_counts if isinstance(trip_counts, Mapping) else {} if trip_counts is None else {"": trip_counts}
    request = service_pb.PlanRequest(
        source=given.source(), file_name=given.name, mesh=meshes.axes_of(mesh), devices=mesh if isinstance(mesh, int) else 0,
        hardware=hardware, memory=sizes.parse(memory), topology=topology, steps=steps, seed=seed, search_memory=sizes.parse(search_memory),
        without=list(without), whole_axes=whole_axes, taste=taste, rules=list(rules), sizes=list(dims), platform=platform,
        budgets=[_budget(what, most) for what, most in (budgets or {}).items()],
        trip_counts=[plan_pb.TripCount(loop=loop, count=count) for loop, count in loops.items()],
        pins=[plan_pb.Pin(value=value, sharding=specs.show(spec)) for path, spec in (pins or {}).items() for value in _values(given, path)],
        forbidden=[plan_pb.Forbid(value=value, axes=[axes] if isinstance(axes, str) else list(axes))
                   for path, axes in (forbid or {}).items() for value in _values(given, path)],
        from_=start.message if start is not None else None, cache=_cache_use(cache))
    with bars.bar(f"planning {given.name.removesuffix('.mlir')}", progress) as report:
        result = client.result("stream_plan", service_pb.StreamPlanRequest(plan=request), report)
    return Plan(result.plan, given, client, request, mesh)


def _values(program: programs.Program, path: str) -> list[str]:
    """Returns what requests call the values that fit a path: arg3, out0. Of a text the planner itself knows names and stars."""
    if program.inputs is None or program.outputs is None:
        return [path]
    inputs = [program.inputs.names[i] for i in program.inputs.kept]
    found = [f"arg{i}" for i in paths.find(path, inputs)] + [f"out{i}" for i in paths.find(path, program.outputs.names)]
    if not found:
        near = ", ".join(sorted({name.partition("/")[0] for name in inputs}))
        raise InvalidError(f"no input or output is called {path!r}; their paths begin with {near} or result")
    return found


def _cache_use(text: str) -> service_pb.CacheUse:
    try:
        return service_pb.CacheUse[text.upper() or "UNSPECIFIED"]
    except KeyError:
        raise InvalidError(f'cache must be "", "none" or "like", not {text!r}') from None


def _budget(what: str, most: int | str) -> plan_pb.Budget:
    """Returns the most bytes that collectives of a kind may send, along some axes or any: "all_reduce: data", "1GiB/device"."""
    kind, _, axes = what.partition(":")
    each = isinstance(most, str) and most.endswith("/device")
    return plan_pb.Budget(kind=kind.strip(), axes=[axis.strip() for axis in axes.split(",") if axis.strip()],
                          bytes=sizes.parse(most.removesuffix("/device") if isinstance(most, str) else most), each=each)


def _patient(client: Client, timeout: float | None) -> Client:
    return client if timeout is None else Client(client.url, token=client.token, timeout=timeout)


def propagate(program: Any, *args: Any, mesh: meshes.MeshLike = None, kwargs: Mapping[str, Any] | None = None,
              client: Client | None = None, **options: Any) -> Propagation:
    """Gives every value the sharding that follows from those in the program. Options are those of jax.jit, as plan takes them."""
    client = (client or Client()).prepare()
    given = programs.read(program, args, kwargs, **options)
    request = service_pb.PropagateRequest(source=given.source(), file_name=given.name, mesh=meshes.axes_of(mesh))
    return Propagation(client.call("propagate", request), given, mesh)


def check(program: Any, *args: Any, mesh: meshes.MeshLike = None, disable: Sequence[str] = (), kwargs: Mapping[str, Any] | None = None,
          client: Client | None = None, **options: Any) -> list[Diagnostic]:
    """Verifies a program and returns warnings about what is legal but probably not meant. A program that is wrong is an error."""
    client = (client or Client()).prepare()
    given = programs.read(program, args, kwargs, **options)
    request = service_pb.CheckRequest(source=given.message(), mesh=meshes.axes_of(mesh), disabled=list(disable))
    return [diagnostic(message) for message in client.call("check", request).warnings]


def verify(function: Any, plan: Plan, *args: Any, relative: float | None = None, absolute: float = 0.0,
           progress: bool | None = None) -> Answer:
    """Runs a plan on virtual devices, proves every value that they compute, and compares the results with those of the function.

    The arguments are those of the function, without static ones. A plan that computes something else is a VerificationError.
    """
    from . import arrays

    request = service_pb.VerifyRequest(plan=plan.message, relative=relative, absolute=absolute, **arrays.of(function, plan, args))
    with bars.bar("verifying", progress) as report:
        result = plan._client.result("verify", request, report)
    if not result.verification.passed:
        raise VerificationError(result.text)
    return Answer(result.verification, result.text)


def load(path: str | os.PathLike[str], program: Any = None, *args: Any, mesh: Any = None, client: Client | None = None,
         **options: Any) -> Plan:
    """Reads a plan.json. With the function and arguments that it was made for it has their pytrees, too."""
    text = Path(path).read_text(encoding="utf-8")
    given = programs.Program("", os.fspath(path)) if program is None else programs.read(program, args, **options)
    return Plan(plan_pb.Plan.from_json(text, ignore_unknown_fields=True), given, client or Client(), mesh=mesh)


def hardware(client: Client | None = None) -> dict[str, answers_pb.HardwareProfile]:
    """Returns the built-in hardware profiles by name."""
    return {p.name: p for p in (client or Client()).call("list_hardware", service_pb.ListHardwareRequest()).profiles}
