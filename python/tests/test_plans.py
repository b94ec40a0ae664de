"""Plans of functions: what they take, and what they give back to jax.jit."""

import base64
import functools
import re

import autoshard
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.sharding import NamedSharding, PartitionSpec as P

PARAMS = {"layers": [{"up": np.linspace(-1, 1, 16 * 64, dtype=np.float32).reshape(16, 64) / 8,
                      "down": np.linspace(1, -1, 64 * 16, dtype=np.float32).reshape(64, 16) / 8} for _ in range(2)]}
BATCH = {"x": np.ones((32, 16), np.float32), "y": np.zeros((32, 16), np.float32), "labels": np.zeros(32, np.float32)}


def forward(params, x):
    for layer in params["layers"]:
        x = x + jnp.tanh(x @ layer["up"]) @ layer["down"]
    return x


def step(params, batch):
    value, grads = jax.value_and_grad(lambda p: ((forward(p, batch["x"]) - batch["y"]) ** 2).mean())(params)
    return jax.tree.map(lambda p, g: p - 0.1 * g, params, grads), value


def scaled(params, x, power, *, flag):
    return jax.tree.map(lambda p: p**power, params), forward(params, x) if flag else x


plan_step = functools.partial(autoshard.plan, step, PARAMS, BATCH, hardware="cpu")


def equal(a, b):
    jax.tree.map(functools.partial(np.testing.assert_allclose, rtol=1e-5, atol=1e-6), a, b)


@pytest.mark.parametrize("given", ["data=4,model=2", {"data": 4, "model": 2}, "jax", 8])
def test_meshes(given, mesh):
    plan = plan_step(mesh=mesh if given == "jax" else given)
    assert plan.mesh.size == 8
    equal(plan.jit()(*plan.put(PARAMS, BATCH)), jax.jit(step)(PARAMS, BATCH))


def test_trees():
    plan = plan_step(mesh="data=4,model=2", pins={"params/**/up": P(None, "model")})
    params, batch = plan.in_specs
    assert jax.tree.structure(params) == jax.tree.structure(PARAMS) and jax.tree.structure(batch) == jax.tree.structure(BATCH)
    assert [layer["up"] for layer in params["layers"]] == [P(None, "model")] * 2
    assert batch["labels"] == P()  # that JAX drops
    assert plan.specs["params/layers/0/up"] == plan.specs["result/0/layers/0/up"] == "P(None, 'model')"
    assert plan.in_shardings[0]["layers"][0]["up"] == NamedSharding(plan.mesh, P(None, "model"))
    assert plan.params_specs("params") == params and plan.params_specs(1) == batch
    with pytest.raises(autoshard.InvalidError, match="no argument 'weights', but params, batch"):
        plan.params_specs("weights")


def test_pins_and_forbidden():
    plan = plan_step(mesh="data=4,model=2", pins={"params/layers/*/down": "P('model')"}, forbid={"batch": "data"})
    assert plan.specs["params/layers/1/down"] in ("P('model')", "P('model', None)")
    assert "data" not in plan.specs["batch/x"]
    with pytest.raises(autoshard.InvalidError, match="no input or output is called 'param/\\*\\*'; their paths begin with batch, params"):
        plan_step(mesh="data=4,model=2", pins={"param/**": P()})


def test_budgets():
    bounded = plan_step(mesh="data=8", budgets={"all_gather": "1KiB", "sent: data": "100GB/device"})
    assert [(b.kind, b.axes, b.bytes, b.each) for b in bounded.message.options.budgets] == [("all_gather", [], 1024, False),
                                                                                           ("sent", ["data"], 10**11, True)]


def test_memory_decides():
    whole = plan_step(mesh="data=4,model=2")
    small = plan_step(mesh="data=4,model=2", memory="14KB")
    assert small.peak_bytes <= 14000 < whole.peak_bytes
    with pytest.raises(autoshard.InfeasibleError) as failure:
        plan_step(mesh="data=4,model=2", memory=1000)
    assert failure.value.diagnostics[0].code.startswith("AS")


def test_static_and_donated_arguments():
    jitted = jax.jit(scaled, static_argnums=2, static_argnames="flag", donate_argnums=0)
    arguments = jax.tree.map(jnp.asarray, PARAMS), jnp.asarray(BATCH["x"]), 2
    for plan in (autoshard.plan(jax.jit(lambda p, x, power: scaled(p, x, power, flag=True), static_argnums=2, donate_argnums=0), *arguments,
                                mesh="data=8", hardware="cpu"),
                 autoshard.plan(lambda p, x, power: scaled(p, x, power, flag=True), *arguments, mesh="data=8", hardware="cpu",
                                static_argnums=2, donate_argnums=0)):
        assert all(t.donated for t in plan.message.inputs if t.name != "x")
        params, x = plan.put(jax.tree.map(jnp.copy, arguments[0]), arguments[1])
        equal(plan.jit()(params, x, 2), scaled(*arguments, flag=True))
        assert params["layers"][0]["up"].is_deleted()
    by_keyword = autoshard.plan(jitted, *arguments, kwargs={"flag": True}, mesh="data=8", hardware="cpu")
    assert len(by_keyword.in_specs) == 2


