// All values of a program as small cells, in the order of the program, a band for each part of it.
import type { Review } from "../model";

export interface Cells { size: number; width: number; height: number; at: Float32Array; value: Int32Array; bands: { y: number; height: number; name: string }[] }

// layOut gives each value that has dimensions a cell of the largest size at which all fit.
export function layOut(r: Review, width: number, height: number): Cells {
  const bands = bandsOf(r);
  for (let size = 14; size >= 2; size--) {
    const cells = place(r, bands, width, size);
    if (cells.height <= height || size === 2) return cells;
  }
  throw new Error("unreachable");
}

const gap = 1, head = 14;

function place(r: Review, bands: { name: string; values: number[] }[], width: number, size: number): Cells {
  const at = new Float32Array(2 * r.doc.values.op.length).fill(-1);
  const columns = Math.max(1, Math.floor(width / (size + gap)));
  const order: number[] = [];
  const out: Cells["bands"] = [];
  let y = 0;
  for (const b of bands) {
    const top = y;
    y += head;
    b.values.forEach((v, i) => {
      at[2 * v] = (i % columns) * (size + gap);
      at[2 * v + 1] = y + Math.floor(i / columns) * (size + gap);
      order.push(v);
    });
    y += Math.ceil(b.values.length / columns) * (size + gap) + 6;
    out.push({ y: top, height: y - top, name: b.name });
  }
  return { size, width, height: y, at, value: Int32Array.from(order), bands: out };
}

const mostBands = 40;

// bandsOf are inputs, parts of the program that follow each other, and outputs.
function bandsOf(r: Review): { name: string; values: number[] }[] {
  const bands: { name: string; scope: number; values: number[] }[] = [];
  r.doc.ops.scope.forEach((s, op) => {
    while (s > 0 && r.doc.scopes.parent[s] > 0) s = r.doc.scopes.parent[s];
    if (bands.at(-1)?.scope !== s) bands.push({ name: s > 0 ? r.scopeName(s) : "operations", scope: s, values: [] });
    bands.at(-1)!.values.push(...r.valuesOf[op].filter((v) => r.type(v).dims.length > 0));
  });
  const inside = bands.length <= mostBands ? bands : [{ name: "operations", values: bands.flatMap((b) => b.values) }];
  return [{ name: "inputs", values: r.args }, ...inside, { name: "outputs", values: r.results }].filter((b) => b.values.length > 0);
}

// Painter draws cells in the colours of their axes.
export class Painter {
  private readonly g: CanvasRenderingContext2D;
  private readonly colours: string[];
  private readonly empty: string;
  private readonly strong: string;
  constructor(canvas: HTMLCanvasElement, private readonly r: Review, readonly cells: Cells) {
    const scale = window.devicePixelRatio || 1;
    canvas.width = cells.width * scale;
    canvas.height = cells.height * scale;
    canvas.style.height = `${cells.height}px`;
    this.g = canvas.getContext("2d")!;
    this.g.scale(scale, scale);
    const style = getComputedStyle(document.documentElement);
    this.colours = Array.from({ length: 8 }, (_, i) => style.getPropertyValue(`--axis-${i}`).trim());
    this.empty = style.getPropertyValue("--cell").trim();
    this.strong = style.getPropertyValue("--text").trim();
    this.g.font = "11px " + style.getPropertyValue("--sans");
    this.g.fillStyle = style.getPropertyValue("--quiet").trim();
    for (const b of cells.bands) this.g.fillText(b.name, 0, b.y + 10);
  }

  // cell draws one value: a stripe for each axis that cuts it, or with heat how much of it would be gathered.
  cell(v: number, dims: number[], heat?: number): void {
    const { at, size } = this.cells;
    const x = at[2 * v], y = at[2 * v + 1];
    if (x < 0) return;
    const g = this.g;
    g.clearRect(x, y, size, size);
    if (heat !== undefined) {
      g.fillStyle = heat > 0 ? `hsl(${45 - 45 * heat} 90% ${60 - 14 * heat}%)` : this.empty;
      g.fillRect(x, y, size, size);
      return;
    }
    const axes: number[] = [];
    for (const d of dims) for (const p of this.r.doc.axes[d]) axes.push(p.axis);
    if (axes.length === 0) { g.fillStyle = this.empty; g.fillRect(x, y, size, size); return; }
    const w = size / axes.length;
    axes.forEach((a, i) => { g.fillStyle = this.colours[a % 8]; g.fillRect(x + i * w, y, w, size); });
  }

  // ring frames a value.
  ring(v: number): void {
    const { at, size } = this.cells;
    if (at[2 * v] < 0) return;
    this.g.strokeStyle = this.strong;
    this.g.lineWidth = 1.5;
    this.g.strokeRect(at[2 * v] - 0.5, at[2 * v + 1] - 0.5, size + 1, size + 1);
  }

  hit(x: number, y: number): number {
    const { at, value, size } = this.cells;
    for (const v of value) if (x >= at[2 * v] && x <= at[2 * v] + size && y >= at[2 * v + 1] && y <= at[2 * v + 1] + size) return v;
    return -1;
  }
}
