"""Progress of long work: a bar of tqdm in terminals and notebooks, where it is installed."""

from __future__ import annotations

import contextlib
import sys
import time
from typing import Any, Callable, Iterator

from . import sizes

_PATIENCE = 0.5  # seconds before a bar is shown


@contextlib.contextmanager
def bar(title: str, show: bool | None) -> Iterator[Callable[[Any], None]]:
    """Yields what takes reports. Without a wish a bar is shown in terminals and notebooks, of work that takes a while."""
    tqdm = _tqdm(show)
    if tqdm is None:
        yield lambda report: None
        return
    shown, started = None, time.monotonic()

    def update(report: Any) -> None:
        nonlocal shown
        if shown is None:
            if time.monotonic() - started < _PATIENCE:
                return
            shown = tqdm(total=100, desc=title, leave=False, bar_format="{desc}: {postfix} [{elapsed}]")
        text = report.stage
        if report.seconds:
            text += f", a step takes {sizes.show_seconds(report.seconds)}"
        if report.seconds and report.bound:
            text += f", at least {sizes.show_seconds(report.bound)}"
        shown.set_postfix_str(text)

    try:
        yield update
    finally:
        if shown is not None:
            shown.close()


def _tqdm(show: bool | None) -> Any:
    notebook = "ipykernel" in sys.modules
    if show is False or show is None and not (notebook or sys.stderr.isatty()):
        return None
    try:
        from tqdm.auto import tqdm
    except ImportError:
        return None
    return tqdm
