"""Plans for people: a line, a table, and what notebooks show."""

from __future__ import annotations

import base64
import html as markup
from typing import Mapping

from . import sizes
from ._gen.autoshard.v1.plan_pb import Plan, Tensor


def headline(plan: Plan) -> str:
    """Returns a plan in two lines: what it is for, and what it predicts."""
    mesh = ",".join(f"{axis.name}={axis.size}" for axis in plan.mesh)
    others = ", ".join(f"{b.name} {sizes.show_seconds(b.estimate.seconds)}{'' if b.fits else ' (does not fit)'}" for b in plan.baselines)
    return (f"<Plan of {plan.model} on {mesh} ({plan.hardware}): a step takes {sizes.show_seconds(plan.estimate.seconds)}, "
            f"a device holds {sizes.show(plan.estimate.peak_bytes)} of {sizes.show(plan.memory_limit)}, "
            f"{sizes.show(plan.estimate.sent_bytes)} sent, {plan.certificate.status}, gap {plan.certificate.gap:.1%}\n"
            f" beside it: {others}>")


def table(specs: Mapping[str, str]) -> str:
    """Returns names with their specs, in columns."""
    width = max(map(len, specs), default=0)
    return "\n".join(f"{name.ljust(width)}  {spec}" for name, spec in specs.items())


def html(plan: Plan, specs: Mapping[str, str], memory_svg: str, review: str) -> str:
    """Returns what a notebook shows: the headline, the inputs and outputs with a picture of their blocks, the memory of a step, and a link to
    the page of the review, which is in the notebook, as the server may be on another machine."""
    page = base64.b64encode(review.encode()).decode()
    rows = "".join(_row(name, tensor) for name, tensor in zip(specs, [*plan.inputs, *plan.outputs]))
    return (f"<div><p>{markup.escape(headline(plan).strip('<>')).replace(chr(10), '<br>')}</p>"
            f"<details open><summary>shardings</summary><table><tr><th>value</th><th>type</th><th>sharding</th><th>a device</th><th></th></tr>"
            f"{rows}</table></details><details><summary>memory of a device</summary>{memory_svg[memory_svg.find('<svg'):]}</details>"
            f'<p><a download="{markup.escape(plan.model)}.html" href="data:text/html;base64,{page}">review</a></p></div>')


def _row(name: str, tensor: Tensor) -> str:
    cells = (name, tensor.type, tensor.refined_spec or tensor.spec, sizes.show(tensor.bytes))
    return "<tr>" + "".join(f"<td>{markup.escape(cell)}</td>" for cell in cells) + f"<td>{_picture(tensor)}</td></tr>"


def _picture(tensor: Tensor) -> str:
    """Draws the first two dimensions of a tensor, with the block of one device."""
    whole, local = _dims(tensor.type), _dims(tensor.local_type)
    if not whole:
        return ""
    parts = [max(1, round(w / max(l, 1))) for w, l in zip(whole, local)][:2]
    down, across = (parts if len(parts) == 2 else [1, parts[0]])
    width, height = 80, 24 if len(whole) > 1 else 10
    lines = "".join(f'<line x1="{width * i / across:g}" x2="{width * i / across:g}" y2="{height}" stroke="#888"/>' for i in range(1, across))
    lines += "".join(f'<line y1="{height * i / down:g}" y2="{height * i / down:g}" x2="{width}" stroke="#888"/>' for i in range(1, down))
    return (f'<svg width="{width}" height="{height}"><rect width="{width}" height="{height}" fill="#eee"/>'
            f'<rect width="{width / across:g}" height="{height / down:g}" fill="#4a90d9"/>{lines}</svg>')


def _dims(text: str) -> list[int]:
    """Returns the sizes in f32[8,16]."""
    inside = text.partition("[")[2].rstrip("]")
    return [int(n) for n in inside.split(",")] if inside.replace(",", "").isdigit() else []
