"""Assertions about plans, for tests of a model's shardings."""

from __future__ import annotations

import math
from typing import Any, Sequence

from . import sizes
from .planning import plan as make
from .plans import Plan


def assert_plan(function: Any, args: Sequence[Any], mesh: Any, *, max_all_gather: int | str | None = None,
                no_replicated_above: int | str | None = None, max_memory: int | str | None = None, max_seconds: float | None = None,
                **options: Any) -> Plan:
    """Plans a function, asserts what is demanded of the plan, and returns it. Options are those of autoshard.plan.

    max_all_gather: the most that a device receives of one all-gather, each time it runs.
    no_replicated_above: inputs of more bytes have to be cut.
    max_memory: the most that a device holds.
    max_seconds: the longest that a step takes.
    """
    plan = make(function, *args, mesh=mesh, **options)
    faults = [*_gathers(plan, max_all_gather), *_replicas(plan, no_replicated_above)]
    if max_memory is not None and plan.peak_bytes > sizes.parse(max_memory):
        faults.append(f"a device holds {sizes.show(plan.peak_bytes)}, more than {max_memory}")
    if max_seconds is not None and plan.seconds > max_seconds:
        faults.append(f"a step takes {sizes.show_seconds(plan.seconds)}, longer than {sizes.show_seconds(max_seconds)}")
    assert not faults, "\n".join(["the plan is not as demanded:", *faults, "", str(plan)])
    return plan


def _gathers(plan: Plan, most: int | str | None) -> list[str]:
    if most is None:
        return []
    devices = math.prod(axis.size for axis in plan.message.mesh)
    received = [(c.bytes / devices / max(c.count, 1), c) for c in plan.message.collectives if c.kind == "all_gather"]
    return [f"all_gather of {c.type} along {','.join(c.axes)} brings a device {sizes.show(size)}, more than {most}: {c.source}"
            for size, c in received if size > sizes.parse(most)]


def _replicas(plan: Plan, most: int | str | None) -> list[str]:
    if most is None:
        return []
    return [f"{name}, {tensor.type}, is whole on every device: {sizes.show(tensor.whole_bytes)}, more than {most}"
            for name, tensor in plan._named(plan._inputs, plan._program.inputs)
            if not tensor.axes and tensor.whole_bytes > sizes.parse(most)]


def snapshot(plan: Plan) -> str:
    """Returns what a test keeps of a plan: shardings, and what collectives send, without what changes with every line of the model."""
    traffic: dict[str, list[int]] = {}
    for c in plan.message.collectives:
        entry = traffic.setdefault(f"{c.kind} {','.join(c.axes or c.groups)}".strip(), [0, 0])
        entry[0], entry[1] = entry[0] + c.count, entry[1] + c.bytes
    mesh = ",".join(f"{axis.name}={axis.size}" for axis in plan.message.mesh)
    lines = [f"mesh {mesh}", *(f"{name}: {spec}" for name, spec in plan.specs.items()),
             *(f"{name}: {count} a step, {size} bytes" for name, (count, size) in sorted(traffic.items())), f"peak: {plan.peak_bytes} bytes"]
    return "\n".join(lines) + "\n"
