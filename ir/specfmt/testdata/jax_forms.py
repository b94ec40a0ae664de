"""What JAX, XLA and Shardy's export make of layouts: queries on standard input, answers on standard output."""
import json
import sys

import jax
import numpy as np
from jax._src import compiler, xla_bridge
from jax._src.interpreters import mlir as jax_mlir
from jax._src.lib import xla_client
from jax._src.lib.mlir import ir
from jax.sharding import AxisType, Mesh, NamedSharding, PartitionSpec as P
from jax.sharding import UnreducedKind

MODULE = """module @m attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%%a: tensor<%s> {sdy.sharding = #sdy.sharding%s}) -> (tensor<%s> {sdy.sharding = #sdy.sharding%s}) {
    return %%a : tensor<%s>
  }
}"""


def compiled(sharding, shape):
    """the HloSharding of a parameter after Shardy's partitioner"""
    backend = xla_bridge.get_backend()
    options = compiler.get_compile_options(num_replicas=1, num_partitions=8)
    options.executable_build_options.use_shardy_partitioner = True
    options.executable_build_options.use_spmd_partitioning = True
    typ = 'x'.join(map(str, shape)) + 'xf32'
    with jax_mlir.make_ir_context():
        module = ir.Module.parse(MODULE % (typ, sharding, typ, sharding, typ))
        program = compiler.backend_compile_and_load(backend, module, xla_client.DeviceList(tuple(backend.devices())), options, [])
    return repr(xla_client.HloSharding.from_proto(program.get_parameter_shardings()[0]))


def answer(q):
    sizes = [a['size'] for a in q['Axes']]
    out = {}
    tiles = xla_client.HloSharding.from_string(q['Tiles'])
    out['Read'] = repr(tiles)
    if tiles.is_tiled():
        out['Devices'] = [int(d) for d in tiles.tile_assignment_devices()]
    if q['Spec']:
        devices = np.array(jax.devices()[:int(np.prod(sizes))]).reshape(sizes)
        kinds = [AxisType.Manual if a['name'] in (q['Manual'] or []) else AxisType.Explicit for a in q['Axes']]
        mesh = Mesh(devices, [a['name'] for a in q['Axes']], axis_types=tuple(kinds))
        spec = eval(q['Spec'])
        out['Repr'] = repr(spec)
        named = NamedSharding(mesh, spec)
        if not q['DeviceIDs']:
            out['Named'] = repr(named._to_xla_hlo_sharding(len(q['Shape'])))
        if not spec.unreduced and not q['Manual']:
            index = named.devices_indices_map(tuple(q['Shape']))
            out['Starts'] = [[s.start or 0 for s in index[d]] for d in devices.flat]
    if q['Sdy']:
        out['Shardy'] = compiled(q['Sdy'], q['Shape'])
    return out


json.dump([answer(q) for q in json.load(sys.stdin)], sys.stdout)
