// Which device holds which block of a value, and what a collective makes of that.
import { useMemo } from "preact/hooks";
import { bytes, type Review } from "../model";
import { go, playbackOf, review as current, selected } from "../state";
import { axisColour, Tensor } from "../ui/glyph";
import { Empty, Section } from "../ui/parts";

const moves = ["all_gather", "all_slice", "all_to_all", "all_reduce", "reduce_scatter", "collective_permute", "reshard", "sharded_to_unreduced"];
const mostDevices = 256;

export function Devices() {
  const r = current.value!;
  const steps = useMemo(() => r.doc.ops.kind.flatMap((_, op) => (moves.includes(r.kind(op)) && r.valuesOf[op].length > 0 && r.operands(op)[0] >= 0 ? [op] : [])), [r]);
  const value = selected.value >= 0 ? selected.value : steps.length > 0 ? r.valuesOf[steps[0]][0] : r.args[0] ?? -1;
  if (value < 0) return <Empty>The program has no values.</Empty>;
  const op = r.doc.values.op[value];
  const moved = op >= 0 && steps.includes(op);
  const at = steps.indexOf(op);
  const to = (i: number) => go({ value: r.valueName(r.valuesOf[steps[i]][0]) }, "devices", true);
  return (
    <div class="page">
      <div class="toolbar">
        <label>value <input list="values" value={r.valueName(value)} spellcheck={false} onChange={(e) => { if (r.find(e.currentTarget.value) >= 0) go({ value: e.currentTarget.value }, "devices"); }} /></label>
        <datalist id="values">{r.args.slice(0, 400).map((v) => <option key={v} value={r.valueName(v)} />)}</datalist>
        {steps.length > 0 && <span class="buttons" role="group" aria-label="Collectives">
          <button disabled={at === 0} onClick={() => to(Math.max(0, at - 1))} aria-label="Previous collective">◀</button>
          <span class="position">{at >= 0 ? `collective ${at + 1} of ${steps.length}` : `${steps.length} collectives`}</span>
          <button disabled={at === steps.length - 1} onClick={() => to(at + 1)} aria-label="Next collective">▶</button>
        </span>}
      </div>
      {moved ? <div class="beside">
        <Section title={`Before ${r.kind(op)} ${r.line(op)}`}><Blocks r={r} value={r.operands(op)[0]} /></Section>
        <Section title="After"><Blocks r={r} value={value} /></Section>
      </div> : <Section title={`${op >= 0 ? r.kind(op) : op === -1 ? "input" : "output"} ${r.line(op)}`}><Blocks r={r} value={value} /></Section>}
    </div>
  );
}

// Blocks draws the whole value in each device, and the device's block in it.
function Blocks({ r, value }: { r: Review; value: number }) {
  const p = playbackOf(r);
  p?.seek(p.total);
  const dims = p ? p.dims(value) : r.finalDims(value);
  const t = r.type(value);
  const partial = r.doc.axes[r.unreduced(value)];
  const devices = Math.min(r.devices, mostDevices);
  const columns = r.doc.mesh.length > 0 ? Math.min(32, r.doc.mesh[r.doc.mesh.length - 1].size) : 1;
  const cut = dims.flatMap((list, d) => (r.doc.axes[list].length ? [d] : []));
  const shownDims = [...new Set([...cut, ...t.dims.map((_, d) => d).reverse()])].slice(0, 2).sort((a, b) => a - b);
  const copies = r.devices / Math.max(1, cut.reduce((n, d) => n * r.parts(dims[d]), 1));
  return (
    <>
      <p class="facts"><code>{r.valueName(value)}</code> {t.text} <Tensor review={r} value={value} dims={dims} /> {bytes(r.blockBytes(value, dims))} a device{partial.length === 0 && copies > 1 && `, each block on ${copies} devices`}{partial.length > 0 && `, partial along ${r.axesText(r.unreduced(value))}`}</p>
      <div class="devices" style={{ gridTemplateColumns: `repeat(${columns}, minmax(34px, 84px))` }}>
        {Array.from({ length: devices }, (_, d) => <Device key={d} r={r} device={d} dims={dims} shown={shownDims} partial={partial.length > 0} />)}
      </div>
      <p class="quiet">{shownDims.length === 2 ? `Down is dimension ${shownDims[0]}, across dimension ${shownDims[1]}.` : shownDims.length === 1 ? `Across is dimension ${shownDims[0]}.` : "A number, which every device has."} Rows of devices go along {r.doc.mesh.slice(0, -1).map((a) => a.name).join(", ") || "nothing"}, columns along {r.doc.mesh.at(-1)?.name}.{r.devices > devices && ` The first ${devices} of ${r.devices} devices are drawn.`}</p>
    </>
  );
}

function Device({ r, device, dims, shown, partial }: { r: Review; device: number; dims: number[]; shown: number[]; partial: boolean }) {
  const [row, column] = shown.length === 2 ? shown : [-1, shown[0] ?? -1];
  const span = (d: number) => {
    if (d < 0) return { from: 0, part: 1 };
    const n = r.parts(dims[d]);
    return { from: r.blockIndex(device, dims[d]) / n, part: 1 / n };
  };
  const x = span(column), y = span(row);
  const other = dims.map((list, d) => (shown.includes(d) || !r.doc.axes[list].length ? "" : `${d}:${r.blockIndex(device, list)}`)).filter(Boolean).join(" ");
  const axis = shown.flatMap((d) => r.doc.axes[dims[d]] ?? [])[0]?.axis;
  const where = dims.map((list, d) => (r.doc.axes[list].length ? `dimension ${d} block ${r.blockIndex(device, list)} of ${r.parts(list)}` : "")).filter(Boolean).join(", ") || "all";
  const id = r.doc.deviceIds[device];
  return (
    <div class="device" title={`device ${id}: ${where}`}>
      <svg viewBox="0 0 60 40" role="img" aria-label={`device ${id}: ${where}`}>
        <rect class="whole" x="0.5" y="0.5" width="59" height="39" rx="2" />
        <rect class={`block${partial ? " partial" : ""}`} x={x.from * 60} y={y.from * 40} width={Math.max(1.5, x.part * 60)} height={Math.max(1.5, y.part * 40)} rx="2" style={{ fill: axis === undefined ? "var(--unit)" : axisColour(axis) }} />
      </svg>
      <span>{id}{other && <small class="quiet"> {other}</small>}</span>
    </div>
  );
}
