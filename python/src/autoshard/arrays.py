"""Arguments and results of a function as files of NumPy, for runs on virtual devices."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any, Sequence

if TYPE_CHECKING:
    from .plans import Plan


def of(function: Any, plan: Plan, args: Sequence[Any]) -> dict[str, bytes]:
    """Returns the arguments of a planned function and what it makes of them, as the fields inputs and expected of a request."""
    import jax

    tree = plan._tree_of(plan._program.inputs)
    calling = plan._program.calling
    leaves = jax.tree.leaves(args)
    results = jax.jit(getattr(function, "__wrapped__", function), static_argnums=calling.static_argnums if calling else ())(*args)
    if calling is not None and calling.static_argnums:
        leaves = jax.tree.leaves([arg for i, arg in enumerate(args) if i not in calling.static_argnums])
    return {"inputs": _npz("arg", [leaves[i] for i in tree.kept]), "expected": _npz("out", jax.tree.leaves(results))}


def _npz(prefix: str, leaves: Sequence[Any]) -> bytes:
    import numpy as np

    out = io.BytesIO()
    np.savez(out, **{f"{prefix}{i}": _plain(leaf) for i, leaf in enumerate(leaves)})
    return out.getvalue()


def _plain(leaf: Any) -> Any:
    """Returns a leaf as an array in a type that NumPy has: keys as their bits, narrow floats as float32, narrow integers as int8."""
    import jax
    import numpy as np

    if hasattr(leaf, "dtype") and jax.dtypes.issubdtype(leaf.dtype, jax.dtypes.prng_key):
        leaf = jax.random.key_data(leaf)
    array = np.asarray(leaf)
    if not hasattr(leaf, "dtype"):
        array = array.astype(jax.dtypes.canonicalize_dtype(array.dtype))
    if array.dtype.isbuiltin == 1:
        return array
    return array.astype(np.float32 if jax.dtypes.issubdtype(array.dtype, np.floating) else np.int8)
