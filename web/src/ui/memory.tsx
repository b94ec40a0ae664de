// What a device holds while a step runs, by class, as stacked areas.
import { useMemo } from "preact/hooks";
import type { Memory } from "../document";
import { bytes } from "../model";

const width = 900, height = 190, left = 64, bottom = 18;

export function MemoryChart({ memory, limit }: { memory: Memory; limit: number }) {
  const top = Math.max(memory.peakBytes, limit > 0 && limit < memory.peakBytes * 3 ? limit : 0) * 1.06;
  const x = (op: number) => left + (op / Math.max(1, memory.ops - 1)) * (width - left);
  const y = (b: number) => height - bottom - (b / top) * (height - bottom - 8);
  const areas = useMemo(() => paths(memory, x, y), [memory]);
  return (
    <figure class="memory">
      <svg viewBox={`0 0 ${width} ${height}`} role="img" aria-label={`Memory over the step: ${bytes(memory.peakBytes)} at most, at operation ${memory.at.number}`}>
        {[0, 0.5, 1].map((f) => <g key={f}><line class="grid" x1={left} x2={width} y1={y(f * top / 1.06)} y2={y(f * top / 1.06)} /><text x={left - 6} y={y(f * top / 1.06) + 4} text-anchor="end">{bytes(f * top / 1.06)}</text></g>)}
        {areas.map((d, i) => <path key={i} d={d} class={`class-${i % 8}`}><title>{memory.classes[i]}</title></path>)}
        {limit > 0 && limit <= top && <g class="limit"><line x1={left} x2={width} y1={y(limit)} y2={y(limit)} /><text x={width - 4} y={y(limit) - 4} text-anchor="end">limit {bytes(limit)}</text></g>}
        <line class="peak" x1={x(memory.at.number)} x2={x(memory.at.number)} y1={8} y2={height - bottom} />
        <text x={left} y={height - 3}>first operation</text><text x={width} y={height - 3} text-anchor="end">last</text>
      </svg>
      <figcaption>{memory.classes.map((c, i) => memory.atPeak[i] > 0 && <span key={c}><i class={`class-${i % 8}`} aria-hidden="true" />{c} {bytes(memory.atPeak[i])}</span>)}</figcaption>
    </figure>
  );
}

// paths are the areas of classes over each other, of at most a few points a pixel: of more, the one that holds most.
function paths(m: Memory, x: (op: number) => number, y: (b: number) => number): string[] {
  const points: { op: number; sums: number[] }[] = [];
  const step = Math.max(1, m.ops / 1200);
  for (const s of m.curve) {
    let sum = 0;
    const sums = s.bytes.map((b) => (sum += b));
    const last = points[points.length - 1];
    if (last && s.op - last.op < step) { if (sum > last.sums[last.sums.length - 1]) last.sums = sums; } else points.push({ op: s.op, sums });
  }
  return m.classes.map((_, c) => {
    if (points.length === 0) return "";
    const upper: string[] = [], lower: string[] = [];
    points.forEach((p, i) => {
      const end = i + 1 < points.length ? points[i + 1].op : m.ops - 1;
      const low = c > 0 ? p.sums[c - 1] : 0;
      upper.push(`${x(p.op).toFixed(1)},${y(p.sums[c]).toFixed(1)}`, `${x(end).toFixed(1)},${y(p.sums[c]).toFixed(1)}`);
      lower.push(`${x(p.op).toFixed(1)},${y(low).toFixed(1)}`, `${x(end).toFixed(1)},${y(low).toFixed(1)}`);
    });
    return `M${upper.join("L")}L${lower.reverse().join("L")}Z`;
  });
}
