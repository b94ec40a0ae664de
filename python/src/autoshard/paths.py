"""Names of leaves by their path in a pytree, params/layers/0/w_up, and patterns of such names."""

from __future__ import annotations

import re
from typing import Any, Iterable


def name_of(path: Iterable[Any]) -> str:
    """Returns the name of a path of keys, as jax.tree_util gives them."""
    return "/".join(str(next(getattr(key, a) for a in ("key", "name", "idx") if hasattr(key, a))) for key in path)


def matches(pattern: str, name: str) -> bool:
    """Says whether a name fits a pattern: * stands for any characters within a part, ** for any number of parts."""
    expression = ""
    for token in re.split(r"(\*\*/|/\*\*|\*\*|\*)", pattern):
        expression += {"**/": "(?:.+/)?", "/**": "(?:/.+)?", "**": ".*", "*": "[^/]*"}.get(token) or re.escape(token)
    return re.fullmatch(expression, name) is not None


def find(pattern: str, names: list[str]) -> list[int]:
    """Returns the places of the names that fit a pattern, or that are below it: params stands for all of params."""
    return [i for i, name in enumerate(names) if matches(pattern, name) or name.startswith(pattern + "/")]
