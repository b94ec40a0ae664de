#!/usr/bin/env python3
"""Rewrite transformer_train_megatron with priorities: the batch first (p0), tensor parallelism second (p1).

usage: priorities.py transformer_train_megatron.mlir > transformer_train_megatron_priorities.mlir

What changes against the model that the text comes from:
- "data" has priority 0 and "model" priority 1 wherever they stand, so propagation works in two rounds;
- the optimizer's moments and the moments among the results have no shardings: they follow their parameters;
- dimensions of activations that no axis shards are open, but the embedding stays whole between the blocks;
- behind the last block the batch is spread over all devices ({"data", "model"}p0), while the logits want their vocabulary
  over "model" with priority 1. Both meet in the product with the head: round 0 gives "model" to its batch, and in
  round 1 the vocabulary finds it taken. Without priorities the vocabulary would be first, for the logits' constraint
  is an elementwise step away and the batch a contraction.
"""
import re, sys

BEHIND_LAST_BLOCK = ('333', '406')  # the activation, and its gradient
MOMENTS = range(22, 64)  # of @main: parameters, step, moments, tokens and targets; parameters, step, moments and loss


def dims(text):
    return re.findall(r'\{[^{}]*\}', text)


def with_priorities(text, empty='{}'):
    """the dimensions of a sharding with priorities; empty replaces those without axes"""
    out = []
    for d in dims(text):
        priority = {'{"data"}': 'p0', '{"model"}': 'p1'}.get(d, '')
        out.append(empty if d == '{}' else d + priority)
    return ', '.join(out)


def signature(line):
    """arguments and results of @main"""
    args, results = line.split(') -> (')
    pattern = r'sdy\.sharding = #sdy\.sharding<@mesh, \[([^\]]*)\]>'

    def argument(match):
        index = int(match[1])
        if index in MOMENTS:
            return match[0].split(' {sdy.sharding')[0]
        return match[0].replace(f'[{match[3]}]>', f'[{with_priorities(match[3])}]>')

    args = re.sub(r'%arg(\d+): (tensor<[^>]*>) \{' + pattern + r'\}', argument, args)
    parts = re.split(r'(?=tensor<[^>]*> \{jax\.result_info)', results)
    for i, part in enumerate(parts[1:]):
        if i in MOMENTS:
            part = re.sub(', ' + pattern, '', part)
        parts[i + 1] = re.sub(pattern, lambda m: m[0].replace(f'[{m[1]}]>', f'[{with_priorities(m[1])}]>'), part)
    return args + ') -> (' + ''.join(parts)


def constraint(match):
    value, shape = match[2], match[4]
    if shape.endswith('x96xf32'):
        new = '{"data", ?}p0, {?}, {"model"}p1'
    elif value in BEHIND_LAST_BLOCK:
        new = '{"data", "model"}p0, {?}, {}'
    elif shape == '8x16x32xf32':
        new = '{"data"}p0, {?}, {}'
    else:
        new = with_priorities(match[3], '{?}')
    return f'{match[1]}[{new}]> : tensor<{shape}>'


def main():
    for line in open(sys.argv[1]):
        if 'func.func public @main' in line:
            line = signature(line)
        else:
            line = re.sub(r'(%(\w+) = sdy\.sharding_constraint %\w+ <@mesh, )\[(.*)\]> : tensor<([^>]*)>', constraint, line)
        sys.stdout.write(line.replace('@jit_transformer_train_megatron', '@jit_transformer_train_megatron_priorities'))


if __name__ == '__main__':
    main()
