"""Shards a Flax NNX model and its optimizer over eight devices as autoshard plans it:

    pip install ./python flax optax && python examples/flax_nnx.py
"""

import jax
import jax.numpy as jnp
import optax
from flax import nnx

import autoshard

jax.config.update("jax_num_cpu_devices", 8)


class MLP(nnx.Module):
    def __init__(self, width, rngs):
        self.up = nnx.Linear(width, 4 * width, rngs=rngs)
        self.down = nnx.Linear(4 * width, width, rngs=rngs)

    def __call__(self, x):
        return x + self.down(nnx.gelu(self.up(x)))


model = nnx.Sequential(*(MLP(64, nnx.Rngs(i)) for i in range(3)))
optimizer = nnx.Optimizer(model, optax.sgd(0.05, momentum=0.9), wrt=nnx.Param)
graph, state = nnx.split((model, optimizer))


def train_step(state, x, y):
    model, optimizer = nnx.merge(graph, state)
    loss, grads = nnx.value_and_grad(lambda model: jnp.mean((model(x) - y) ** 2))(model)
    optimizer.update(model, grads)
    return nnx.state((model, optimizer)), loss


if __name__ == "__main__":
    x, y = jax.random.normal(jax.random.key(0), (2, 64, 64))
    plan = autoshard.plan(train_step, state, x, y, mesh={"data": 2, "model": 4}, hardware="cpu", memory="800KB")
    print(repr(plan))
    print("kernels:", {path: spec for path, spec in plan.specs.items() if path.startswith("state/0") and path.endswith("kernel/value")})
    step, reference = plan.jit(), jax.jit(train_step)
    sharded, whole = plan.put(state, x, y)[0], state
    for i in range(3):
        sharded, loss = step(sharded, x, y)
        whole, expected = reference(whole, x, y)
        print(f"step {i}: loss {loss:.6f}, unsharded {expected:.6f}")
    same = lambda a, b: jnp.allclose(jax.device_get(a), b, rtol=1e-3, atol=1e-4)
    assert all(jax.tree.leaves(jax.tree.map(same, sharded, whole))), "the sharded run differs from the unsharded one"
