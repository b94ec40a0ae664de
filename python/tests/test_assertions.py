"""assert_plan, snapshots, and the pytest plugin."""

import autoshard
import jax.numpy as jnp
import pytest

ARGS = jnp.ones((64, 64)), jnp.ones((64, 64))


def product(x, w):
    return jnp.tanh(x @ w) @ w.T


def test_demands_that_hold():
    plan = autoshard.assert_plan(product, ARGS, {"data": 4}, hardware="cpu", max_all_gather="64MiB", no_replicated_above="16MiB",
                                 max_memory="1MiB", max_seconds=1.0)
    assert plan.specs["x"]


@pytest.mark.parametrize("demand, said", [
    ({"no_replicated_above": "1KiB"}, r"w, f32\[64,64\], is whole on every device: 16 KiB, more than 1KiB"),
    ({"max_memory": 100}, "a device holds .*, more than 100"),
    ({"max_seconds": 1e-9}, "a step takes .*, longer than 1 ns"),
])
def test_demands_that_fail(demand, said):
    with pytest.raises(AssertionError, match=said):
        autoshard.assert_plan(product, ARGS, {"data": 4}, hardware="cpu", pins={"w": "P()"}, **demand)


def test_gathers_that_are_too_large():
    with pytest.raises(AssertionError, match=r"all_gather of f32\[16,64\] along data brings a device 12 KiB, more than 1KiB"):
        autoshard.assert_plan(lambda x: x * 2, ARGS[:1], {"data": 4}, hardware="cpu", pins={"x": "P('data')", "result": "P()"},
                              max_all_gather="1KiB")


def test_plugin(pytester):
    pytester.makepyfile("""
        import jax.numpy as jnp
        FACTOR = "P('data')"
        def test_kept(assert_plan, plan_snapshot):
            plan = assert_plan(lambda x: x * 2, (jnp.ones((8, 8)),), {"data": 4}, hardware="cpu", pins={"x": FACTOR})
            plan_snapshot(plan)
    """)
    arguments = ("-p", "autoshard.pytest_plugin") if not installed() else ()
    pytester.runpytest(*arguments).stdout.fnmatch_lines(["*is missing: write it with `pytest --update-plans`*"])
    pytester.runpytest(*arguments, "--update-plans").assert_outcomes(passed=1)
    pytester.runpytest(*arguments).assert_outcomes(passed=1)
    file = pytester.path / "test_plugin.py"
    file.write_text(file.read_text().replace("P('data')", "P(None, 'data')"))
    pytester.runpytest(*arguments).stdout.fnmatch_lines(["*-x: P('data'*", "*+x: P(None, 'data')*"])


def installed():
    from importlib.metadata import entry_points

    return any(e.name == "autoshard" for e in entry_points(group="pytest11"))
