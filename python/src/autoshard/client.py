"""The client of the service: the Connect library's, with the errors of this package."""

from __future__ import annotations

import functools
import os
import threading
from typing import TYPE_CHECKING, Any, Iterator

from .errors import AutoshardError, UnavailableError, translated
from .server import PrivateServer

if TYPE_CHECKING:
    from ._gen.autoshard.v1.service_connect import AutoshardServiceClientSync

_started: PrivateServer | None = None
_user: int | None = None  # the process that calls servers
_lock = threading.Lock()


class Client:
    """Calls a server: that at a URL, with a token if it needs one, or a private one that this process starts.

    Without arguments the URL and the token are those of AUTOSHARD_URL and AUTOSHARD_TOKEN. A timeout counts for each call, in seconds.
    """

    def __init__(self, url: str | None = None, *, token: str | None = None, timeout: float | None = None) -> None:
        self.url = url or os.environ.get("AUTOSHARD_URL", "")
        self.token = token or os.environ.get("AUTOSHARD_TOKEN", "")
        self.timeout = timeout

    def prepare(self) -> Client:
        """Starts the private server, if it is to be called, and does not wait for it: programs are traced meanwhile. Returns itself."""
        _refuse_forks()
        if not self.url:
            with _lock:
                _private()
        return self

    def call(self, method: str, request: Any) -> Any:
        """Calls a method that answers once."""
        from connectrpc.errors import ConnectError

        service, options = self._connection()
        try:
            return getattr(service, method)(request, **options)
        except ConnectError as error:
            raise translated(error) from None

    def stream(self, method: str, request: Any) -> Iterator[Any]:
        """Calls a method that answers with events, and yields them: reports of progress, and the result as the last one."""
        from connectrpc.errors import ConnectError

        service, options = self._connection()
        try:
            for message in getattr(service, method)(request, **options):
                yield message.event
        except ConnectError as error:
            raise translated(error) from None

    def result(self, method: str, request: Any, progress: Any) -> Any:
        """Calls a method that answers with events, passes those of progress on, and returns the result."""
        for event in self.stream(method, request):
            if event.field == "result":
                return event.value
            progress(event.value)
        raise AutoshardError(f"{method} ended without a result")

    def _connection(self) -> tuple[AutoshardServiceClientSync, dict[str, Any]]:
        _refuse_forks()
        url, token = self.url, self.token
        if not url:
            with _lock:
                server = _private()
                url, token = server.url, server.token
        options: dict[str, Any] = {"headers": {"Authorization": f"Bearer {token}"} if token else {}}
        if self.timeout is not None:
            options["timeout_ms"] = max(1, round(self.timeout * 1000))
        return _service(url), options


def _refuse_forks() -> None:
    """Fails in a process that was forked from one with a client: the threads of the HTTP library are not there any more, as JAX's."""
    global _user
    _user = _user or os.getpid()
    if _user != os.getpid():
        raise UnavailableError("this process was forked from one that has used autoshard: start processes by spawn, as JAX needs it, too")


def _private() -> PrivateServer:
    """Returns the private server, which is started where none runs."""
    global _started
    if _started is None or not _started.alive():
        _started = PrivateServer()
    return _started


@functools.lru_cache(maxsize=8)
def _service(url: str) -> AutoshardServiceClientSync:
    from pyqwest import Proxy, SyncClient, SyncHTTPTransport

    from ._gen.autoshard.v1.service_connect import AutoshardServiceClientSync

    local = {"proxy": Proxy(url, no_proxy="127.0.0.1")} if url.startswith("http://127.0.0.1:") else {}  # not that of HTTP_PROXY
    transport = SyncHTTPTransport(tls_include_system_certs=url.startswith("https:"), **local)
    return AutoshardServiceClientSync(url, http_client=SyncClient(transport), send_compression=None, accept_compression=())
