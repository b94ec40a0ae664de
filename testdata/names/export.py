"""Writes the programs of this folder: each as the text of lower(), with and without debug information, and of jax.export.

Usage, so that files have no paths of this machine:

    export XLA_FLAGS=--xla_force_host_platform_device_count=4 JAX_PLATFORMS=cpu
    python -c "exec(compile(open('export.py').read(), 'export.py', 'exec'))"

It needs JAX, flax, optax, equinox and flatbuffers.
"""

import dataclasses
import functools
import re
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
from flax import linen, nnx
from flax.training import train_state
from jax import export
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

X = jnp.ones((4, 2))


def layers(n=2):
    return {"layers": [{"up": jnp.ones((2, 8)), "down": jnp.ones((8, 2))} for _ in range(n)], "unused": jnp.ones(3)}


def forward(p, x):
    for i, layer in enumerate(p["layers"]):
        with jax.named_scope(f"layer_{i}"):
            x = jnp.tanh(x @ layer["up"]) @ layer["down"]
    return x


def optax_dict():
    """Nested dicts and lists with the state of an optimizer, donated; a leaf that nothing uses."""
    tx = optax.chain(optax.clip_by_global_norm(1.0), optax.adam(1e-3))

    @functools.partial(jax.jit, donate_argnums=(0, 1))
    def step(params, opt_state, batch):
        loss, g = jax.value_and_grad(lambda p: (forward(p, batch["x"]) ** 2).mean())(params)
        updates, opt_state = tx.update(g, opt_state)
        return optax.apply_updates(params, updates), opt_state, {"loss": loss}

    p = layers(1)
    return step, (p, tx.init(p), {"x": X, "labels": X}), {}


def dropped():
    """Arguments that jit drops, as leaves and whole."""
    return jax.jit(lambda p, unused, x: {"k": forward(p, x)}), (layers(), X, X), {}


def nnx_jit():
    """NNX's own jit numbers the leaves of modules."""

    class Block(nnx.Module):
        def __init__(self, rngs):
            self.up, self.down = nnx.Linear(2, 8, rngs=rngs), nnx.Linear(8, 2, rngs=rngs)

        def __call__(self, x):
            return self.down(nnx.relu(self.up(x)))

    model = Block(nnx.Rngs(0))
    graph, state = nnx.split(model)

    def call(state, x):
        return nnx.merge(graph, state)(x), state

    return jax.jit(call), (state, X), {}


def nnx_step():
    model = nnx.Linear(2, 2, rngs=nnx.Rngs(0))
    opt = nnx.Optimizer(model, optax.sgd(1e-1), wrt=nnx.Param)

    @nnx.jit
    def step(model, opt, x):
        loss, g = nnx.value_and_grad(lambda m: (m(x) ** 2).mean())(model)
        opt.update(model, g)
        return loss

    return step, (model, opt, X), {}


def linen_state():
    """A TrainState with momentum, donated."""

    class Model(linen.Module):
        @linen.compact
        def __call__(self, x):
            return linen.Dense(2)(linen.relu(linen.Dense(8, name="up")(x)))

    model = Model()
    state = train_state.TrainState.create(
        apply_fn=model.apply, params=model.init(jax.random.key(0), X)["params"], tx=optax.sgd(1e-3, momentum=0.9))

    @functools.partial(jax.jit, donate_argnums=0)
    def step(state, batch):
        return state.apply_gradients(grads=jax.grad(lambda p: (model.apply({"params": p}, batch) ** 2).mean())(state.params))

    return step, (state, X), {}


def equinox_mlp():
    model = eqx.nn.MLP(2, 2, 8, 1, key=jax.random.key(0))
    params, static = eqx.partition(model, eqx.is_array)
    return jax.jit(lambda params, x: jax.vmap(eqx.combine(params, static))(x)), (params, X), {}


class Pair(NamedTuple):
    u: Any
    v: Any


@jax.tree_util.register_dataclass
@dataclasses.dataclass
class Weights:
    w: Any
    b: Any


@jax.tree_util.register_pytree_node_class
class Opaque:
    def __init__(self, *leaves):
        self.leaves = leaves

    def tree_flatten(self):
        return self.leaves, None

    @classmethod
    def tree_unflatten(cls, _, leaves):
        return cls(*leaves)


def containers():
    """Named tuples, dataclasses, trees without keys, positional and keyword arguments."""

    @jax.jit
    def f(pair, weights, opaque, *rest, **options):
        return Opaque(pair.u + opaque.leaves[1]), Pair(weights.w, weights.b), [rest[1] * options["scale"]]

    return f, (Pair(X, X), Weights(X, X), Opaque(X, X), X, X), {"scale": jnp.float32(2)}


class Namesake:
    """A key that is printed like others."""

    def __str__(self):
        return ".w"


@jax.tree_util.register_pytree_with_keys_class
class Twins:
    def __init__(self, *leaves):
        self.leaves = leaves

    def tree_flatten_with_keys(self):
        return [(Namesake(), x) for x in self.leaves], None

    def tree_flatten(self):
        return self.leaves, None

    @classmethod
    def tree_unflatten(cls, _, leaves):
        return cls(*leaves)


def duplicates():
    """Leaves of one name."""
    return jax.jit(lambda t, x: Twins(*(w + x for w in t.leaves))), (Twins(X, X, X), X), {}


def single():
    return jax.jit(lambda x: x + 1), (X,), {}


def donor():
    """Donation on several devices, where the compiler pairs buffers: jax.buffer_donor."""
    mesh = Mesh(np.array(jax.devices()[:4]).reshape(4), ("data",))
    x = jax.device_put(X, NamedSharding(mesh, P("data")))
    return jax.jit(lambda p, x: (p["w"] * 2, (x @ p["w"]).sum()), donate_argnums=0), ({"w": jnp.ones((2, 8))}, x), {}


PROGRAMS = [optax_dict, dropped, nnx_jit, nnx_step, linen_state, equinox_mlp, containers, duplicates, single, donor]


def write(name, text):
    text = re.sub(r'loc\("[^"]*/([^"/]+\.py)"', r'loc("\1"', text)
    with open(name + ".mlir", "w") as out:
        out.write(text)


def main():
    jax.config.update("jax_traceback_in_locations_limit", 1)
    for program in PROGRAMS:
        f, args, kwargs = program()
        lowered = f.lower(*args, **kwargs)
        write(program.__name__ + ".plain", lowered.as_text())
        write(program.__name__ + ".debug", lowered.as_text(debug_info=True))
        if program is nnx_step:
            continue  # jax.export takes jitted functions of JAX alone
        exported = export.export(f)(*args, **kwargs)
        write(program.__name__ + ".export", str(exported.mlir_module()))
        if program is dropped:
            with open("dropped.jaxexport", "wb") as out:
                out.write(exported.serialize())


if __name__ == "__main__":
    main()
