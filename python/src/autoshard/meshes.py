"""Meshes in the forms that users have them: a JAX mesh, {"data": 4, "model": 2}, data=4,model=2, or a number of devices."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Mapping, Union

from ._gen.autoshard.v1.plan_pb import MeshAxis
from .errors import InvalidError

if TYPE_CHECKING:
    import jax

    MeshLike = Union[jax.sharding.Mesh, jax.sharding.AbstractMesh, Mapping[str, int], str, int, None]


def axes_of(mesh: Any) -> list[MeshAxis]:
    """Returns the axes of a mesh from major to minor; none of a number of devices, or where there is no mesh."""
    if mesh is None or isinstance(mesh, int):
        return []
    if isinstance(mesh, str):
        pairs = [part.partition("=")[::2] for part in mesh.split(",")]
        if not all(name.strip() and size.strip().isdigit() for name, size in pairs):
            raise InvalidError(f"{mesh!r} is not a mesh such as data=4,model=2")
        mesh = {name.strip(): int(size) for name, size in pairs}
    shape = mesh if isinstance(mesh, Mapping) else mesh.shape  # JAX's meshes have theirs by name, in order
    return [MeshAxis(name=name, size=size) for name, size in shape.items()]


def device_mesh(axes: list[MeshAxis], given: Any = None) -> jax.sharding.Mesh:
    """Returns a JAX mesh of these axes: over the devices of a given mesh, in its order, or over the first devices that there are."""
    import math

    import jax
    import numpy as np

    sizes, names = [a.size for a in axes], tuple(a.name for a in axes)
    if isinstance(given, jax.sharding.Mesh):
        devices = given.devices
    else:
        count = math.prod(sizes)
        if count > len(jax.devices()):
            raise InvalidError(f"the plan is for {count} devices, and JAX has {len(jax.devices())}: on one machine, "
                               f"jax.config.update('jax_num_cpu_devices', {count}) makes virtual ones")
        if count == len(jax.devices()):
            return jax.make_mesh(tuple(sizes), names, axis_types=(jax.sharding.AxisType.Auto,) * len(names))
        devices = np.array(jax.devices()[:count])
    return jax.sharding.Mesh(devices.reshape(sizes), names, axis_types=(jax.sharding.AxisType.Auto,) * len(names))
