"""Shardings for JAX programs, chosen by cost.

    plan = autoshard.plan(train_step, state, batch, mesh={"data": 4, "model": 2}, hardware="tpu-v5p", memory="16GB")
    step = plan.jit()
    state, batch = plan.put(state, batch)

Plans are made by the Go program of the same name: one that this process starts and ends, or that at the URL in AUTOSHARD_URL.
Importing autoshard imports neither jax nor the client.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

__version__ = "0.1.0"

_HOMES = {
    "plan": "planning", "propagate": "planning", "check": "planning", "verify": "planning", "load": "planning", "hardware": "planning",
    "Plan": "plans", "Client": "client",
    "AutoshardError": "errors", "Diagnostic": "errors", "InvalidError": "errors", "InfeasibleError": "errors",
    "UnsupportedError": "errors", "TooLargeError": "errors", "UnavailableError": "errors", "VerificationError": "errors",
    "assert_plan": "assertions",
}

__all__ = sorted(_HOMES)

if TYPE_CHECKING:
    from .assertions import assert_plan
    from .client import Client
    from .errors import (AutoshardError, Diagnostic, InfeasibleError, InvalidError, TooLargeError, UnavailableError, UnsupportedError,
                         VerificationError)
    from .planning import check, hardware, load, plan, propagate, verify
    from .plans import Plan


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module 'autoshard' has no attribute {name!r}")
    value = getattr(importlib.import_module(f".{_HOMES[name]}", __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return [*globals(), *__all__]
