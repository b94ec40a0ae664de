"""Models written with flax.linen, trained by optax."""
import jax
import jax.numpy as jnp
import optax
from flax import linen as nn

from common import normal, program, tokens


def cross_entropy(logits, labels):
    return optax.softmax_cross_entropy_with_integer_labels(logits, labels).mean()


def trainer(model, optimizer, loss=cross_entropy):
    """a training step of a model without other state than its parameters"""
    def step(params, opt_state, x, y):
        value, grads = jax.value_and_grad(lambda p: loss(model.apply({'params': p}, x), y))(params)
        updates, opt_state = optimizer.update(grads, opt_state, params)
        return optax.apply_updates(params, updates), opt_state, value
    return step


def training(model, optimizer, x, y, loss=cross_entropy):
    params = model.init(jax.random.key(0), x)['params']
    return trainer(model, optimizer, loss), (params, optimizer.init(params), x, y), {'donate_argnums': (0, 1)}


class MLP(nn.Module):
    @nn.compact
    def __call__(self, x):
        for width in (64, 64):
            x = nn.relu(nn.Dense(width)(x))
        return nn.Dense(16)(x)


@program('linen_mlp_adamw', 'three dense layers, AdamW with weight decay and clipping')
def _():
    optimizer = optax.chain(optax.clip_by_global_norm(1.0), optax.adamw(1e-3))
    return training(MLP(), optimizer, normal(1, 16, 32), tokens(2, 16, vocabulary=16))


class CNN(nn.Module):
    @nn.compact
    def __call__(self, x):
        x = nn.relu(nn.Conv(16, (3, 3))(x))
        x = nn.avg_pool(x, (2, 2), strides=(2, 2))
        x = nn.relu(nn.Conv(32, (3, 3), strides=(2, 2))(x))
        x = nn.max_pool(x, (2, 2), strides=(2, 2))
        return nn.Dense(16)(x.reshape(x.shape[0], -1))


@program('linen_cnn_sgd', 'convolutions with average and maximum pooling, SGD with momentum')
def _():
    return training(CNN(), optax.sgd(0.1, momentum=0.9, nesterov=True), normal(1, 8, 16, 16, 4), tokens(2, 8, vocabulary=16))


class ResNet(nn.Module):
    @nn.compact
    def __call__(self, x, train):
        norm = lambda: nn.BatchNorm(use_running_average=not train, momentum=0.9)
        x = nn.relu(norm()(nn.Conv(16, (3, 3), use_bias=False)(x)))
        for width, stride in ((16, 1), (32, 2)):
            y = nn.relu(norm()(nn.Conv(width, (3, 3), (stride, stride), use_bias=False)(x)))
            y = norm()(nn.Conv(width, (3, 3), use_bias=False)(y))
            if x.shape != y.shape:
                x = nn.Conv(width, (1, 1), (stride, stride), use_bias=False)(x)
            x = nn.relu(x + y)
        return nn.Dense(16)(x.mean((1, 2)))


@program('linen_resnet', 'residual blocks with batch norm, whose statistics are carried on')
def _():
    model, x, y = ResNet(), normal(1, 8, 8, 8, 4), tokens(2, 8, vocabulary=16)
    variables = model.init(jax.random.key(0), x, True)
    optimizer = optax.sgd(0.1, momentum=0.9)

    def step(params, stats, opt_state, x, y):
        def loss(p):
            logits, updated = model.apply({'params': p, 'batch_stats': stats}, x, True, mutable=['batch_stats'])
            return cross_entropy(logits, y), updated['batch_stats']
        (value, stats_), grads = jax.value_and_grad(loss, has_aux=True)(params)
        updates, opt_state = optimizer.update(grads, opt_state, params)
        return optax.apply_updates(params, updates), stats_, opt_state, value
    params = variables['params']
    return step, (params, variables['batch_stats'], optimizer.init(params), x, y)


class Block(nn.Module):
    causal: bool = False
    activation: object = nn.gelu

    @nn.compact
    def __call__(self, x):
        mask = nn.make_causal_mask(jnp.ones(x.shape[:2])) if self.causal else None
        x = x + nn.MultiHeadDotProductAttention(4)(nn.LayerNorm()(x), mask=mask)
        y = nn.Dense(4 * x.shape[-1])(nn.LayerNorm()(x))
        return x + nn.Dense(x.shape[-1])(self.activation(y))


class ViT(nn.Module):
    @nn.compact
    def __call__(self, x):
        x = nn.Conv(32, (4, 4), strides=(4, 4))(x)
        x = x.reshape(x.shape[0], -1, 32)
        x = jnp.concatenate([jnp.broadcast_to(self.param('cls', nn.initializers.zeros, (1, 1, 32)), (x.shape[0], 1, 32)), x], 1)
        x = x + self.param('positions', nn.initializers.normal(0.02), (1, x.shape[1], 32))
        for _ in range(2):
            x = Block()(x)
        return nn.Dense(16)(nn.LayerNorm()(x)[:, 0])


@program('linen_vit', 'vision transformer with patch convolution and class token, AdamW')
def _():
    return training(ViT(), optax.adamw(1e-3), normal(1, 8, 16, 16, 4), tokens(2, 8, vocabulary=16))


class GPT2(nn.Module):
    layers: int = 2

    @nn.compact
    def __call__(self, t):
        embed = nn.Embed(64, 32)
        x = embed(t) + self.param('wpe', nn.initializers.normal(0.02), (t.shape[1], 32))
        for _ in range(self.layers):
            x = Block(causal=True)(x)
        return embed.attend(nn.LayerNorm()(x))


