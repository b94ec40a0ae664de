// Two plans or two propagations side by side.
import { useMemo } from "preact/hooks";
import { bytes, count, seconds, type Review } from "../model";
import { go, numberParam, playbackOf, shown, subjects } from "../state";
import { NamedAxes, Tensor } from "../ui/glyph";
import { List } from "../ui/list";
import { Empty, Section } from "../ui/parts";
import { families } from "./plan";

export function Compare() {
  const list = subjects.value;
  const other = numberParam("with", list.length > 1 ? (shown.value === 0 ? 1 : 0) : -1);
  const a = list[shown.value]?.review, b = list[other]?.review;
  return (
    <div class="page">
      <div class="toolbar">
        <Choice label="this" at={shown.value} change={(i) => go({ doc: i })} />
        <Choice label="beside" at={other} change={(i) => go({ with: i })} />
      </div>
      {a && b && a !== b ? <Both a={a} b={b} /> : <Empty>Open a second plan or model, or make one under “What if”, and choose it beside this one.</Empty>}
    </div>
  );
}

function Choice({ label, at, change }: { label: string; at: number; change: (i: number) => void }) {
  return <label>{label} <select value={at} onChange={(e) => change(Number(e.currentTarget.value))}>{at < 0 && <option value={-1}>–</option>}{subjects.value.map((s, i) => <option key={i} value={i}>{s.review.name}</option>)}</select></label>;
}

function Both({ a, b }: { a: Review; b: Review }) {
  const values = useMemo(() => different(a, b), [a, b]);
  return (
    <>
      {a.doc.plan && b.doc.plan && <Section title="Figures"><Figures a={a} b={b} /></Section>}
      {a.doc.plan && b.doc.plan && <Section title="Collectives"><Sent a={a} b={b} /></Section>}
      {a.doc.propagation && b.doc.propagation && <Section title="Rounds"><Rounds a={a} b={b} /></Section>}
      <Section title="Values that are cut otherwise" aside={<span class="quiet">{count(values.length, "value")}, those of equal layers once</span>}>
        {values.length === 0 ? <p class="quiet">None of those that both have.</p>
          : <div class="tall"><List label="Differences" rows={values.length} height={32} row={(i) => {
            const x = values[i];
            return <span class="pair"><code>{a.valueName(x.a)}</code><Tensor review={a} value={x.a} dims={x.before} /><span aria-hidden="true">→</span><Tensor review={b} value={x.b} dims={x.after} /><span class="quiet end">{x.times > 1 && <span class="badge">× {x.times}</span>} {a.lineOf(x.a)}</span></span>;
          }} /></div>}
      </Section>
    </>
  );
}

function Figures({ a, b }: { a: Review; b: Review }) {
  const p = a.doc.plan!, q = b.doc.plan!;
  const rows: [string, number, number, (n: number) => string][] = [["step", p.estimate.seconds, q.estimate.seconds, seconds], ["computing", p.estimate.computeSeconds, q.estimate.computeSeconds, seconds],
    ["collectives", p.estimate.collectiveSeconds, q.estimate.collectiveSeconds, seconds], ["memory", p.estimate.peakBytes, q.estimate.peakBytes, bytes], ["limit", p.memoryLimit, q.memoryLimit, bytes], ["sent", p.estimate.sentBytes, q.estimate.sentBytes, bytes]];
  return <table><thead><tr><th></th><th class="n">{a.name}</th><th class="n">{b.name}</th><th class="n">change</th></tr></thead><tbody>{rows.map(([label, x, y, f]) => <tr key={label}><th scope="row">{label}</th><td class="n">{f(x)}</td><td class="n">{f(y)}</td><td class="n">{change(x, y)}</td></tr>)}</tbody></table>;
}

export function change(x: number, y: number): string {
  if (x === y) return "same";
  if (x === 0) return "new";
  const part = (100 * (y - x)) / x;
  return `${part > 0 ? "+" : "−"}${Math.abs(part).toPrecision(3)} %`;
}

