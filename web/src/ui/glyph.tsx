// Tensors drawn as blocks: a cell for each dimension, coloured by the axes that cut it.
import type { Review } from "../model";

export function axisColour(axis: number): string { return `var(--axis-${axis % 8})`; }

// Tensor is one value as it is cut.
export function Tensor({ review, value, dims, lit = -1 }: { review: Review; value: number; dims: number[]; lit?: number }) {
  const t = review.type(value);
  if (t.dims.length === 0) return <span class="tensor"><span class="cell scalar">{t.text.replace("[]", "")}</span></span>;
  const unreduced = review.doc.axes[review.unreduced(value)];
  return (
    <span class="tensor" role="img" aria-label={`${t.text} ${review.specText(dims)}`}>
      {t.dims.map((n, d) => {
        const parts = review.doc.axes[dims[d] ?? 0];
        return (
          <span class={`cell${parts.length ? " cut" : ""}${d === lit ? " lit" : ""}`} key={d} style={parts.length ? { background: stripes(parts.map((p) => p.axis)) } : undefined}
            title={parts.length ? `dimension ${d}: ${n} along ${review.axesText(dims[d])}` : `dimension ${d}: ${n}, whole`}>
            {n}
          </span>
        );
      })}
      {unreduced.length > 0 && <span class="partial" style={{ color: axisColour(unreduced[0].axis) }} title={`partial along ${review.axesText(review.unreduced(value))}`}>Σ</span>}
    </span>
  );
}

function stripes(axes: number[]): string {
  if (axes.length === 1) return axisColour(axes[0]);
  const share = 100 / axes.length;
  return `linear-gradient(100deg, ${axes.map((a, i) => `${axisColour(a)} ${i * share}% ${(i + 1) * share}%`).join(", ")})`;
}

// Axis is the name of an axis in its colour.
export function Axis({ axis, name, size }: { axis: number; name: string; size?: number }) {
  return <span class="axis"><i style={{ background: axisColour(axis) }} aria-hidden="true" />{name}{size !== undefined && <small>{size}</small>}</span>;
}

// Axes is a list of axes in their colours.
export function Axes({ review, list }: { review: Review; list: number }) {
  const parts = review.doc.axes[list];
  if (parts.length === 0) return <span class="quiet">whole</span>;
  return <>{parts.map((p, i) => {
    const a = review.doc.mesh[p.axis];
    return <Axis key={i} axis={p.axis} name={a.size === p.size ? a.name : `${a.name}:(${p.pre})${p.size}`} />;
  })}</>;
}

// NamedAxes is the same for axes by name, as collectives have them.
export function NamedAxes({ review, names }: { review: Review; names: string[] }) {
  return <>{names.map((n) => <Axis key={n} axis={Math.max(0, review.doc.mesh.findIndex((a) => a.name === n.split(":")[0]))} name={n} />)}</>;
}
