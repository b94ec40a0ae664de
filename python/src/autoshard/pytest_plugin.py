"""The pytest plugin: the fixtures assert_plan and plan_snapshot.

    def test_shardings(assert_plan, plan_snapshot):
        plan = assert_plan(train_step, (state, batch), {"data": 4, "model": 2}, no_replicated_above="16MiB")
        plan_snapshot(plan)

Snapshots lie beside the test in __plans__ and are written by `pytest --update-plans`; a missing one is an error.
"""

from __future__ import annotations

import difflib
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, Callable

import pytest

if TYPE_CHECKING:
    from .plans import Plan


def pytest_addoption(parser: pytest.Parser) -> None:
    """Adds --update-plans."""
    parser.getgroup("autoshard").addoption("--update-plans", action="store_true", help="write snapshots of plans instead of comparing them")


@pytest.fixture
def assert_plan() -> Callable[..., Any]:
    """Returns autoshard.assert_plan."""
    import autoshard

    return autoshard.assert_plan


@pytest.fixture
def plan_snapshot(request: pytest.FixtureRequest) -> Callable[[Plan, str], None]:
    """Returns a function that compares a plan with the one that was kept of this test, or of a name in it."""
    from .assertions import snapshot

    def compare(plan: Plan, name: str = "") -> None:
        file = re.sub(r"[^\w.-]+", "_", ".".join(part for part in (request.node.name, name) if part)) + ".txt"
        path = Path(request.path).parent / "__plans__" / file
        text = snapshot(plan)
        if request.config.getoption("--update-plans"):
            path.parent.mkdir(exist_ok=True)
            path.write_text(text)
            return
        assert path.is_file(), f"{path} is missing: write it with `pytest --update-plans`"
        if (kept := path.read_text()) != text:
            changes = "\n".join(difflib.unified_diff(kept.splitlines(), text.splitlines(), "kept", "now", lineterm=""))
            pytest.fail(f"the plan is another one than in {path}; `pytest --update-plans` keeps it\n{changes}", pytrace=False)

    return compare
