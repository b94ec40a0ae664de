"""Models written with equinox."""
import equinox as eqx
import jax
import jax.numpy as jnp
import optax

from common import normal, program, tokens


def training(model, optimizer, forward, x, y):
    """a step of a model whose arrays are its parameters"""
    params, static = eqx.partition(model, eqx.is_inexact_array)

    def step(params, opt_state, x, y):
        def loss(p):
            logits = jax.vmap(lambda a: forward(eqx.combine(p, static), a))(x)
            return optax.softmax_cross_entropy_with_integer_labels(logits, y).mean()
        value, grads = jax.value_and_grad(loss)(params)
        updates, opt_state = optimizer.update(grads, opt_state, params)
        return eqx.apply_updates(params, updates), opt_state, value
    return step, (params, optimizer.init(params), x, y)


@program('equinox_mlp', 'eqx.nn.MLP, AdamW')
def _():
    model = eqx.nn.MLP(32, 16, 64, 2, key=jax.random.key(0))
    return training(model, optax.adamw(1e-3), lambda m, a: m(a), normal(1, 16, 32), tokens(2, 16, vocabulary=16))


@program('equinox_conv', 'one-dimensional convolutions with layer norm')
def _():
    keys = jax.random.split(jax.random.key(0), 3)
    model = eqx.nn.Sequential([
        eqx.nn.Conv1d(8, 16, 3, padding=1, key=keys[0]), eqx.nn.Lambda(jax.nn.relu), eqx.nn.LayerNorm((16, 16)),
        eqx.nn.AvgPool1d(2, 2), eqx.nn.Lambda(jnp.ravel), eqx.nn.Linear(128, 16, key=keys[1])])
    return training(model, optax.sgd(0.1), lambda m, a: m(a), normal(1, 8, 8, 16), tokens(2, 8, vocabulary=16))


class GRU(eqx.Module):
    cell: eqx.nn.GRUCell
    out: eqx.nn.Linear

    def __call__(self, x):
        h, _ = jax.lax.scan(lambda h, a: (self.cell(a, h), None), jnp.zeros(32), x)
        return self.out(h)


@program('equinox_gru', 'eqx.nn.GRUCell by scan under vmap')
def _():
    a, b = jax.random.split(jax.random.key(0))
    model = GRU(eqx.nn.GRUCell(16, 32, key=a), eqx.nn.Linear(32, 16, key=b))
    return training(model, optax.adam(1e-3), lambda m, x: m(x), normal(1, 8, 10, 16), tokens(2, 8, vocabulary=16))


class Attention(eqx.Module):
    attend: eqx.nn.MultiheadAttention
    out: eqx.nn.Linear

    def __call__(self, x):
        mask = jnp.tril(jnp.ones((x.shape[0], x.shape[0]), bool))
        return self.out(self.attend(x, x, x, mask=mask).mean(0))


@program('equinox_attention', 'eqx.nn.MultiheadAttention with biases and a causal mask')
def _():
    a, b = jax.random.split(jax.random.key(0))
    model = Attention(eqx.nn.MultiheadAttention(4, 32, use_key_bias=True, use_query_bias=True, key=a), eqx.nn.Linear(32, 16, key=b))
    return training(model, optax.adam(1e-3), lambda m, x: m(x), normal(1, 8, 8, 32), tokens(2, 8, vocabulary=16))