function Sent({ a, b }: { a: Review; b: Review }) {
  type Side = { bytes: number; seconds: number };
  const rows = new Map<string, { kind: string; axes: string[]; of: [Side, Side] }>();
  [a, b].forEach((r, side) => {
    for (const f of families(r.doc.plan!.collectives)) {
      const key = f.kind + "|" + f.axes.join() + f.groups;
      const row = rows.get(key) ?? { kind: f.kind, axes: f.axes, of: [{ bytes: 0, seconds: 0 }, { bytes: 0, seconds: 0 }] };
      row.of[side].bytes += f.bytes;
      row.of[side].seconds += f.seconds;
      rows.set(key, row);
    }
  });
  const sorted = [...rows.values()].sort((x, y) => Math.abs(y.of[1].seconds - y.of[0].seconds) - Math.abs(x.of[1].seconds - x.of[0].seconds));
  return <table><thead><tr><th>collective</th><th>along</th><th class="n">{a.name}</th><th class="n">{b.name}</th><th class="n">time</th><th class="n"></th></tr></thead><tbody>{sorted.map((x, i) => <tr key={i}><td>{x.kind}</td><td><NamedAxes review={a} names={x.axes} /></td><td class="n">{bytes(x.of[0].bytes)}</td><td class="n">{bytes(x.of[1].bytes)}</td><td class="n">{seconds(x.of[0].seconds)} → {seconds(x.of[1].seconds)}</td><td class="n">{change(x.of[0].seconds, x.of[1].seconds)}</td></tr>)}</tbody></table>;
}

function Rounds({ a, b }: { a: Review; b: Review }) {
  const text = (r: Review) => r.doc.propagation!.levels.map((l) => ({ key: `user priority ${l.userPriority}, op priority ${l.opPriority}`, steps: l.steps, gathered: l.gathered?.bytes ?? 0 }));
  const x = new Map(text(a).map((l) => [l.key, l])), y = new Map(text(b).map((l) => [l.key, l]));
  const keys = [...new Set([...x.keys(), ...y.keys()])].sort();
  return <table><thead><tr><th></th><th class="n">{a.name}</th><th class="n">{b.name}</th><th class="n">gathered if it ended there</th></tr></thead><tbody>{keys.map((k) => <tr key={k}><th scope="row">{k}</th><td class="n">{count(x.get(k)?.steps ?? 0, "step")}</td><td class="n">{count(y.get(k)?.steps ?? 0, "step")}</td><td class="n">{bytes(x.get(k)?.gathered ?? 0)} → {bytes(y.get(k)?.gathered ?? 0)}</td></tr>)}</tbody></table>;
}

interface Difference { a: number; b: number; before: number[]; after: number[]; times: number }

// different are values that both have and that are cut otherwise, those at the same place of equal layers once.
function different(a: Review, b: Review): Difference[] {
  const out = new Map<string, Difference>();
  const pa = playbackOf(a), pb = playbackOf(b);
  for (const [v, w] of matched(a, b)) {
    const before = a.finalDims(pa ? pa.owner(v) : v), after = b.finalDims(pb ? pb.owner(w) : w);
    const [x, y] = [a.specText(before), b.specText(after)];
    if (x === y) continue;
    const op = a.doc.values.op[v];
    const scope = op >= 0 ? a.doc.ops.scope[op] : -1;
    const layer = scope >= 0 ? a.doc.scopes.like[scope] : -1;
    const key = scope >= 0 && a.alike[layer].length > 1 ? `${layer} ${a.scopeOps[scope].indexOf(op)} ${x} ${y}` : `value ${v}`;
    const found = out.get(key);
    if (found) found.times++;
    else out.set(key, { a: v, b: w, before, after, times: 1 });
  }
  return [...out.values()];
}

// matched are pairs of values that are the same in two programs: inputs and outputs of one name, and what operations of one kind and line
// make, where both programs have as many of them. Names of values inside change with every collective that is put between them.
function matched(a: Review, b: Review): [number, number][] {
  const out: [number, number][] = [];
  for (const list of [a.args, a.results]) {
    for (const v of list) {
      const w = b.find(a.valueName(v));
      if (w >= 0 && a.type(v).text === b.type(w).text) out.push([v, w]);
    }
  }
  const [x, y] = [byLine(a), byLine(b)];
  for (const [key, values] of x) {
    const others = y.get(key);
    if (others?.length === values.length) values.forEach((v, i) => out.push([v, others[i]]));
  }
  return out;
}

function byLine(r: Review): Map<string, number[]> {
  const out = new Map<string, number[]>();
  r.doc.ops.kind.forEach((_, op) => {
    const line = r.line(op);
    if (!line) return;
    for (const v of r.valuesOf[op]) {
      const key = `${r.kind(op)} ${line} ${r.type(v).text}`;
      const list = out.get(key);
      if (list) list.push(v); else out.set(key, [v]);
    }
  });
  return out;
}
