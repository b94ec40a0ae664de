"""What a user hands in - a function, a jitted, lowered or exported one, or text - as a program, with the pytrees around it.

This module is the only one that asks JAX what a program is; it imports JAX where it is given something of JAX.
"""

from __future__ import annotations

import dataclasses
import inspect
import os
from typing import Any, Callable, Mapping, Sequence

from . import paths
from ._gen.autoshard.v1 import service_pb
from .errors import InvalidError


@dataclasses.dataclass(frozen=True)
class Tree:
    """A pytree of arguments or results: its structure, and a name for each leaf."""

    structure: Any  # jax.tree_util.PyTreeDef
    names: list[str]
    kept: list[int]  # leaves that the program has, in its order: JAX drops arguments that are not used


@dataclasses.dataclass(frozen=True)
class Calling:
    """How a function is called: what of jax.jit's options it takes, and how many of its arguments are by keyword."""

    function: Callable[..., Any]
    static_argnums: tuple[int, ...] = ()
    static_argnames: tuple[str, ...] = ()
    donate_argnums: tuple[int, ...] = ()
    keywords: bool = False
    donated: tuple[int, ...] = ()  # the same, counted without static arguments


@dataclasses.dataclass(frozen=True)
class Program:
    """A program, and what is around it where it is known: not of a text."""

    content: str | bytes
    name: str
    inputs: Tree | None = None
    outputs: Tree | None = None
    calling: Calling | None = None

    def source(self) -> Any:
        """Returns the content as the field source of requests."""
        from protobuf import Oneof

        return Oneof("text", self.content) if isinstance(self.content, str) else Oneof("artifact", self.content)

    def message(self, sizes: Sequence[str] = (), platform: str = "", rules: Sequence[str] = ()) -> service_pb.Source:
        """Returns the message of requests that are about the program alone."""
        return service_pb.Source(source=self.source(), file_name=self.name, sizes=list(sizes), platform=platform, rules=list(rules))


def read(given: Any, args: Sequence[Any] = (), kwargs: Mapping[str, Any] | None = None, *, static_argnums: Any = (),
         static_argnames: Any = (), donate_argnums: Any = ()) -> Program:
    """Returns the program of a function with these arguments, of a lowered or exported one, of a text, or of the file at a path."""
    if isinstance(given, os.PathLike):
        with open(given, "rb") as file:
            content = file.read()
        return Program(content, os.fspath(given))
    if isinstance(given, (str, bytes)):
        return Program(given, "model")
    import jax

    if isinstance(given, jax.export.Exported):
        return _exported(given)
    if isinstance(given, jax.stages.Lowered):
        return _lowered(given, None, given.args_info)
    if not callable(given):
        raise InvalidError(f"{given!r} is not a function, a lowered or exported one, a text or a path")
    return _traced(given, args, kwargs or {}, jax.jit(given, static_argnums=static_argnums, static_argnames=static_argnames,
                                                      donate_argnums=donate_argnums) if not hasattr(given, "trace") else given)


def _traced(function: Any, args: Sequence[Any], kwargs: Mapping[str, Any], jitted: Any) -> Program:
    import jax

    traced = jitted.trace(*args, **kwargs)
    info = jitted._jit_info  # JAX tells the options of a jitted function nowhere else
    donated = [i for i, arg in enumerate(traced.args_info[0]) if any(leaf.donated for leaf in jax.tree.leaves(arg))]
    dynamic = [i for i in range(len(args)) if i not in _positions(info.static_argnums, len(args))]
    calling = Calling(inspect.unwrap(function), tuple(info.static_argnums), tuple(info.static_argnames),
                      tuple(dynamic[i] for i in donated), bool(kwargs),
                      tuple(donated))
    platforms = {"lowering_platforms": (jax.default_backend(),)}  # needed where a sharding is over a mesh without devices
    return _lowered(traced.lower(**platforms), calling, traced.args_info, _argument_names(function, args, dynamic))


def _positions(argnums: Sequence[int], count: int) -> set[int]:
    return {n % count if count else n for n in argnums}


def _argument_names(function: Any, args: Sequence[Any], dynamic: Sequence[int]) -> list[str]:
    """Returns what the function calls its arguments, without those that are static."""
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        return []
    names = []
    for i in range(len(args)):
        parameter = parameters[min(i, len(parameters) - 1)]
        rest = parameter.kind is inspect.Parameter.VAR_POSITIONAL
        names.append(f"{parameter.name}/{i - len(parameters) + 1}" if rest else parameter.name)
    return [names[i] for i in dynamic]


def _lowered(lowered: Any, calling: Calling | None, args_info: Any, names: Sequence[str] = ()) -> Program:
    import jax

    inputs, structure = jax.tree_util.tree_flatten_with_path(args_info)
    kept = getattr(lowered, "_lowering").compile_args.get("kept_var_idx")  # JAX tells it nowhere else, but in exports
    outputs, out_structure = jax.tree_util.tree_flatten_with_path(lowered.out_info)
    return Program(
        lowered.as_text(debug_info=True), getattr(getattr(calling, "function", None), "__name__", "model") + ".mlir",
        Tree(structure, [_input_name(path, names) for path, _ in inputs], sorted(kept) if kept is not None else list(range(len(inputs)))),
        Tree(out_structure, [_output_name(path) for path, _ in outputs], list(range(len(outputs)))), calling)


def _input_name(path: Sequence[Any], names: Sequence[str]) -> str:
    """Names a leaf of (args, kwargs): params/w, or args/0/w where the names of arguments are not known."""
    keyword, rest = path[0].idx == 1, path[1:]
    if keyword:
        return paths.name_of(rest)
    at = rest[0].idx
    return "/".join(part for part in (names[at] if at < len(names) else f"args/{at}", paths.name_of(rest[1:])) if part)


def _output_name(path: Sequence[Any]) -> str:
    return "/".join(part for part in ("result", paths.name_of(path)) if part)


def _exported(exported: Any) -> Program:
    import jax

    def leaves(structure: Any) -> list[Any]:
        return jax.tree_util.tree_flatten_with_path(jax.tree.unflatten(structure, range(structure.num_leaves)))[0]

    return Program(
        exported.mlir_module(), f"{exported.fun_name}.mlir",
        Tree(exported.in_tree, [_input_name(path, ()) for path, _ in leaves(exported.in_tree)], list(exported.module_kept_var_idx)),
        Tree(exported.out_tree, [_output_name(path) for path, _ in leaves(exported.out_tree)], list(range(exported.out_tree.num_leaves))),
        Calling(exported.call))
