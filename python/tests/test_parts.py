"""Paths, sizes, specs, and generated code."""

import re
from pathlib import Path

import pytest
from autoshard import paths, sizes, specs
from autoshard._gen.autoshard.v1 import answers_pb, jobs_pb, model_pb, plan_pb, service_pb

SCHEMA = Path(__file__).parents[2] / "api/proto/autoshard/v1"


@pytest.mark.parametrize("pattern, name, fits", [
    ("params/**/w_up", "params/w_up", True), ("params/**/w_up", "params/layers/0/w_up", True), ("params/**/w_up", "params/w_upper", False),
    ("params/*/w", "params/layers/w", True), ("params/*/w", "params/layers/0/w", False), ("params/**", "params", True),
    ("params/**", "params/a/b", True), ("**", "anything/at/all", True), ("*", "a/b", False), ("a.b/*", "aXb/c", False), ("l*/w", "l0/w", True),
])
def test_patterns(pattern, name, fits):
    assert paths.matches(pattern, name) is fits


def test_whole_trees_are_found():
    assert paths.find("params", ["params/a", "params/b/c", "parameters/a", "x"]) == [0, 1]


@pytest.mark.parametrize("text, size", [("16GB", 16 * 10**9), ("64MiB", 64 * 2**20), ("1.5k", 1500), ("12", 12), (7, 7), (None, 0)])
def test_sizes(text, size):
    assert sizes.parse(text) == size


def test_wrong_sizes():
    with pytest.raises(ValueError, match="16 apples"):
        sizes.parse("16 apples")
    assert [sizes.show(n) for n in (0, 1023, 2048, 3 * 2**40)] == ["0 B", "1.02e+03 B", "2 KiB", "3 TiB"]
    assert [sizes.show_seconds(t) for t in (2, 2e-3, 2e-6, 2e-9)] == ["2 s", "2 ms", "2 us", "2 ns"]


@pytest.mark.parametrize("text", ["P()", "P('x')", "P(None, 'x')", "P(('x', 'y'), None)"])
def test_specs_go_both_ways(text):
    assert specs.show(specs.partition_spec(text)) == text


def test_generated_code_is_current():
    """Every field of the schema is in the generated messages, with its number, and no other is."""
    for file, module in (("answers", answers_pb), ("jobs", jobs_pb), ("model", model_pb), ("plan", plan_pb), ("service", service_pb)):
        wanted = fields_of((SCHEMA / f"{file}.proto").read_text())
        assert wanted, file
        for message, fields in wanted.items():
            at = module
            for name in message.split("."):
                at = getattr(at, name)
            assert {f.name: f.number for f in at.desc().fields} == fields, f"{message}: generate as python/buf.gen.yaml says"


def fields_of(text):
    """Returns the fields of the messages of a .proto file, by message."""
    out, stack = {}, []
    for line in text.splitlines():
        line = line.split("//")[0].strip()
        if found := re.match(r"(message|oneof|enum|service|rpc) (\w+)", line):
            if line.endswith("{"):
                stack.append((found[1], found[2]))
            if found[1] == "message":
                out[".".join(name for kind, name in stack if kind == "message") or found[2]] = {}
        elif found := re.match(r"(?:repeated |optional )?[\w.]+ (\w+) = (\d+)", line):
            if all(kind in ("message", "oneof") for kind, _ in stack):
                out[".".join(name for kind, name in stack if kind == "message")][found[1]] = int(found[2])
        if line.endswith("}") and "{" not in line:
            stack.pop()
    return out
