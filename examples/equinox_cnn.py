"""Shards an Equinox convolutional network over eight devices as autoshard plans it:

    pip install ./python equinox optax && python examples/equinox_cnn.py
"""

import equinox as eqx
import jax
import jax.numpy as jnp
import optax

import autoshard

jax.config.update("jax_num_cpu_devices", 8)


class CNN(eqx.Module):
    layers: list
    head: eqx.nn.Linear

    def __init__(self, key):
        keys = jax.random.split(key, 3)
        self.layers = [eqx.nn.Conv2d(3, 16, 3, padding=1, key=keys[0]), eqx.nn.Conv2d(16, 16, 3, stride=2, padding=1, key=keys[1])]
        self.head = eqx.nn.Linear(16, 10, key=keys[2])

    def __call__(self, image):
        for layer in self.layers:
            image = jax.nn.relu(layer(image))
        return self.head(image.mean(axis=(1, 2)))


params, static = eqx.partition(CNN(jax.random.key(0)), eqx.is_array)
optimizer = optax.sgd(0.05, momentum=0.9)


def train_step(params, state, images, labels):
    def loss(params):
        logits = jax.vmap(eqx.combine(params, static))(images)
        return optax.softmax_cross_entropy_with_integer_labels(logits, labels).mean()

    value, grads = jax.value_and_grad(loss)(params)
    updates, state = optimizer.update(grads, state)
    return optax.apply_updates(params, updates), state, value


if __name__ == "__main__":
    state = optimizer.init(params)
    images, labels = jax.random.normal(jax.random.key(1), (32, 3, 16, 16)), jnp.arange(32) % 10
    plan = autoshard.plan(train_step, params, state, images, labels, mesh={"batch": 4, "height": 2}, hardware="cpu")
    print(repr(plan), plan.params_specs("images"), sep="\n")
    step, reference = plan.jit(), jax.jit(train_step)
    sharded, whole = (params, state), (params, state)
    for i in range(3):
        *sharded, loss = step(*plan.put(*sharded, images, labels))
        *whole, expected = reference(*whole, images, labels)
        print(f"step {i}: loss {loss:.6f}, unsharded {expected:.6f}")
    same = lambda a, b: jnp.allclose(jax.device_get(a), b, rtol=1e-3, atol=1e-5)
    assert all(jax.tree.leaves(jax.tree.map(same, tuple(sharded), tuple(whole)))), "the sharded run differs from the unsharded one"
