"""Shardings of a program's inputs and outputs: as pytrees for JAX, and by name for PyTorch."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable, Mapping, Sequence

from . import meshes, paths, specs
from ._gen.autoshard.v1.plan_pb import MeshAxis, Tensor
from .errors import InvalidError
from .programs import Program, Tree

if TYPE_CHECKING:
    import jax


class Shardings:
    """How the inputs and outputs of a program are cut. Leaves are called by their path: params/layers/0/w_up."""

    def __init__(self, program: Program, axes: Sequence[MeshAxis], inputs: Sequence[Tensor], outputs: Sequence[Tensor], mesh: Any) -> None:
        self._program = program
        self._axes = list(axes)
        self._inputs = list(inputs)
        self._outputs = list(outputs)
        self._given = mesh
        self._mesh: jax.sharding.Mesh | None = None

    @property
    def mesh(self) -> jax.sharding.Mesh:
        """The JAX mesh that the shardings are over: that of the request, with axes cut in two where shardings use parts of them."""
        if self._mesh is None:
            self._mesh = meshes.device_mesh(self._axes, self._given)
        return self._mesh

    @property
    def specs(self) -> dict[str, str]:
        """The PartitionSpecs of all inputs and outputs, as text, by path where that is known and otherwise by name."""
        return {name: _text(tensor) for name, tensor in (*self._named(self._inputs, self._program.inputs),
                                                         *self._named(self._outputs, self._program.outputs))}

    @property
    def in_specs(self) -> Any:
        """PartitionSpecs of the arguments: a tuple of pytrees, without static arguments."""
        return self._arguments(specs.partition_spec)

    @property
    def out_specs(self) -> Any:
        """PartitionSpecs of the results: a pytree."""
        return self._tree(self._outputs, self._program.outputs, specs.partition_spec)

    @property
    def in_shardings(self) -> Any:
        """Shardings of the arguments, for jax.jit: a tuple of pytrees, without static arguments."""
        return self._arguments(self._sharding)

    @property
    def out_shardings(self) -> Any:
        """Shardings of the results, for jax.jit: a pytree."""
        return self._tree(self._outputs, self._program.outputs, self._sharding)

    def jit(self, function: Callable[..., Any] | None = None, **options: Any) -> Any:
        """Returns the function under jax.jit with these shardings, and with the static and donated arguments that it was planned with.

        Without a function it is the planned one. Options are those of jax.jit.
        """
        import jax

        calling = self._program.calling
        if function is None and calling is None:
            raise InvalidError("the program was planned without its function: give it to jit")
        if calling is not None:
            if calling.keywords:
                raise InvalidError("jax.jit has no in_shardings for arguments by keyword: plan with arguments by position")
            options = {"static_argnums": calling.static_argnums, "donate_argnums": calling.donate_argnums, **options}
        return jax.jit(function or calling.function, in_shardings=self.in_shardings, out_shardings=self.out_shardings, **options)

    def put(self, *args: Any) -> Any:
        """Returns arguments, without static ones, placed as the function wants them: one, or a tuple of several."""
        import jax

        placed = jax.device_put(args, self.in_shardings[: len(args)])
        return placed[0] if len(args) == 1 else placed

    def params_specs(self, argument: str | int = 0) -> Any:
        """Returns the PartitionSpecs of one argument, by position or by name: a pytree such as flax.nnx.State, or an equinox module."""
        if isinstance(argument, int):
            return self.in_specs[argument]
        tree = self._tree_of(self._program.inputs)
        heads = [next(iter(names), "") for names in self._names_by_argument(tree)]
        for at, head in enumerate(heads):
            if head == argument or head.startswith(argument + "/"):
                return self.in_specs[at]
        raise InvalidError(f"the program has no argument {argument!r}, but {', '.join(head.partition('/')[0] for head in heads)}")

    def logical_rules(self, logical: Any, argument: str | int = 0) -> list[tuple[str, Any]]:
        """Returns Flax Linen's rules, (logical axis, mesh axes), that give the specs of an argument for its logical axes.

        Logical is a pytree like the argument, of tuples of names, as flax.linen.get_partition_spec gives it. It is an error where one name
        would have to be cut in two ways.
        """
        import jax

        rules: dict[str, Any] = {}
        is_names = lambda x: isinstance(x, (tuple, jax.sharding.PartitionSpec))
        wanted = jax.tree.leaves(self.params_specs(argument), is_leaf=is_names)
        for names, spec in zip(jax.tree.leaves(logical, is_leaf=is_names), wanted, strict=True):
            for at, name in enumerate(names):
                axes = spec[at] if at < len(spec) else None
                if name is not None and rules.setdefault(name, axes) != axes:
                    raise InvalidError(f"logical axis {name!r} is cut along {rules[name]!r} in one parameter and {axes!r} in another: "
                                       "plan with pins, or use params_specs")
        return list(rules.items())

    def to_dtensor(self, names: Mapping[str, str] | None = None) -> dict[str, list[Any]]:
        """Returns PyTorch's placements for distribute_tensor, one for each axis of the mesh, by path of the input.

        With names, which gives the path of each parameter of a PyTorch module, they are by those.
        """
        from . import dtensor

        axes = [axis.name for axis in self._axes]
        by_path = dict(self._named(self._inputs, self._program.inputs))
        wanted = names or {path: path for path in by_path}
        unknown = [path for path in wanted.values() if path not in by_path]
        if unknown:
            raise InvalidError(f"the program has no input {unknown[0]!r}")
        return {name: dtensor.placements(_text(by_path[path]), axes) for name, path in wanted.items()}

    def _sharding(self, text: str) -> jax.sharding.NamedSharding:
        import jax

        return jax.sharding.NamedSharding(self.mesh, specs.partition_spec(text))

    def _arguments(self, make: Callable[[str], Any]) -> Any:
        args, _kwargs = self._tree(self._inputs, self._program.inputs, make)
        return args

    def _tree(self, tensors: list[Tensor], tree: Tree | None, make: Callable[[str], Any]) -> Any:
        tree = self._tree_of(tree)
        leaves = [make("P()")] * len(tree.names)
        for at, tensor in zip(tree.kept, self._aligned(tensors, tree)):
            leaves[at] = make(_text(tensor))
        import jax

        return jax.tree.unflatten(tree.structure, leaves)

    def _tree_of(self, tree: Tree | None) -> Tree:
        if tree is None:
            raise InvalidError("of a text the pytrees of arguments and results are not known: use specs, or plan the function")
        return tree

    def _aligned(self, tensors: list[Tensor], tree: Tree) -> list[Tensor]:
        """Returns the tensors that are leaves of the tree: tokens and constants come before them."""
        added = len(tensors) - len(tree.kept)
        if added < 0:
            raise InvalidError(f"the program has {len(tensors)} values where the function has {len(tree.kept)}: with "
                               "jax.jit(function, keep_unused=True) both have the same")
        return tensors[added:]

    def _named(self, tensors: list[Tensor], tree: Tree | None) -> list[tuple[str, Tensor]]:
        if tree is None:
            return [(tensor.name, tensor) for tensor in tensors]
        return [(tree.names[at], tensor) for at, tensor in zip(tree.kept, self._aligned(tensors, tree))]

    def _names_by_argument(self, tree: Tree) -> list[list[str]]:
        import jax

        args, _kwargs = jax.tree.unflatten(tree.structure, tree.names)
        return [jax.tree.leaves(arg) for arg in args]

    def _input(self, path: str) -> str:
        """Returns what the program calls an input or output, by its path, a pattern that fits one alone, or its name there."""
        for tensors, tree in ((self._inputs, self._program.inputs), (self._outputs, self._program.outputs)):
            if tree is None:
                continue
            named = self._named(tensors, tree)
            found = paths.find(path, [name for name, _ in named])
            if len(found) == 1 or found and named[found[0]][0] == path:
                return named[found[0]][1].name
            if found:
                raise InvalidError(f"{path!r} fits {len(found)} values, {named[found[0]][0]} and others: name one")
        return path


def _text(tensor: Tensor) -> str:
    return tensor.refined_spec or tensor.spec
