// Drawings of a part of the program: nodes in layers, as SVG and DOT.
import type { Review } from "../model";

export interface Node { id: number; label: string; note: string; op: number; scope: number; dims: number[]; value: number; x: number; y: number; layer: number }
export interface Drawing { nodes: Node[]; edges: [number, number][]; width: number; height: number; left: number }

const most = 90; // nodes of a drawing
export const box = { width: 168, height: 44, gapX: 26, gapY: 34 };

// partOps are the operations of a scope and of those in it.
export function partOps(r: Review, scope: number): number[] {
  const out = [...r.scopeOps[scope]];
  for (const c of r.children[scope]) out.push(...partOps(r, c));
  return out.sort((a, b) => a - b);
}

// around are the operations near one: what it reads from and who reads it, some steps far.
export function around(r: Review, op: number, far = 2): number[] {
  const seen = new Set([op]);
  let ring = [op];
  for (let i = 0; i < far; i++) {
    const next: number[] = [];
    for (const o of ring) {
      const near = [...r.operands(o).map((v) => (v < 0 ? -1 : r.doc.values.op[v])), ...r.valuesOf[o].flatMap((v) => [...r.uses[v]])];
      for (const n of near) if (n >= 0 && !seen.has(n) && seen.size < most / 2) { seen.add(n); next.push(n); }
    }
    ring = next;
  }
  return [...seen].sort((a, b) => a - b);
}

// draw places operations in layers. Where there are too many, those of scopes below are one node each.
export function draw(r: Review, ops: number[], scope: number, dims: (v: number) => number[]): Drawing {
  const inside = new Set(ops);
  const folded = ops.length > most && scope >= 0;
  const nodeOf = new Map<number, number>(); // by operation
  const nodes: Node[] = [];
  const byScope = new Map<number, number>();
  let left = 0;
  for (const op of ops) {
    const child = folded ? childOf(r, scope, r.doc.ops.scope[op]) : -1;
    if (child >= 0) {
      const at = byScope.get(child) ?? nodes.length;
      if (at === nodes.length) {
        byScope.set(child, at);
        nodes.push({ ...blank, id: at, label: r.scopeName(child), note: "", scope: child });
      }
      nodeOf.set(op, at);
    } else if (nodes.length < most) {
      const value = r.valuesOf[op][0] ?? -1;
      nodeOf.set(op, nodes.length);
      nodes.push({ ...blank, id: nodes.length, label: r.kind(op), note: `${value >= 0 ? r.valueName(value) : ""} ${r.line(op)}`.trim(), op, value,
        dims: value >= 0 ? dims(value) : [] });
    } else left++;
  }
  const edges = new Map<string, [number, number]>();
  for (const op of ops) {
    for (const v of r.operands(op)) {
      const from = v >= 0 ? r.doc.values.op[v] : -1;
      const a = from >= 0 && inside.has(from) ? nodeOf.get(from) : undefined, b = nodeOf.get(op);
      if (a !== undefined && b !== undefined && a !== b) edges.set(`${a} ${b}`, [a, b]);
    }
  }
  return place(nodes, [...edges.values()].filter(([a, b]) => a < b), left);
}

const blank = { label: "", note: "", op: -1, scope: -1, dims: [] as number[], value: -1, x: 0, y: 0, layer: 0 };

function childOf(r: Review, scope: number, of: number): number {
  while (of >= 0 && r.doc.scopes.parent[of] !== scope) of = r.doc.scopes.parent[of];
  return of;
}

// place gives nodes a layer behind all that they read, and orders layers by where neighbours are.
function place(nodes: Node[], edges: [number, number][], left: number): Drawing {
  const before: number[][] = nodes.map(() => []);
  for (const [a, b] of edges) before[b].push(a);
  for (const n of nodes) n.layer = before[n.id].reduce((l, a) => Math.max(l, nodes[a].layer + 1), 0);
  const after: number[][] = nodes.map(() => []);
  for (const [a, b] of edges) after[a].push(b);
  for (const n of [...nodes].reverse()) { // what nothing in the drawing comes before stands next to its reader
    if (before[n.id].length === 0 && after[n.id].length > 0) n.layer = Math.min(...after[n.id].map((b) => nodes[b].layer)) - 1;
  }
  const lowest = Math.min(0, ...nodes.map((n) => n.layer));
  const layers: Node[][] = [];
  for (const n of nodes) (layers[n.layer -= lowest] ??= []).push(n);
  let width = 0;
  for (let l = 0; l < layers.length; l++) {
    layers[l] ??= [];
    const wish = (n: Node) => (before[n.id].length ? before[n.id].reduce((s, a) => s + nodes[a].x, 0) / before[n.id].length : n.id * 1e-6);
    const wishes = new Map(layers[l].map((n) => [n, wish(n)]));
    layers[l].sort((a, b) => wishes.get(a)! - wishes.get(b)!);
    layers[l].forEach((n, i) => { n.x = i * (box.width + box.gapX); n.y = l * (box.height + box.gapY); });
    width = Math.max(width, layers[l].length * (box.width + box.gapX));
  }
  for (const layer of layers) for (const n of layer) n.x += (width - layer.length * (box.width + box.gapX)) / 2 + 12;
  return { nodes, edges, width: width + 24, height: layers.length * (box.height + box.gapY) + 12, left };
}

// dot writes operations and what flows between them for Graphviz.
export function dot(r: Review, ops: number[], dims: (v: number) => number[]): string {
  const inside = new Set(ops);
  const lines = ops.map((op) => {
    const v = r.valuesOf[op][0];
    const label = [r.opLabel(op), v === undefined ? "" : `${r.type(v).text} ${r.specText(dims(v))}`, r.line(op)].filter(Boolean).join("\n");
    return `  n${op} [label=${JSON.stringify(label)}]`;
  });
  for (const op of ops) {
    for (const v of new Set(r.operands(op))) {
      if (v < 0) continue;
      const from = r.doc.values.op[v];
      if (from >= 0 && inside.has(from)) lines.push(`  n${from} -> n${op}`);
      else if (from === -1) lines.push(`  v${v} [shape=box, label=${JSON.stringify(r.valueName(v))}]`, `  v${v} -> n${op}`);
    }
  }
  return `digraph program {\n  node [shape=plain]\n${[...new Set(lines)].join("\n")}\n}\n`;
}

// svgFile writes a drawing that is in the page as a file of its own, with the colours that it has there.
export function svgFile(svg: SVGSVGElement): string {
  const copy = svg.cloneNode(true) as SVGSVGElement;
  const from = [svg, ...svg.querySelectorAll<SVGElement>("*")], to = [copy, ...copy.querySelectorAll<SVGElement>("*")];
  from.forEach((e, i) => {
    const style = getComputedStyle(e);
    for (const p of ["fill", "stroke", "stroke-width", "font-family", "font-size", "font-weight"]) to[i].setAttribute(p, style.getPropertyValue(p));
    to[i].removeAttribute("class");
  });
  copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
  return new XMLSerializer().serializeToString(copy);
}
