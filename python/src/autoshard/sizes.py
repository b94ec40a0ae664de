"""Sizes in bytes, as people write them."""

from __future__ import annotations

import re

_UNITS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12, "ki": 2**10, "mi": 2**20, "gi": 2**30, "ti": 2**40}


def parse(size: int | float | str | None) -> int:
    """Returns bytes: of a number, or of a text such as 16GB or 64MiB. None is 0."""
    if size is None or isinstance(size, (int, float)):
        return int(size or 0)
    match = re.fullmatch(r"\s*([0-9.]+)\s*([kmgt]i?)?b?\s*", size, re.IGNORECASE)
    if match is None:
        raise ValueError(f"{size!r} is not a size such as 16GB or 64MiB")
    return int(float(match[1]) * _UNITS[(match[2] or "").lower()])


def show(size: float) -> str:
    """Writes bytes for people."""
    for unit in ("B", "KiB", "MiB", "GiB"):
        if abs(size) < 1024:
            return f"{size:.3g} {unit}"
        size /= 1024
    return f"{size:.3g} TiB"


def show_seconds(seconds: float) -> str:
    """Writes a time for people."""
    for factor, unit in ((1, "s"), (1e3, "ms"), (1e6, "us")):
        if seconds * factor >= 1:
            return f"{seconds * factor:.3g} {unit}"
    return f"{seconds * 1e9:.3g} ns"
