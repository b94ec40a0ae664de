#!/usr/bin/env python3
"""Writes every program of the collection in all forms in which JAX users keep programs.

usage: export.py DIR [NAME...]

DIR/NAME.text.mlir      jax.jit(f).lower(...).as_text()
DIR/NAME.debug.mlir     the same with locations
DIR/NAME.export.mlir    the module of jax.export, as text
DIR/NAME.artifact       jax.export's serialized form
DIR/NAME.cuda.mlir, DIR/NAME.tpu.mlir    lowered for another platform, as text
DIR/NAME.in.npz, DIR/NAME.out.npz        inputs that the module keeps, and results on this machine's CPU
DIR/programs.json       what was written, and what JAX itself cannot write, with its reason
"""
import json
import os
import pathlib
import sys
import traceback

os.environ.setdefault('JAX_PLATFORMS', 'cpu')
import jax
import jax.export

jax.config.update('jax_hlo_source_file_canonicalization_regex', '.*/')  # locations without the folders of this machine
import numpy as np

from common import PROGRAMS


def stored(x):
    """the array as NumPy can hold it: formats that it lacks become float32 or int8, which hold their values exactly"""
    x = np.asarray(jax.random.key_data(x) if jax.dtypes.issubdtype(x.dtype, jax.dtypes.prng_key) else x)
    if x.dtype.kind in 'biufc' and x.dtype.isbuiltin == 1:
        return x
    return x.astype(np.float32 if 'float' in x.dtype.name else np.int8)


def write(path, data):
    (path.write_bytes if isinstance(data, bytes) else path.write_text)(data)


def serializable(f, exported, specs, options):
    """the export itself, or where its trees have classes that nobody registered for serialization, that of a function of lists"""
    try:
        exported.serialize()
        return exported
    except ValueError:
        leaves, tree = jax.tree.flatten(specs)
        starts = [0]
        for a in specs:
            starts.append(starts[-1] + len(jax.tree.leaves(a)))
        donated = [i for a in options.get('donate_argnums', ()) for i in range(starts[a], starts[a + 1])]
        flat = jax.jit(lambda *x: jax.tree.leaves(f(*jax.tree.unflatten(tree, x))), donate_argnums=donated)
        return jax.export.export(flat)(*leaves)


def forms(f, args, options, entry):
    """yields name, content or reason of each form"""
    symbols = options.pop('symbols', None)
    jitted = jax.jit(f, **options)
    wanted = entry['forms'] or ('text', 'debug', 'export', 'artifact')
    lowered = jitted.lower(*args)
    yield 'text.mlir', lambda: lowered.as_text()
    yield 'debug.mlir', lambda: lowered.as_text(debug_info=True)
    specs = args if symbols is None else jax.export.symbolic_args_specs(args, symbols)
    if 'export' in wanted:
        exported = jax.export.export(jitted)(*specs)
        yield 'export.mlir', lambda: exported.mlir_module()
        yield 'artifact', lambda: bytes(serializable(f, exported, specs, options).serialize())
    for platform in entry['platforms']:
        if platform != 'cpu':
            yield f'{platform}.mlir', lambda platform=platform: jitted.trace(*args).lower(lowering_platforms=(platform,)).as_text()


def export(directory, entry):
    built = entry['build']()
    f, args, options = (*built, {})[:3]
    record = {'name': entry['name'], 'about': entry['about'], 'forms': [], 'impossible': {}}
    lowered = jax.jit(f, **{k: v for k, v in options.items() if k != 'symbols'}).lower(*args)
    for form, make in forms(f, args, dict(options), entry):
        try:
            write(directory / f'{entry["name"]}.{form}', make())
            record['forms'].append(form)
        except Exception as e:
            record['impossible'][form] = f'{type(e).__name__}: {str(e).splitlines()[0][:200]}'
    kept = sorted(lowered._lowering.compile_args['kept_var_idx'])
    flat = [x for x in jax.tree.leaves(args)]
    np.savez_compressed(directory / f'{entry["name"]}.in.npz', **{f'arg{i}': stored(flat[k]) for i, k in enumerate(kept)})
    out = jax.tree.leaves(lowered.compile()(*args) if not options.get('donate_argnums') else jax.jit(f)(*args))
    np.savez_compressed(directory / f'{entry["name"]}.out.npz', **{f'out{i}': stored(x) for i, x in enumerate(out)})
    record['kept'] = kept
    record['inputs'] = len(flat)
    return record


def main():
    import equinox_models, flax_linen, flax_nnx, language, numerics  # noqa: F401  (they register their programs)
    directory = pathlib.Path(sys.argv[1])
    directory.mkdir(parents=True, exist_ok=True)
    wanted = sys.argv[2:] or list(PROGRAMS)
    records, broken = [], []
    for name in wanted:
        try:
            with jax.enable_x64(PROGRAMS[name]['x64']):
                records.append(export(directory, PROGRAMS[name]))
        except Exception:
            broken.append(name)
            traceback.print_exc()
            continue
        print(name, *records[-1]['forms'], records[-1]['impossible'] or '', flush=True)
    if broken:
        sys.exit(f'programs that do not run in JAX: {broken}')
    (directory / 'programs.json').write_text(json.dumps(records, indent=1) + '\n')


if __name__ == '__main__':
    main()
