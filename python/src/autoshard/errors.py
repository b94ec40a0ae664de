"""What can go wrong, with the diagnostics that the planner gives: stable codes, positions in the model, notes on what would help."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from connectrpc.errors import ConnectError


@dataclasses.dataclass(frozen=True)
class Diagnostic:
    """One thing that is wrong. The code, such as AS1203, is explained in docs/errors.md."""

    code: str
    message: str
    place: str = ""  # file:line:column, as far as known
    source: str = ""  # the line of the model's text
    notes: tuple[str, ...] = ()

    def __str__(self) -> str:
        head = ": ".join(part for part in (self.place, self.message) if part)
        return "\n".join([f"{head} [{self.code}]", *([f"    {self.source.strip()}"] if self.source else []),
                          *(f"  note: {note}" for note in self.notes)])


class AutoshardError(Exception):
    """An error of the planner."""

    def __init__(self, message: str, diagnostics: tuple[Diagnostic, ...] = ()) -> None:
        super().__init__("\n".join(map(str, diagnostics)) or message)
        self.diagnostics = diagnostics


class InvalidError(AutoshardError, ValueError):
    """The program or an option is wrong."""


class InfeasibleError(AutoshardError):
    """No plan meets the constraints. The notes say which memory would do."""


class UnsupportedError(AutoshardError, NotImplementedError):
    """The program is legal, but not supported."""


class TooLargeError(AutoshardError):
    """Something is over a limit of the server."""


class UnavailableError(AutoshardError, ConnectionError):
    """There is no server, or it does not let this client in."""


class DeadlineError(AutoshardError, TimeoutError):
    """The time was up before there was an answer."""


class VerificationError(AutoshardError, AssertionError):
    """A plan does not compute what it should."""


def translated(error: ConnectError) -> AutoshardError:
    """Returns the error of this package for one of the client library."""
    from connectrpc.code import Code

    from ._gen.autoshard.v1.answers_pb import Diagnostic as Message

    kinds = {Code.INVALID_ARGUMENT: InvalidError, Code.FAILED_PRECONDITION: InfeasibleError, Code.UNIMPLEMENTED: UnsupportedError,
             Code.RESOURCE_EXHAUSTED: TooLargeError, Code.UNAVAILABLE: UnavailableError, Code.UNAUTHENTICATED: UnavailableError,
             Code.DEADLINE_EXCEEDED: DeadlineError}
    messages = [detail.value(Message) for detail in error.details if detail.type_name == "autoshard.v1.Diagnostic"]
    return kinds.get(error.code, AutoshardError)(error.message, tuple(map(diagnostic, messages)))


def diagnostic(message) -> Diagnostic:
    """Returns the diagnostic of a message."""
    return Diagnostic(message.code, message.message, place(message.position), message.source,
                      tuple(": ".join(part for part in (place(n.position), n.message) if part) for n in message.notes))


def place(position) -> str:
    """Writes a position as file:line:column."""
    if position is None:
        return ""
    numbers = [str(n) for n in (position.line, position.column) if n]
    return ":".join([position.file, *numbers])
