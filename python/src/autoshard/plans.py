"""A plan: the shardings that were chosen, what they cost and why, and what can be asked about them."""

from __future__ import annotations

import importlib.util
import os
from typing import Any

from . import show
from ._gen.autoshard.v1 import plan_pb, service_pb
from .client import Client
from .errors import InvalidError
from .programs import Program
from .shardings import Shardings


class Answer:
    """An answer of the planner: its fields are attributes, and its text is what the command line prints."""

    def __init__(self, message: Any, text: str) -> None:
        self.message = message
        self._text = text

    def __getattr__(self, name: str) -> Any:
        return getattr(self.message, name)

    def __str__(self) -> str:
        return self._text

    __repr__ = __str__


class Plan(Shardings):
    """Shardings of a program, chosen by cost. Times are in seconds, sizes in bytes; plan.message has all fields of plan.json."""

    def __init__(self, message: plan_pb.Plan, program: Program, client: Client, request: service_pb.PlanRequest | None = None,
                 mesh: Any = None) -> None:
        axes = message.refined_mesh or message.mesh
        super().__init__(program, axes, message.inputs, message.outputs, mesh)
        self.message = message
        self._client = client
        self._request = request

    @property
    def seconds(self) -> float:
        """Predicted time of a step."""
        return self.message.estimate.seconds

    @property
    def peak_bytes(self) -> int:
        """The most that a device holds."""
        return self.message.estimate.peak_bytes

    @property
    def bytes_sent(self) -> int:
        """What all devices send in a step."""
        return self.message.estimate.sent_bytes

    @property
    def gap(self) -> float:
        """How far below this plan a better one could be at most, as a part of its time: 0 is proven to be best."""
        return self.message.certificate.gap

    @property
    def findings(self) -> list[plan_pb.Finding]:
        """What the plan does not keep of what was written, or does not know."""
        return list(self.message.findings)

    @property
    def collectives(self) -> Any:
        """Communications of a step in program order: a pandas.DataFrame where pandas is installed, a list of dictionaries otherwise."""
        rows = [{"kind": c.kind, "axes": ",".join(c.axes or c.groups), "type": c.type, "count": c.count, "bytes": c.bytes,
                 "seconds": c.seconds, "source": c.source} for c in self.message.collectives]
        if importlib.util.find_spec("pandas") is None:
            return rows
        import pandas

        return pandas.DataFrame(rows, columns=["kind", "axes", "type", "count", "bytes", "seconds", "source"])

    def explain(self, path: str = "", *, axis: str = "", most: int = 3) -> Answer:
        """Says how else an input or output could be cut, along an axis or any, and what a step would take then.

        Without a path: what the decisions that matter most are worth.
        """
        if self._request is None:
            raise InvalidError("a plan that was read from a file has not its program: plan again")
        request = service_pb.WeighPlanRequest(plan=self._request, value=self._input(path), axis=axis, most=most)
        reply = self._client.call("weigh_plan", request)
        return Answer(reply.weighing if path else reply, reply.text)

    def diff(self, after: Plan) -> Answer:
        """Says in what another plan differs from this one."""
        reply = self._client.call("diff_plans", service_pb.DiffPlansRequest(before=self.message, after=after.message))
        return Answer(reply.difference, reply.text)

    def memory(self) -> Answer:
        """Says what a device holds while a step runs: the peak, what is held there, and the curve."""
        reply = self._client.call("memory", service_pb.MemoryRequest(plan=self.message))
        return Answer(reply.memory, reply.text)

    def estimate(self) -> Answer:
        """Says what a step waits for, op by op."""
        reply = self._client.call("estimate", service_pb.EstimateRequest(plan=self.message))
        return Answer(reply.breakdown, reply.text)

    def constrain(self, **options: Any) -> Any:
        """Returns the planned program under jax.jit with the plan's shardings inside, too, as constraints: wherever the plan moves a value, or
        XLA would cut one otherwise. It takes the arguments without static ones, and is not differentiated further. Options are those of
        jax.jit."""
        import jax
        from protobuf import Oneof

        text = Oneof("text", self.emit("annotated"))
        request = service_pb.ConvertRequest(source=service_pb.Source(source=text), form="jax-export")
        exported = jax.export.deserialize(bytearray(self._client.call("convert", request).content))
        inputs, outputs = self._tree_of(self._program.inputs), self._tree_of(self._program.outputs)

        def constrained(*args: Any) -> Any:
            leaves = jax.tree.leaves(args)
            return jax.tree.unflatten(outputs.structure, exported.call(*(leaves[i] for i in inputs.kept)))

        calling = self._program.calling
        options = {"donate_argnums": calling.donated if calling else (), **options}
        return jax.jit(constrained, in_shardings=self.in_shardings, out_shardings=self.out_shardings, **options)

    def emit(self, form: str = "jax") -> str:
        """Returns the program in a form: jax (Python with shard_map and the collectives that were priced), stablehlo, shardmap, sdy,
        reshards, collectives, local, annotated, json (plan.json), report, memory-svg or review (HTML)."""
        return self._client.call("emit", service_pb.EmitRequest(plan=self.message, form=form)).text

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes plan.json, which autoshard.load and the command line read."""
        with open(path, "w", encoding="utf-8") as file:
            file.write(self.emit("json"))

    def review(self, path: str | os.PathLike[str]) -> None:
        """Writes the page that shows how the plan was decided and what it costs, a file of its own for browsers."""
        with open(path, "w", encoding="utf-8") as file:
            file.write(self.emit("review"))

    def __str__(self) -> str:
        return self.emit("report")

    def __repr__(self) -> str:
        return show.headline(self.message)

    def _repr_html_(self) -> str:
        return show.html(self.message, self.specs, self.emit("memory-svg"), self.emit("review"))


class Propagation(Shardings):
    """Shardings that follow from those in the program alone, by Shardy's rules."""

    def __init__(self, message: service_pb.PropagateResponse, program: Program, mesh: Any = None) -> None:
        super().__init__(program, message.mesh, message.inputs, message.outputs, mesh)
        self.message = message

    @property
    def text(self) -> str:
        """The program with the shardings of all values, as MLIR."""
        return self.message.program

    def __repr__(self) -> str:
        return show.table(self.specs)
