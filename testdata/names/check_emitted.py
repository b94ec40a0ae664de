"""Checks emitted files: parameters are named, donated inputs are donated, and the caller's arrays stay what they are."""

import importlib.util
import inspect
import os
import sys
import warnings

import jax
import jax.numpy as jnp
import numpy as np


def shard_shape(array):
    return array.sharding.shard_shape(array.shape)


def main():
    warnings.filterwarnings("ignore", message="Some donated buffers were not usable")
    for path in sys.argv[1:]:
        spec = importlib.util.spec_from_file_location(os.path.basename(path)[:-3], path)
        program = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(program)
        bodies = [f for _, f in inspect.getmembers(program, inspect.isfunction) if f.__doc__ and "of one device" in f.__doc__]
        assert len(bodies) == 1, (path, bodies)
        parameters = list(inspect.signature(bodies[0]).parameters)
        assert len(parameters) == len(program.INPUTS), (path, parameters)
        for parameter, (name, _, _) in zip(parameters, program.INPUTS):
            letters = [c for c in name.split("#")[0] if c.isalnum()]
            assert [c for c in parameter if c.isalnum()][: len(letters)] == letters[-len(parameter):], (path, parameter, name)

        random = np.random.default_rng(0)
        values = [np.asarray(random.random(s) * 4).astype(np.dtype(t)) for _, t, s in program.INPUTS]
        before = [np.array(v) for v in values]
        mesh = program.make_mesh()
        arrays = [
            jax.device_put(jnp.array(v), jax.sharding.NamedSharding(mesh, p)) for v, p in zip(values, program.IN_SPECS)
        ]
        results = program.sharded(mesh)(*arrays)
        got = [np.asarray(y) for y in results]
        donated = getattr(program, "DONATED", ())
        lowered = program.sharded(mesh).lower(*[jax.ShapeDtypeStruct(s, t) for _, t, s in program.INPUTS])
        marked = lowered.as_text().split("@main")[1].split(") -> ")[0].split("%arg")[1:]
        found = tuple(i for i, a in enumerate(marked) if "tf.aliasing_output" in a or "jax.buffer_donor" in a)
        assert found == donated, (path, found, donated)
        if donated:
            blocks = [y.addressable_shards[0].data.shape for y in results]
            fits = [i for i in donated if shard_shape(arrays[i]) in blocks]
            assert any(arrays[i].is_deleted() for i in fits) == bool(fits), path
            assert not any(a.is_deleted() for i, a in enumerate(arrays) if i not in donated), path
            print("donated", len(donated), os.path.basename(path))
        for a, b in zip(program.run(values), got):
            np.testing.assert_allclose(np.asarray(a, dtype=np.float64), b.astype(np.float64), rtol=1e-5, atol=1e-6)
        for a, b in zip(values, before):
            np.testing.assert_array_equal(a, b)


main()
