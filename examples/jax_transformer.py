"""Trains a small transformer, sharded over eight devices as autoshard plans it:

    pip install ./python "jax==0.12.0" && python examples/jax_transformer.py
"""

import jax
import jax.numpy as jnp

import autoshard

jax.config.update("jax_num_cpu_devices", 8)
LAYERS, WIDTH, HEADS, VOCABULARY, LENGTH, BATCH = 2, 64, 4, 256, 32, 16


def init(key):
    normal = lambda key, *shape: jax.random.normal(key, shape) / shape[0] ** 0.5
    layers = []
    for layer in jax.random.split(key, LAYERS):
        qkv, out, up, down = jax.random.split(layer, 4)
        layers.append({"qkv": normal(qkv, WIDTH, 3, HEADS, WIDTH // HEADS), "out": normal(out, WIDTH, WIDTH),
                       "up": normal(up, WIDTH, 4 * WIDTH), "down": normal(down, 4 * WIDTH, WIDTH)})
    return {"embed": normal(key, VOCABULARY, WIDTH), "layers": layers}


def norm(x):
    return x * jax.lax.rsqrt(jnp.mean(x * x, axis=-1, keepdims=True) + 1e-6)


def logits(params, tokens):
    x = params["embed"][tokens]
    for layer in params["layers"]:
        q, k, v = jnp.einsum("btd,dshk->sbthk", norm(x), layer["qkv"])
        x += jax.nn.dot_product_attention(q, k, v, is_causal=True).reshape(x.shape) @ layer["out"]
        x += jax.nn.gelu(norm(x) @ layer["up"]) @ layer["down"]
    return norm(x) @ params["embed"].T


def train_step(params, tokens):
    def loss(params):
        scores = jax.nn.log_softmax(logits(params, tokens[:, :-1]))
        return -jnp.mean(jnp.take_along_axis(scores, tokens[:, 1:, None], axis=-1))

    value, grads = jax.value_and_grad(loss)(params)
    return jax.tree.map(lambda p, g: p - 0.1 * g, params, grads), value


if __name__ == "__main__":
    params = init(jax.random.key(0))
    tokens = jax.random.randint(jax.random.key(1), (BATCH, LENGTH + 1), 0, VOCABULARY)
    plan = autoshard.plan(train_step, params, tokens, mesh={"data": 4, "model": 2}, hardware="cpu", memory="1.5MB")
    print(repr(plan))
    step, reference = plan.jit(), jax.jit(train_step)
    sharded, whole = plan.put(params, tokens)[0], params
    for i in range(3):
        sharded, loss = step(sharded, tokens)
        whole, expected = reference(whole, tokens)
        print(f"step {i}: loss {loss:.6f}, unsharded {expected:.6f}")
    same = lambda a, b: jnp.allclose(jax.device_get(a), b, rtol=1e-4, atol=1e-5)
    assert all(jax.tree.leaves(jax.tree.map(same, sharded, whole))), "the sharded run differs from the unsharded one"
