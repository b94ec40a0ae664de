"""The private server, and clients of others."""

import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import autoshard
import pytest
from autoshard import server

MODEL = "func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {\n  return %x : tensor<8xf32>\n}\n"


def run(code, **environment):
    return subprocess.Popen([sys.executable, "-c", textwrap.dedent(code)], stdout=subprocess.PIPE, text=True,
                            env={**os.environ, **environment})


def gone(pid):
    for _ in range(100):
        try:
            if open(f"/proc/{pid}/stat").read().split()[2] == "Z":
                return True
        except FileNotFoundError:
            return True
        time.sleep(0.05)
    return False


@pytest.mark.skipif(not os.path.isdir("/proc"), reason="looks at /proc")
@pytest.mark.parametrize("end", [signal.SIGKILL, signal.SIGTERM, None])
def test_server_ends_with_its_process(end):
    process = run("""
        import autoshard, autoshard.client, time
        autoshard.hardware()
        print(autoshard.client._started._process.pid, flush=True)
        import sys; time.sleep(0 if sys.argv[1:] else float(__import__('os').environ['NAP']))
    """, NAP="0" if end is None else "60")
    pid = int(process.stdout.readline())
    if end is not None:
        process.send_signal(end)
    process.wait()
    assert gone(pid)


def test_forked_processes_are_refused():
    out, _ = run("""
        import autoshard, os
        autoshard.hardware()
        if os.fork() == 0:
            try:
                autoshard.hardware()
            except autoshard.UnavailableError as error:
                print("spawn" in str(error), flush=True)
            os._exit(0)
        os.wait()
        print(len(autoshard.hardware()) > 0)
    """).communicate(timeout=60)
    assert out.split() == ["True", "True"]


def test_import_is_light():
    out, _ = run("""
        import sys, autoshard
        print(*(m for m in ("jax", "numpy", "connectrpc", "tqdm", "torch") if m in sys.modules), "-")
        autoshard.plan("func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> { return %x : tensor<8xf32> }", mesh="x=2")
        print(*(m for m in ("jax", "numpy", "torch") if m in sys.modules), "-")
    """).communicate()
    assert out.split() == ["-", "-"]


def test_other_servers():
    started = server.PrivateServer()
    try:
        client = autoshard.Client(started.url, token=started.token)
        assert autoshard.plan(MODEL, mesh="x=2", client=client).seconds >= 0
        with pytest.raises(autoshard.UnavailableError, match="token is needed"):
            autoshard.plan(MODEL, mesh="x=2", client=autoshard.Client(started.url))
        with pytest.raises(autoshard.UnavailableError, match="token is needed"):
            autoshard.propagate(MODEL, mesh="x=2", client=autoshard.Client(started.url, token="another"))
    finally:
        started.stop()
    with pytest.raises(autoshard.UnavailableError):
        autoshard.plan(MODEL, mesh="x=2", client=client)


def test_deadlines():
    large = Path(__file__).parents[2] / "examples/llama_train.mlir"
    with pytest.raises(autoshard.AutoshardError) as failure:
        autoshard.plan(large, mesh="x=2", timeout=1e-3)  # reading it takes longer
    assert isinstance(failure.value, TimeoutError)


def test_missing_program(monkeypatch):
    monkeypatch.setenv("AUTOSHARD_BINARY", "/nowhere/autoshard")
    with pytest.raises(autoshard.UnavailableError, match="cannot be started"):
        server.PrivateServer()


def test_errors_have_diagnostics():
    with pytest.raises(autoshard.InvalidError) as failure:
        autoshard.plan("func.func @main() {\n  foo\n}", mesh="x=2")
    found = failure.value.diagnostics[0]
    assert (found.code, found.place, found.source) == ("AS1002", "model:2:3", "  foo")
    assert isinstance(failure.value, ValueError) and "foo" in str(failure.value)
