"""Placements of PyTorch's DTensor."""

from __future__ import annotations

from typing import Any, Sequence

from . import specs
from .errors import InvalidError


def placements(spec: str, axes: Sequence[str]) -> list[Any]:
    """Returns the placements that a PartitionSpec is over a mesh of these axes. DTensor cuts a dimension from the first axis of the mesh
    on, so that a spec which cuts one in another order has none."""
    from torch.distributed.tensor import Replicate, Shard

    out: list[Any] = [Replicate()] * len(axes)
    for dim, entry in enumerate(specs.parse(spec)):
        along = [axes.index(axis) for axis in ([entry] if isinstance(entry, str) else entry or ())]
        if along != sorted(along):
            raise InvalidError(f"{spec} cuts dimension {dim} in another order than that of the mesh, {', '.join(axes)}: DTensor cannot")
        for axis in along:
            out[axis] = Shard(dim)
    return out
