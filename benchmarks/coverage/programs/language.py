"""Language models and what surrounds them, written in plain JAX."""
import jax
import jax.numpy as jnp
import optax
from jax import lax

from common import normal, program, tokens


def rms_norm(x, g):
    return x * lax.rsqrt(jnp.mean(x * x, -1, keepdims=True) + 1e-6) * g


def rope(x):
    half = x.shape[-1] // 2
    angle = jnp.arange(x.shape[1])[:, None] * 10000.0 ** (-jnp.arange(half) / half)
    cos, sin = jnp.cos(angle)[None, :, None], jnp.sin(angle)[None, :, None]
    a, b = x[..., :half], x[..., half:]
    return jnp.concatenate([a * cos - b * sin, a * sin + b * cos], -1).astype(x.dtype)


def attention(x, p):
    q, k, v = (rope(jnp.einsum('bsd,dhk->bshk', x, p[n])) if n != 'wv' else jnp.einsum('bsd,dhk->bshk', x, p[n]) for n in ('wq', 'wk', 'wv'))
    k, v = (jnp.repeat(a, q.shape[2] // a.shape[2], axis=2) for a in (k, v))
    scores = jnp.einsum('bshk,bthk->bhst', q, k) / q.shape[-1] ** 0.5
    scores = jnp.where(jnp.tril(jnp.ones(scores.shape[-2:], bool)), scores, -1e9)
    out = jnp.einsum('bhst,bthk->bshk', jax.nn.softmax(scores, -1), v)
    return jnp.einsum('bshk,hkd->bsd', out, p['wo'])


def llama_layer(x, p):
    x = x + attention(rms_norm(x, p['g1']), p)
    y = rms_norm(x, p['g2'])
    return x + (jax.nn.silu(y @ p['gate']) * (y @ p['up'])) @ p['down']


def llama_layer_params(i, dtype=jnp.float32):
    shapes = dict(wq=(32, 4, 8), wk=(32, 2, 8), wv=(32, 2, 8), wo=(4, 8, 32), gate=(32, 64), up=(32, 64), down=(64, 32))
    params = {n: normal(10 * i + j, *s, dtype=dtype, scale=0.1) for j, (n, s) in enumerate(shapes.items())}
    return params | dict(g1=jnp.ones(32, dtype), g2=jnp.ones(32, dtype))


def next_token_loss(logits, t):
    return optax.softmax_cross_entropy_with_integer_labels(logits.astype(jnp.float32), t).mean()


@program('llama_train', 'Llama layers with grouped queries and rotary positions, unrolled, AdamW')
def _():
    params = {'embed': normal(1, 64, 32), 'layers': [llama_layer_params(i + 1) for i in range(3)], 'head': normal(2, 32, 64)}
    optimizer = optax.adamw(1e-3)

    def forward(p, t):
        x = p['embed'][t]
        for layer in p['layers']:
            x = llama_layer(x, layer)
        return x @ p['head']

    def step(params, opt_state, batch):
        loss = lambda p: next_token_loss(forward(p, batch['tokens']), batch['targets'])
        value, grads = jax.value_and_grad(loss)(params)
        updates, opt_state = optimizer.update(grads, opt_state, params)
        return optax.apply_updates(params, updates), opt_state, {'loss': value, 'norm': optax.global_norm(grads)}
    return step, (params, optimizer.init(params), {'tokens': tokens(3, 8, 16), 'targets': tokens(4, 8, 16)}), {'donate_argnums': (0, 1)}


@program('llama_scan_bf16', 'the same by scan with recomputation, weights in bfloat16')
def _():
    layers = jax.tree.map(lambda *a: jnp.stack(a), *[llama_layer_params(i + 1, jnp.bfloat16) for i in range(4)])
    params = {'embed': normal(1, 64, 32, dtype=jnp.bfloat16), 'layers': layers}

    def loss(p, t, y):
        body = jax.checkpoint(lambda x, layer: (llama_layer(x, layer), None))
        x, _ = lax.scan(body, p['embed'][t], p['layers'])
        return next_token_loss(x @ p['embed'].T, y)

    def step(p, t, y):
        value, grads = jax.value_and_grad(loss)(p, t, y)
        return jax.tree.map(lambda a, g: (a - 0.01 * g).astype(a.dtype), p, grads), value
    return step, (params, tokens(3, 8, 16), tokens(4, 8, 16)), {'donate_argnums': (0,)}


@program('moe_top2', 'experts chosen by top-k with capacity, gathered by one-hot products')
def _():
    def forward(p, x):
        gates, chosen = lax.top_k(jax.nn.softmax(x @ p['router']), 2)
        onehot = jax.nn.one_hot(chosen, 4)
        place = jnp.cumsum(onehot.reshape(-1, 4), 0).reshape(onehot.shape) * onehot - 1
        slots = jax.nn.one_hot(place, 16) * onehot[..., None]
        combine = jnp.einsum('tk,tkec->tec', gates, slots)
        inputs = jnp.einsum('tec,td->ecd', combine > 0, x)
        return jnp.einsum('tec,ecd->td', combine, jnp.einsum('ecf,efd->ecd', jax.nn.gelu(jnp.einsum('ecd,edf->ecf', inputs, p['w1'])), p['w2']))

    def step(p, x, y):
        return jax.value_and_grad(lambda p: jnp.mean((forward(p, x) - y) ** 2))(p)
    params = {'router': normal(1, 32, 4), 'w1': normal(2, 4, 32, 64, scale=0.2), 'w2': normal(3, 4, 64, 32, scale=0.2)}
    return step, (params, normal(4, 32, 32), normal(5, 32, 32))


@program('moe_ragged', 'experts over sorted tokens by ragged_dot')
def _():
    def forward(p, x):
        chosen = jnp.argmax(x @ p['router'], -1)
        order = jnp.argsort(chosen)
        sizes = jnp.bincount(chosen, length=4)
        h = jax.nn.relu(lax.ragged_dot(x[order], p['w1'], sizes))
        return jnp.zeros_like(x).at[order].set(lax.ragged_dot(h, p['w2'], sizes))
    params = {'router': normal(1, 32, 4), 'w1': normal(2, 4, 32, 64, scale=0.2), 'w2': normal(3, 4, 64, 32, scale=0.2)}
    return forward, (params, normal(4, 32, 32))


@program('gqa_decode', 'one decoding step that writes into its key-value cache')
def _():
    def step(p, cache, x, at):
        q = jnp.einsum('bd,dhk->bhk', x, p['wq'])
        k, v = (lax.dynamic_update_slice(cache[n], jnp.einsum('bd,dgk->bgk', x, p['w' + n])[:, None], (0, at, 0, 0)) for n in 'kv')
        scores = jnp.einsum('bgrk,btgk->bgrt', q.reshape(8, 2, 2, 8), k) / 8 ** 0.5
        scores = jnp.where(jnp.arange(32) <= at, scores, -jnp.inf)
        out = jnp.einsum('bgrt,btgk->bgrk', jax.nn.softmax(scores, -1), v).reshape(8, 4, 8)
        return jnp.einsum('bhk,hkd->bd', out, p['wo']), {'k': k, 'v': v}
    params = {'wq': normal(1, 32, 4, 8), 'wk': normal(2, 32, 2, 8), 'wv': normal(3, 32, 2, 8), 'wo': normal(4, 4, 8, 32)}
    cache = {'k': normal(5, 8, 32, 2, 8), 'v': normal(6, 8, 32, 2, 8)}
    return step, (params, cache, normal(7, 8, 32), jnp.int32(5)), {'donate_argnums': (1,)}


@program('sampling', 'top-k, nucleus and categorical sampling with a key')
def _():
    def sample(key, logits):
        top, index = lax.top_k(logits, 16)
        probabilities = jax.nn.softmax(top)
        keep = jnp.cumsum(probabilities, -1) - probabilities < 0.9
        choice = jax.random.categorical(key, jnp.where(keep, top, -jnp.inf))
        return jnp.take_along_axis(index, choice[:, None], 1)[:, 0]
    return sample, (jax.random.PRNGKey(0), normal(1, 16, 64))


@program('beam_search', 'a step of beam search: joint top-k over beams and gathers of their state')
def _():
    def step(p, state, scores, t):
        h = jnp.tanh(state @ p['w'] + p['e'][t])
        total = scores[..., None] + jax.nn.log_softmax(h @ p['o'])
        best, flat = lax.top_k(total.reshape(8, -1), 4)
        beam, token = flat // 64, flat % 64
        return jnp.take_along_axis(h, beam[..., None], 1), best, token
    params = {'w': normal(1, 32, 32, scale=0.2), 'e': normal(2, 64, 32), 'o': normal(3, 32, 64)}
    return step, (params, normal(4, 8, 4, 32), normal(5, 8, 4), tokens(6, 8, 4))


@program('generate_while', 'greedy decoding in a while loop that ends where every sequence has its end token')
def _():
    def generate(p, first):
        def more(s):
            return (s[0] < 16) & ~jnp.all(s[3])

        def step(s):
            i, h, out, done = s
            h = jnp.tanh(h @ p['w'] + p['e'][out[:, i]])
            t = jnp.argmax(h @ p['o'], -1).astype(jnp.int32)
            return i + 1, h, out.at[:, i + 1].set(jnp.where(done, 0, t)), done | (t == 1)
        out = jnp.zeros((8, 17), jnp.int32).at[:, 0].set(first)
        return lax.while_loop(more, step, (0, jnp.zeros((8, 32)), out, jnp.zeros(8, bool)))[2]
    return generate, ({'w': normal(1, 32, 32, scale=0.2), 'e': normal(2, 64, 32), 'o': normal(3, 32, 64)}, tokens(4, 8))


@program('t5_bias', 'attention with relative position buckets and scores in float32 from bfloat16')
def _():
    def forward(p, x):
        distance = jnp.arange(16)[None] - jnp.arange(16)[:, None]
        bucket = jnp.clip((jnp.log1p(jnp.abs(distance)) * 3).astype(jnp.int32), 0, 7) + 8 * (distance > 0)
        q, k, v = jnp.split(x @ p['qkv'], 3, -1)
        scores = jnp.einsum('bsd,btd->bst', q, k, preferred_element_type=jnp.float32) + p['bias'][bucket]
        return jnp.einsum('bst,btd->bsd', jax.nn.softmax(scores).astype(jnp.bfloat16), v) @ p['o']
    b = jnp.bfloat16
    return forward, ({'qkv': normal(1, 32, 96, dtype=b, scale=0.2), 'bias': normal(2, 16), 'o': normal(3, 32, 32, dtype=b)}, normal(4, 8, 16, 32, dtype=b))


@program('mamba_scan', 'a selective state space layer by associative scan')
def _():
    def forward(p, x):
        delta = jax.nn.softplus(x @ p['dt'])
        a = jnp.exp(-delta[..., None] * jnp.exp(p['a']))
        b = (delta * x)[..., None] * (x @ p['b'])[:, :, None, :]
        _, h = lax.associative_scan(lambda l, r: (l[0] * r[0], l[1] * r[0] + r[1]), (a, b), axis=1)
        return jnp.einsum('btdn,btn->btd', h, x @ p['c']) * jax.nn.silu(x @ p['z'])
    params = {'dt': normal(1, 32, 32, scale=0.1), 'a': normal(2, 32, 8), 'b': normal(3, 32, 8), 'c': normal(4, 32, 8), 'z': normal(5, 32, 32)}

    def step(p, x):
        return jax.value_and_grad(lambda p: jnp.mean(forward(p, x) ** 2))(p)
    return step, (params, normal(6, 4, 16, 32))


@program('int8_matmul', 'quantised product with int32 accumulation and scales by channel')
def _():
    def forward(w, scale, x):
        s = jnp.max(jnp.abs(x), -1, keepdims=True) / 127
        q = jnp.round(x / s).astype(jnp.int8)
        return lax.dot(q, w, preferred_element_type=jnp.int32).astype(jnp.float32) * s * scale
    w = jax.random.randint(jax.random.key(0), (32, 64), -127, 127, jnp.int8)
    return forward, (w, jnp.abs(normal(1, 64)), normal(2, 16, 32))


@program('int4_weights', 'weights in int4, multiplied in bfloat16')
def _():
    w = jax.random.randint(jax.random.key(0), (32, 64), -8, 8, jnp.int8).astype(jnp.int4)
    return lambda w, s, x: (x @ w.astype(jnp.bfloat16)) * s, (w, normal(1, 64, dtype=jnp.bfloat16), normal(2, 16, 32, dtype=jnp.bfloat16))


@program('fp8_matmul', 'products of float8 operands with scales')
def _():
    def forward(x, w, sx, sw):
        q = lambda a, s, t: (a / s).astype(t)
        y = lax.dot(q(x, sx, jnp.float8_e4m3fn), q(w, sw, jnp.float8_e5m2), preferred_element_type=jnp.float32)
        return y * sx * sw
    return forward, (normal(1, 16, 32), normal(2, 32, 64), jnp.float32(0.1), jnp.float32(0.2))


@program('contrastive', 'CLIP loss: two towers, normalised embeddings, symmetric cross entropy, SGD from optax')
def _():
    optimizer = optax.chain(optax.add_decayed_weights(1e-4), optax.sgd(0.1))

    def loss(p, a, b):
        unit = lambda x: x / jnp.linalg.norm(x, axis=-1, keepdims=True)
        logits = jnp.exp(p['t']) * unit(a @ p['a']) @ unit(b @ p['b']).T
        labels = jnp.arange(16)
        return (next_token_loss(logits, labels) + next_token_loss(logits.T, labels)) / 2

    def step(p, s, a, b):
        value, grads = jax.value_and_grad(loss)(p, a, b)
        updates, s = optimizer.update(grads, s, p)
        return optax.apply_updates(p, updates), s, value
    params = {'a': normal(1, 32, 16), 'b': normal(2, 48, 16), 't': jnp.float32(0.5)}
    return step, (params, optimizer.init(params), normal(3, 16, 32), normal(4, 16, 48))
