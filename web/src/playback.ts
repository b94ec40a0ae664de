// The steps of a propagation played forwards and backwards, and why a dimension is cut as it is.
import type { Steps } from "./document";
import { ACTIVATE, MOVE, REFUSAL, REPLACE, type Review } from "./model";

export interface Reason { step: number; given?: number; children: Reason[] }

export class Playback {
  readonly steps: Steps;
  readonly total: number;
  at = 0; // steps that are done
  private readonly now: Int32Array; // axes of each dimension, by place
  private readonly firstDim: Int32Array; // place of dimension 0, by value
  private readonly before: Int32Array; // axes of To before each step
  private readonly into = new Map<number, number[]>(); // steps that change a place
  private readonly kept = new Map<number, number[]>(); // refusals at a place

  constructor(readonly review: Review, steps: Steps) {
    this.steps = steps;
    this.total = steps.kind.length;
    let places = 0;
    this.firstDim = Int32Array.from(review.doc.values.type, (t) => {
      const first = places;
      places += review.doc.types[t].dims.length;
      return first;
    });
    this.now = new Int32Array(places);
    this.before = new Int32Array(this.total);
    for (const g of steps.given) if (!this.later(g.value, g.dim)) this.now[this.place(g.value, g.dim)] = g.axes;
    const state = Int32Array.from(this.now);
    for (let i = 0; i < this.total; i++) {
      if (steps.to[i] < 0 || steps.toDim[i] < 0) continue;
      const p = this.place(steps.to[i], steps.toDim[i]);
      this.before[i] = state[p];
      add(steps.kind[i] === REFUSAL ? this.kept : this.into, p, i);
      if (steps.kind[i] !== REFUSAL) state[p] = steps.now[i];
    }
  }

  // later says whether a step starts the axes of a dimension.
  private later(value: number, dim: number): boolean {
    this.starts ??= new Set(this.steps.kind.flatMap((k, i) => (k === ACTIVATE ? [this.place(this.steps.to[i], this.steps.toDim[i])] : [])));
    return this.starts.has(this.place(value, dim));
  }
  private starts?: Set<number>;

  private place(value: number, dim: number): number { return this.firstDim[value] + dim; }

  // owner is the value whose axes a value has.
  owner(v: number): number { return this.steps.owner[v]; }

  // dims are the lists of axes of a value now.
  dims(v: number): number[] {
    const first = this.firstDim[this.owner(v)];
    return this.review.type(v).dims.map((_, d) => this.now[first + d]);
  }

  // seek plays to a step, and calls back with each value that is cut otherwise then.
  seek(to: number, changed: (value: number) => void = () => {}): void {
    to = Math.max(0, Math.min(this.total, to));
    for (; this.at < to; this.at++) this.apply(this.at, this.steps.now[this.at], changed);
    while (this.at > to) this.apply(--this.at, this.before[this.at], changed);
  }

  private apply(i: number, axes: number, changed: (value: number) => void): void {
    const to = this.steps.to[i];
    if (this.steps.kind[i] === REFUSAL || to < 0 || this.steps.toDim[i] < 0) return;
    this.now[this.place(to, this.steps.toDim[i])] = axes;
    changed(to);
  }

  levelOf(step: number): number { return this.total === 0 ? NO_LEVEL : this.steps.level[Math.min(step, this.total - 1)]; }

  // lastLevel is the last level that is done whole, -1 before the first is.
  lastLevel(): number {
    let last = NO_LEVEL;
    this.steps.levels.forEach((l, i) => { if (l.first + l.steps <= this.at) last = i; });
    return last;
  }

  refusals(v: number, dim: number): number[] {
    return (this.kept.get(this.place(this.owner(v), dim)) ?? []).filter((i) => i < this.at);
  }

  // chain returns the steps that led axes to a dimension, the latest last, each with those it goes on from.
  chain(v: number, dim: number): Reason[] {
    const owner = this.owner(v);
    const steps = (this.into.get(this.place(owner, dim)) ?? []).filter((i) => i < this.at);
    const last = steps.findLastIndex((i) => this.steps.kind[i] !== MOVE);
    const out = steps.slice(Math.max(0, last)).map((i) => this.reason(i, 0));
    const given = last < 0 ? this.given(owner, dim) : undefined;
    return given === undefined ? out : [{ step: -1, given, children: [] }, ...out];
  }

  // source returns the steps that led axes to where a step takes them from.
  sources(step: number): Reason[] { return this.reason(step, 0).children; }

  private reason(step: number, depth: number): Reason {
    const s = this.steps;
    if (s.kind[step] === ACTIVATE) return { step, given: this.given(s.to[step], s.toDim[step]), children: [] };
    if (depth > 200) return { step, children: [] };
    const children = s.causes[step].map((c) => this.reason(c, depth + 1));
    if (children.length === 0) {
      const given = this.given(s.from[step], s.fromDim[step]);
      if (given !== undefined) children.push({ step: -1, given, children: [] });
    }
    return { step, children };
  }

  private given(value: number, dim: number): number | undefined {
    const i = this.steps.given.findIndex((g) => g.value === value && g.dim === dim);
    return i < 0 ? undefined : i;
  }

  placeName(value: number, dim: number): string {
    return this.review.valueName(value) + (dim >= 0 ? `[${dim}]` : "");
  }

  // sentence puts a step into words, as the command line does.
  sentence(i: number): string {
    const s = this.steps, r = this.review;
    const axes = `“${r.axesText(s.axes[i])}”`;
    const to = this.placeName(s.to[i], s.toDim[i]);
    if (s.kind[i] === ACTIVATE) return `${axes} starts at ${to}, as annotated`;
    const from = this.placeName(s.from[i], s.fromDim[i]);
    const op = s.op[i] < 0 ? "the function’s result" : `${r.opLabel(s.op[i])} ${r.line(s.op[i])}`.trim();
    if (s.kind[i] === REPLACE) return `${axes} of ${from} replaces what ${to} had, in ${op}`;
    if (s.kind[i] === MOVE) return `${axes} moves from ${from} to ${to} through ${op}`;
    const other = s.other[i] >= 0 ? ` (“${r.axesText(s.against[i])}” at ${this.placeName(s.other[i], s.otherDim[i])})` : "";
    return `${axes} of ${from} is kept from ${to} in ${op}: ${r.text(s.reason[i])}${other}`;
  }
}

const NO_LEVEL = -1;

function add(map: Map<number, number[]>, key: number, value: number): void {
  const list = map.get(key);
  if (list) list.push(value);
  else map.set(key, [value]);
}