@program('linen_gpt2', 'GPT-2 with tied embedding and attention biases, AdamW with warm-up')
def _():
    optimizer = optax.adamw(optax.warmup_cosine_decay_schedule(0.0, 1e-3, 10, 100))
    return training(GPT2(), optimizer, tokens(1, 8, 16), tokens(2, 8, 16))


class BERT(nn.Module):
    @nn.compact
    def __call__(self, t, valid):
        x = nn.Embed(64, 32)(t) + nn.Embed(16, 32)(jnp.arange(t.shape[1]))
        mask = nn.make_attention_mask(valid, valid)
        for _ in range(2):
            x = nn.LayerNorm()(x + nn.MultiHeadDotProductAttention(4)(x, mask=mask))
            x = nn.LayerNorm()(x + nn.Dense(32)(nn.gelu(nn.Dense(64)(x), approximate=False)))
        return nn.Dense(64)(x)


@program('linen_bert', 'BERT encoder with padding mask and exact GELU, masked loss, LAMB')
def _():
    model, optimizer = BERT(), optax.lamb(1e-3)
    t, y = tokens(1, 8, 16), tokens(2, 8, 16)
    valid = jnp.arange(16)[None] < tokens(3, 8, 1, vocabulary=8) + 8
    params = model.init(jax.random.key(0), t, valid)['params']

    def step(params, opt_state, t, valid, y):
        def loss(p):
            losses = optax.softmax_cross_entropy_with_integer_labels(model.apply({'params': p}, t, valid), y)
            return (losses * valid).sum() / valid.sum()
        value, grads = jax.value_and_grad(loss)(params)
        updates, opt_state = optimizer.update(grads, opt_state, params)
        return optax.apply_updates(params, updates), opt_state, value
    return step, (params, optimizer.init(params), t, valid, y)


class LSTM(nn.Module):
    @nn.compact
    def __call__(self, x):
        x = nn.RNN(nn.OptimizedLSTMCell(32))(x)
        return nn.Dense(16)(x[:, -1])


@program('linen_lstm', 'LSTM over time by scan, RMSProp')
def _():
    return training(LSTM(), optax.rmsprop(1e-3), normal(1, 8, 12, 16), tokens(2, 8, vocabulary=16))


class BiGRU(nn.Module):
    @nn.compact
    def __call__(self, x):
        return nn.Dense(16)(nn.Bidirectional(nn.RNN(nn.GRUCell(16)), nn.RNN(nn.GRUCell(16)))(x).mean(1))


@program('linen_bigru', 'bidirectional GRU, Adagrad')
def _():
    return training(BiGRU(), optax.adagrad(1e-2), normal(1, 8, 8, 16), tokens(2, 8, vocabulary=16))


class Dropped(nn.Module):
    @nn.compact
    def __call__(self, x):
        x = nn.Dropout(0.5, deterministic=False)(nn.relu(nn.Dense(64)(x)))
        return nn.Dense(16)(x)


@program('linen_dropout', 'dropout with a key that is an argument')
def _():
    model, x, y = Dropped(), normal(1, 16, 32), tokens(2, 16, vocabulary=16)
    params = model.init({'params': jax.random.key(0), 'dropout': jax.random.key(1)}, x)['params']

    def step(params, key, x, y):
        loss = lambda p: cross_entropy(model.apply({'params': p}, x, rngs={'dropout': key}), y)
        value, grads = jax.value_and_grad(loss)(params)
        return jax.tree.map(lambda p, g: p - 0.1 * g, params, grads), value
    return step, (params, jax.random.PRNGKey(3), x, y)


class Scanned(nn.Module):
    @nn.compact
    def __call__(self, x):
        layers = nn.scan(nn.remat(ScanBlock), variable_axes={'params': 0}, split_rngs={'params': True}, length=4)
        x, _ = layers()(x, None)
        return nn.Dense(16)(x)


class ScanBlock(nn.Module):
    @nn.compact
    def __call__(self, x, _):
        return x + nn.Dense(32)(nn.silu(nn.Dense(64)(nn.RMSNorm()(x)))), None


@program('linen_scan_remat', 'layers by nn.scan with recomputation, Lion')
def _():
    return training(Scanned(), optax.lion(1e-4), normal(1, 16, 32), tokens(2, 16, vocabulary=16))


class Norms(nn.Module):
    @nn.compact
    def __call__(self, x):
        x = nn.GroupNorm(4)(nn.Conv(16, (3, 3), feature_group_count=4)(x))
        x = nn.InstanceNorm()(nn.ConvTranspose(8, (4, 4), strides=(2, 2))(nn.swish(x)))
        x = nn.WeightNorm(nn.Dense(16))(x)
        return x.mean((1, 2))


@program('linen_norms', 'group, instance and weight norm, grouped and transposed convolutions')
def _():
    return training(Norms(), optax.adam(1e-3), normal(1, 8, 8, 8, 8), tokens(2, 8, vocabulary=16))


class Decoder(nn.Module):
    @nn.compact
    def __call__(self, t):
        x = nn.Embed(64, 32)(t)
        x = x + nn.SelfAttention(4, decode=True)(x)
        return nn.Dense(64)(x)


@program('linen_decode', 'one decoding step with the cache of flax')
def _():
    model = Decoder()
    variables = model.init(jax.random.key(0), tokens(1, 8, 16))
    cache = jax.tree.map(lambda c: c + jnp.asarray(3, c.dtype) if c.ndim == 0 else normal(5, *c.shape), variables['cache'])

    def step(params, cache, t):
        logits, updated = model.apply({'params': params, 'cache': cache}, t, mutable=['cache'])
        return logits.argmax(-1), updated['cache']
    return step, (variables['params'], cache, tokens(2, 8, 1))
