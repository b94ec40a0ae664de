"""A private server: the Go program, on a port of this machine, that ends when this process does, however that ends."""

from __future__ import annotations

import atexit
import os
import secrets
import shutil
import subprocess
import tempfile
from pathlib import Path

from .errors import UnavailableError


def binary() -> str:
    """Returns the path of the Go program: AUTOSHARD_BINARY, the one inside this package, or the one on PATH."""
    given = os.environ.get("AUTOSHARD_BINARY")
    if given:
        return given
    bundled = Path(__file__).parent / "bin" / "autoshard"
    if bundled.is_file():
        return str(bundled)
    found = shutil.which("autoshard")
    if found is None:
        raise UnavailableError("the program autoshard is not in this package and not on PATH: install with `pip install ./python` where Go "
                               "is, or name it in AUTOSHARD_BINARY, or a server in AUTOSHARD_URL")
    return found


class PrivateServer:
    """A server that starts. It reads its token from a pipe, whose end tells it that this process is gone."""

    def __init__(self) -> None:
        self.token = secrets.token_urlsafe(32)
        self._url = ""
        self.pid = os.getpid()
        self._log = tempfile.TemporaryFile()
        self._command = [binary(), "serve", "--private", "--drain-time", "1ms", "--max-time", "24h"]
        try:
            self._process = subprocess.Popen(self._command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._log)
            self._process.stdin.write(self.token.encode() + b"\n")
            self._process.stdin.flush()
        except OSError as error:
            raise UnavailableError(f"{self._command[0]} cannot be started: {error}") from error
        atexit.register(self.stop)

    @property
    def url(self) -> str:
        """Waits until the server runs, and returns its URL."""
        if not self._url:
            self._url = self._process.stdout.readline().decode().strip()
        if not self._url:
            self.stop()
            self._log.seek(0)
            raise UnavailableError(f"{' '.join(self._command)} ended: {self._log.read().decode(errors='replace').strip()}")
        return self._url

    def alive(self) -> bool:
        """Says whether the server runs."""
        return self._process.poll() is None

    def stop(self) -> None:
        """Ends the server."""
        if self.pid != os.getpid():  # in a fork
            return
        self._process.stdin.close()
        try:
            self._process.wait(timeout=5)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._process.stdout.close()
