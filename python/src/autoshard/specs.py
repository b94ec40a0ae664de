"""PartitionSpecs as text, which plans and pins have them in."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import jax


def parse(text: str) -> tuple[Any, ...]:
    """Returns the entries of P('data', ('x', 'y'), None): names, tuples of names, and None."""
    return ast.literal_eval("(" + text.strip().removeprefix("P(").removesuffix(")") + ",)") if text not in ("", "P()") else ()


def partition_spec(text: str) -> jax.sharding.PartitionSpec:
    """Returns the PartitionSpec of a text."""
    from jax.sharding import PartitionSpec

    return PartitionSpec(*parse(text))


def show(spec: Any) -> str:
    """Writes what a user gives as a sharding: a PartitionSpec, a NamedSharding, a text in Shardy's or JAX's form, or None for a free one."""
    if spec is None:
        return ""
    if isinstance(spec, str):
        return spec
    entries = [repr(tuple(e) if isinstance(e, list) else e) for e in getattr(spec, "spec", spec)]
    return f"P({', '.join(entries)})"