def test_arguments_by_keyword():
    plan = autoshard.plan(lambda x, *, y: x @ y, BATCH["x"], kwargs={"y": BATCH["x"].T}, mesh="data=8", hardware="cpu")
    assert list(plan.specs) == ["x", "y", "result"]
    with pytest.raises(autoshard.InvalidError, match="by position"):
        plan.jit()


def test_shardings_are_kept(mesh):
    given = NamedSharding(mesh, P("model", "data"))

    def constrained(x, w):
        return jax.lax.with_sharding_constraint(x @ w, NamedSharding(mesh, P("data", "model"))).sum()

    x = jax.device_put(BATCH["x"], given)
    plan = autoshard.plan(constrained, x, jnp.ones((16, 8)), mesh=mesh, hardware="cpu")
    assert plan.specs["x"] == "P('model', 'data')"
    assert [c.spec for c in plan.message.constraints] == ["P('data', 'model')"]
    equal(plan.jit()(*plan.put(x, jnp.ones((16, 8)))), constrained(x, jnp.ones((16, 8))))
    jitted = jax.jit(lambda x: x * 2, in_shardings=given)
    assert autoshard.plan(jitted, BATCH["x"], mesh=mesh, hardware="cpu").specs["x"] == "P('model', 'data')"
    shape = jax.ShapeDtypeStruct((32, 16), jnp.float32, sharding=given)
    assert autoshard.plan(lambda x: x * 2, shape, mesh=mesh, hardware="cpu").specs["x"] == "P('model', 'data')"


def test_forms_of_programs():
    jitted = jax.jit(step)
    want = plan_step(mesh="data=8").seconds
    lowered, exported = jitted.lower(PARAMS, BATCH), jax.export.export(jitted)(PARAMS, BATCH)
    for program in (lowered, exported, lowered.as_text(debug_info=True), exported.mlir_module_serialized):
        plan = autoshard.plan(program, mesh="data=8", hardware="cpu")
        assert plan.seconds == pytest.approx(want, rel=1e-3)  # exports have a few ops more
    assert jax.tree.structure(autoshard.plan(exported, mesh="data=8", hardware="cpu").in_specs) == jax.tree.structure((PARAMS, BATCH))
    text = autoshard.plan(lowered.as_text(debug_info=True), mesh="data=8", hardware="cpu", pins={"params*up*": "P('data')"})
    assert text.specs["params['layers'][0]['up']"].startswith("P('data'")
    with pytest.raises(autoshard.InvalidError, match="plan the function"):
        text.in_shardings
    with pytest.raises(autoshard.InvalidError, match="is not a function"):
        autoshard.plan(3)


def test_exported_functions_run():
    exported = jax.export.export(jax.jit(lambda x: x * 2))(BATCH["x"])
    plan = autoshard.plan(exported, mesh="data=8", hardware="cpu")
    equal(plan.jit(lambda x: x * 2)(plan.put(BATCH["x"])), BATCH["x"] * 2)


def test_names_of_arguments():
    plan = autoshard.plan(lambda first, *rest: first + sum(rest), *jnp.ones((3, 8)), mesh="data=8", hardware="cpu")
    assert list(plan.specs) == ["first", "rest/0", "rest/1", "result"]


def test_answers():
    plan = plan_step(mesh="data=4,model=2", memory="14KB")
    memory = plan.memory()
    assert memory.peak_bytes == plan.peak_bytes and "peak" in str(memory)
    assert list(plan.collectives.columns)[:2] == ["kind", "axes"] and len(plan.collectives) == len(plan.message.collectives)
    assert plan.estimate().estimate.seconds == plan.seconds
    assert "step time" in str(plan) and "jit_step" in repr(plan)
    assert "import jax" in plan.emit("jax")
    other = plan_step(mesh="data=8")
    explained = other.explain("params/layers/0/up")
    assert explained.value == "params['layers'][0]['up']" and explained.others and explained.value in str(explained)
    assert other.explain(most=1).text
    assert not plan.diff(other).same and plan.diff(plan).same


