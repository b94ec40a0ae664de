"""Models written with flax.nnx."""
import jax
import jax.numpy as jnp
import optax
from flax import nnx

from common import normal, program, tokens


def cross_entropy(logits, labels):
    return optax.softmax_cross_entropy_with_integer_labels(logits, labels).mean()


def training(model, optimizer, x, y):
    """a step over the split state of a model"""
    graph, params, rest = nnx.split(model, nnx.Param, ...)

    def step(params, rest, opt_state, x, y):
        def loss(p):
            m = nnx.merge(graph, p, rest, copy=True)
            value = cross_entropy(m(x), y)
            return value, nnx.split(m, nnx.Param, ...)[2]
        (value, rest_), grads = jax.value_and_grad(loss, has_aux=True)(params)
        updates, opt_state = optimizer.update(grads, opt_state, params)
        return optax.apply_updates(params, updates), rest_, opt_state, value
    return step, (params, rest, optimizer.init(params), x, y), {'donate_argnums': (0, 2)}


class MLP(nnx.Module):
    def __init__(self, rngs):
        self.up = nnx.Linear(32, 64, rngs=rngs)
        self.norm = nnx.BatchNorm(64, rngs=rngs)
        self.down = nnx.Linear(64, 16, rngs=rngs)

    def __call__(self, x):
        return self.down(nnx.relu(self.norm(self.up(x))))


@program('nnx_mlp_batchnorm', 'dense layers with batch norm in nnx')
def _():
    return training(MLP(nnx.Rngs(0)), optax.adam(1e-3), normal(1, 16, 32), tokens(2, 16, vocabulary=16))


class Block(nnx.Module):
    def __init__(self, rngs):
        self.attend = nnx.MultiHeadAttention(4, 32, rngs=rngs, decode=False)
        self.norms = nnx.List([nnx.RMSNorm(32, rngs=rngs), nnx.LayerNorm(32, rngs=rngs)])
        self.up = nnx.Linear(32, 64, rngs=rngs)
        self.down = nnx.Linear(64, 32, rngs=rngs)

    def __call__(self, x):
        x = x + self.attend(self.norms[0](x), mask=nnx.make_causal_mask(jnp.ones(x.shape[:2])))
        return x + self.down(nnx.gelu(self.up(self.norms[1](x))))


class Transformer(nnx.Module):
    def __init__(self, rngs):
        self.embed = nnx.Embed(64, 32, rngs=rngs)
        self.layers = nnx.List([Block(rngs) for _ in range(2)])
        self.head = nnx.Linear(32, 64, rngs=rngs)

    def __call__(self, t):
        x = self.embed(t)
        for layer in self.layers:
            x = layer(x)
        return self.head(x)


@program('nnx_transformer', 'causal transformer in nnx, AdamW')
def _():
    return training(Transformer(nnx.Rngs(0)), optax.adamw(1e-3), tokens(1, 8, 16), tokens(2, 8, 16))


class ConvNet(nnx.Module):
    def __init__(self, rngs):
        self.conv = nnx.Conv(4, 16, (3, 3), rngs=rngs)
        self.drop = nnx.Dropout(0.2, rngs=rngs)
        self.out = nnx.Linear(16, 16, rngs=rngs)

    def __call__(self, x):
        x = nnx.max_pool(nnx.relu(self.conv(x)), (2, 2), strides=(2, 2))
        return self.out(self.drop(x).mean((1, 2)))


@program('nnx_conv_dropout', 'convolution and dropout whose random state is part of the model')
def _():
    return training(ConvNet(nnx.Rngs(0)), optax.adafactor(1e-3), normal(1, 8, 8, 8, 4), tokens(2, 8, vocabulary=16))


@program('nnx_lora', 'a low-rank adapter beside frozen weights')
def _():
    model = nnx.LoRA(32, 4, 16, base_module=nnx.Linear(32, 16, rngs=nnx.Rngs(0)), rngs=nnx.Rngs(1))
    graph, lora, rest = nnx.split(model, nnx.LoRAParam, ...)

    def step(lora, rest, x, y):
        value, grads = jax.value_and_grad(lambda p: cross_entropy(nnx.merge(graph, p, rest)(x), y))(lora)
        return jax.tree.map(lambda p, g: p - 0.1 * g, lora, grads), value
    return step, (lora, rest, normal(1, 16, 32), tokens(2, 16, vocabulary=16))
