// A document with what its columns leave to be found: users of values, operations of scopes, words.
import type { Document } from "./document";

export type Dims = Int32Array[]; // by dimension, by value: number of the list of axes

export const NONE = -1;
export const MOVE = 0, ACTIVATE = 1, REPLACE = 2, REFUSAL = 3;

export class Review {
  readonly name: string;
  readonly uses: Int32Array[] = [];
  readonly scopeOps: number[][] = [];
  readonly children: number[][] = [];
  readonly alike: number[][] = []; // scopes that do the same as one, itself first
  readonly valuesOf: number[][] = []; // of operations, what they make
  readonly args: number[] = [];
  readonly results: number[] = [];
  private readonly byName = new Map<string, number>();

  constructor(readonly doc: Document, name: string) {
    this.name = name;
    const { ops, values, scopes } = doc;
    const uses: number[][] = values.op.map(() => []);
    ops.kind.forEach((_, op) => {
      this.valuesOf.push([]);
      for (const v of this.operands(op)) if (v >= 0) uses[v].push(op);
    });
    this.uses = uses.map((u) => Int32Array.from(u));
    values.op.forEach((op, v) => {
      if (op >= 0) this.valuesOf[op].push(v);
      else (op === -1 ? this.args : this.results).push(v);
      this.byName.set(this.valueName(v), v);
    });
    scopes.name.forEach((_, s) => {
      this.scopeOps.push([]);
      this.children.push([]);
      this.alike.push([]);
      if (scopes.parent[s] >= 0) this.children[scopes.parent[s]].push(s);
      this.alike[scopes.like[s]].push(s);
    });
    ops.scope.forEach((s, op) => this.scopeOps[s].push(op));
  }

  get devices(): number { return this.doc.mesh.reduce((n, a) => n * a.size, 1); }
  text(i: number): string { return i < 0 ? "" : this.doc.strings[i]; }
  valueName(v: number): string { return v < 0 ? "a value that is no longer used" : this.text(this.doc.values.name[v]); }
  find(name: string): number { return this.byName.get(name) ?? NONE; }
  kind(op: number): string { const k = this.text(this.doc.ops.kind[op]); return k.slice(k.indexOf(".") + 1); }
  line(op: number): string { return op < 0 ? "" : this.text(this.doc.ops.source[op]); }
  lineOf(v: number): string { return this.line(this.doc.values.op[v]); }
  type(v: number) { return this.doc.types[this.doc.values.type[v]]; }
  operands(op: number): number[] { return this.doc.ops.operands.slice(this.doc.ops.first[op], this.doc.ops.first[op + 1]); }
  scopeName(s: number): string { return this.text(this.doc.scopes.name[s]); }

  // path names a scope with those around it, without the module.
  path(s: number): string {
    const parts: string[] = [];
    for (; s > 0; s = this.doc.scopes.parent[s]) parts.unshift(this.scopeName(s));
    return parts.join(" / ");
  }

  // opLabel names an operation by its first result.
  opLabel(op: number): string {
    const made = this.valuesOf[op];
    return (made.length > 0 ? this.valueName(made[0]) + " = " : "") + this.kind(op);
  }

  axesText(list: number): string {
    return this.doc.axes[list].map((p) => {
      const axis = this.doc.mesh[p.axis];
      return axis.size === p.size ? axis.name : `${axis.name}:(${p.pre})${p.size}`;
    }).join(", ");
  }

  // parts is into how many blocks a list of axes cuts.
  parts(list: number): number { return this.doc.axes[list].reduce((n, p) => n * p.size, 1); }

  // finalDims are the lists of axes of a value in the end.
  finalDims(v: number): number[] {
    const dims = this.doc.shardings[this.doc.values.sharding[v]].dims;
    return this.type(v).dims.map((_, d) => dims[d] ?? 0);
  }

  unreduced(v: number): number { return this.doc.shardings[this.doc.values.sharding[v]].unreduced; }

  // blockBytes is what a device holds of a value that is cut so.
  blockBytes(v: number, dims: number[]): number {
    const t = this.type(v);
    let bytes = t.bytes;
    t.dims.forEach((n, d) => { if (n > 0) bytes = (bytes / n) * Math.ceil(n / this.parts(dims[d] ?? 0)); });
    return bytes;
  }

  specText(dims: number[]): string {
    return dims.map((list) => (this.doc.axes[list].length ? this.axesText(list) : "–")).join(" × ");
  }

  // blockIndex is which block of a dimension a device at a place of the mesh has.
  blockIndex(device: number, list: number): number {
    const { mesh } = this.doc;
    return this.doc.axes[list].reduce((index, p) => {
      let stride = 1;
      for (let i = p.axis + 1; i < mesh.length; i++) stride *= mesh[i].size;
      const at = Math.floor(device / stride) % mesh[p.axis].size;
      const inner = mesh[p.axis].size / (p.pre * p.size);
      return index * p.size + (Math.floor(at / inner) % p.size);
    }, 0);
  }
}

export function bytes(n: number): string {
  const units = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];
  let i = 0;
  while (Math.abs(n) >= 1024 && i < units.length - 1) { n /= 1024; i++; }
  return `${i === 0 ? n : Number(n.toPrecision(3))} ${units[i]}`;
}

export function seconds(s: number): string {
  for (const [unit, size] of [["s", 1], ["ms", 1e-3], ["µs", 1e-6], ["ns", 1e-9]] as const) {
    if (Math.abs(s) >= size) return `${Number((s / size).toPrecision(3))} ${unit}`;
  }
  return s === 0 ? "0 s" : `${Number((s / 1e-12).toPrecision(3))} ps`;
}

export function count(n: number, one: string, more = one + "s"): string {
  return `${n.toLocaleString("en")} ${n === 1 ? one : more}`;
}
