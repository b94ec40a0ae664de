"""What real XLA compiles of examples, with the plan's shardings, is what the plans predict. benchmarks/xla/examples.py has all of them."""

import os
import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "benchmarks/xla"))
examples = pytest.importorskip("examples")


@pytest.mark.skipif("AUTOSHARD_SHARED" not in os.environ, reason="AUTOSHARD_SHARED does not name the folder that has oracle/xla.py")
def test_collectives_and_bytes():
    found = list(examples.rows(("moe",)))
    assert len(found) == 2 and examples.verdict(found) is None, examples.table(found)


def test_verdicts():
    row = lambda count, size: ("x", "plan.constrain", count, size, 1)
    assert examples.verdict([row((10, 10), (100, 104))]) is None
    assert "bytes" in examples.verdict([row((10, 10), (100, 130))])
    assert "collectives" in examples.verdict([row((10, 5), (100, 100))])
    assert examples.verdict([row((10, 10), (100, 120)), row((10, 10), (100, 90))]) is None