def test_constrained_programs(mesh):
    plan = plan_step(mesh=mesh, memory="14KB")
    equal(plan.constrain()(*plan.put(PARAMS, BATCH)), jax.jit(step)(PARAMS, BATCH))
    donating = autoshard.plan(lambda n, p, x: scaled(p, x, n, flag=True), 2, PARAMS, BATCH["x"], mesh=mesh, hardware="cpu",
                              static_argnums=0, donate_argnums=1)
    params, x = donating.put(PARAMS, BATCH["x"])
    equal(donating.constrain()(params, x), scaled(PARAMS, BATCH["x"], 2, flag=True))
    assert params["layers"][0]["up"].is_deleted()


def test_saved_plans(tmp_path):
    plan = plan_step(mesh="data=4,model=2")
    plan.save(tmp_path / "plan.json")
    again = autoshard.load(tmp_path / "plan.json", step, PARAMS, BATCH)
    assert again.message == plan.message and again.in_specs == plan.in_specs
    assert autoshard.load(tmp_path / "plan.json").specs["params['layers'][0]['up']"] == plan.specs["params/layers/0/up"]


def test_notebooks_show_plans():
    shown = plan_step(mesh="data=4,model=2")._repr_html_()
    assert shown.count("<svg") > 3 and "params/layers/0/up" in shown and "a step takes" in shown
    page = base64.b64decode(re.search('href="data:text/html;base64,([^"]*)"', shown)[1]).decode()
    assert page.startswith("<!doctype html>") and "<script" in page


def test_review(tmp_path):
    plan_step(mesh="data=4,model=2").review(tmp_path / "review.html")
    assert "<script" in (tmp_path / "review.html").read_text()


def test_parts_of_axes(mesh):
    x = np.ones((2, 64), np.float32)
    text = "P('data':(1)2)"
    plan = autoshard.plan(lambda x: x * 2, x, mesh=mesh, hardware="cpu", pins={"x": text})
    assert dict(plan.mesh.shape) == {"data_0": 2, "data_1": 2, "model": 2}
    assert list(plan.mesh.devices.flat) == list(mesh.devices.flat)
    equal(plan.jit()(plan.put(x)), x * 2)


def test_verify():
    plan = plan_step(mesh="data=4,model=2", memory="14KB")
    assert autoshard.verify(step, plan, PARAMS, BATCH).passed
    with pytest.raises(autoshard.VerificationError, match="result"):
        autoshard.verify(lambda p, b: jax.tree.map(lambda x: x + 1, step(p, b)), plan, PARAMS, BATCH)


def test_verify_takes_all_types():
    def mixed(key, x, n):
        return jax.random.uniform(key, x.shape, x.dtype) + x, n + 1

    args = jax.random.key(0), jnp.ones((8, 4), jnp.bfloat16), 3
    plan = autoshard.plan(mixed, *args, mesh="data=8", hardware="cpu")
    assert autoshard.verify(mixed, plan, *args, relative=1e-2).passed


def test_propagate_and_check(mesh):
    x = jax.device_put(BATCH["x"], NamedSharding(mesh, P("data")))
    shardings = autoshard.propagate(lambda x: x * 2, x, mesh=mesh)
    assert shardings.specs == {"x": "P('data', None)", "result": "P('data', None)"}
    assert shardings.out_shardings.spec == P("data", None) and "stablehlo" in shardings.text
    assert autoshard.check(step, PARAMS, BATCH) == []
    uneven = "sdy.mesh @mesh = <[\"x\"=4]>\nfunc.func @main(%arg0: tensor<6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{\"x\"}]>}) -> " \
             "tensor<6xf32> {\n  return %arg0 : tensor<6xf32>\n}\n"
    warnings = autoshard.check(uneven)
    assert warnings and warnings[0].place.startswith("model:2")


def test_logical_rules():
    plan = plan_step(mesh="data=4,model=2", pins={"params/**/up": P(None, "model"), "params/**/down": P("model", None)})
    logical = {"layers": [{"up": ("embed", "mlp"), "down": ("mlp", "embed")}] * 2}
    assert dict(plan.logical_rules(logical)) == {"embed": None, "mlp": "model"}
    with pytest.raises(autoshard.InvalidError, match="logical axis 'd'"):
        plan.logical_rules({"layers": [{"up": ("d", "d"), "down": ("d", "d")}] * 2})


def test_hardware():
    profiles = autoshard.hardware()
    assert "tpu-v5p" in profiles and profiles["h100"].facts


def test_start():
    first = plan_step(mesh="data=4,model=2", memory="40KB")
    second = plan_step(mesh="data=4,model=2", memory="40KB", start=first, steps=1, cache="like")
    assert second.message.options.from_ == first.message.hashes.plan
    assert second.seconds <= first.seconds
    with pytest.raises(autoshard.InvalidError, match='cache must be "", "none" or "like"'):
        plan_step(mesh="data=4,model=2", cache="everything")
