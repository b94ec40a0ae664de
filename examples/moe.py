"""Shards a layer of a mixture of experts over eight devices, the experts pinned to an axis of the mesh, and verifies the plan:

    pip install ./python "jax==0.12.0" && python examples/moe.py
"""

import jax
import jax.numpy as jnp
from jax.sharding import PartitionSpec as P

import autoshard

jax.config.update("jax_num_cpu_devices", 8)
TOKENS, WIDTH, HIDDEN, EXPERTS, CAPACITY = 256, 32, 128, 8, 64


def init(key):
    shapes = {"router": (WIDTH, EXPERTS), "up": (EXPERTS, WIDTH, HIDDEN), "down": (EXPERTS, HIDDEN, WIDTH)}
    return {name: jax.random.normal(jax.random.fold_in(key, i), shape) / shape[-2] ** 0.5 for i, (name, shape) in enumerate(shapes.items())}


def layer(params, x):
    """Sends each token to its best expert, as far as there is room."""
    gates = jax.nn.softmax(x @ params["router"])
    choice = jax.nn.one_hot(gates.argmax(axis=-1), EXPERTS)
    place = (jnp.cumsum(choice, axis=0) - 1) * choice
    dispatch = choice[..., None] * jax.nn.one_hot(place, CAPACITY)
    inside = jnp.einsum("tec,td->ecd", dispatch, x)
    hidden = jax.nn.gelu(jnp.einsum("ecd,edh->ech", inside, params["up"]))
    out = jnp.einsum("ech,ehd->ecd", hidden, params["down"])
    return x + jnp.einsum("tec,ecd->td", dispatch * gates[..., None], out)


def train_step(params, x, y):
    value, grads = jax.value_and_grad(lambda p: jnp.mean((layer(p, x) - y) ** 2))(params)
    return jax.tree.map(lambda p, g: p - 0.5 * g, params, grads), value


if __name__ == "__main__":
    params = init(jax.random.key(0))
    x, y = jax.random.normal(jax.random.key(1), (2, TOKENS, WIDTH))
    experts = {"params/up": P("expert", None, None), "params/down": P("expert", None, None)}
    plan = autoshard.plan(train_step, params, x, y, mesh={"expert": 8}, hardware="cpu", pins=experts)
    print(repr(plan), *plan.message.collectives[:4], autoshard.verify(train_step, plan, params, x, y), sep="\n")
    step, reference = plan.jit(), jax.jit(train_step)
    sharded, whole = plan.put(params, x, y)[0], params
    for i in range(3):
        sharded, loss = step(sharded, x, y)
        whole, expected = reference(whole, x, y)
        print(f"step {i}: loss {loss:.6f}, unsharded {expected:.6f}")
    same = lambda a, b: jnp.allclose(jax.device_get(a), b, rtol=1e-4, atol=1e-5)
    assert all(jax.tree.leaves(jax.tree.map(same, sharded, whole))), "the sharded run differs from the unsharded one"
