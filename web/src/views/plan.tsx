// A plan: what a step takes, holds and sends, and why not otherwise.
import { useMemo, useState } from "preact/hooks";
import type { Collective, Step } from "../document";
import { bytes, count, seconds, type Review } from "../model";
import { go, numberParam, param, review as current, select, served, subject } from "../state";
import { NamedAxes, Tensor } from "../ui/glyph";
import { MemoryChart } from "../ui/memory";
import { Bar, Empty, Section, Tile } from "../ui/parts";
import { microseconds, TimelineChart } from "../ui/timeline";
import { Alternatives } from "./alternatives";

export function PlanView() {
  const r = current.value!;
  const s = r.doc.plan;
  if (!s) {
    return <Empty>This is a propagation. {served.value && subject.value?.request ? <button onClick={() => go({}, "what-if")}>Plan it</button> : "Open a plan.json to see what a step takes."}</Empty>;
  }
  return (
    <div class="page">
      <Headline s={s} />
      <Section title="A step, simulated" aside={<span class="quiet">collectives run beside other operations; a loop shows its first run</span>}><Step_ r={r} s={s} /></Section>
      <Section title="Collectives"><Collectives r={r} s={s} /></Section>
      <Section title="Memory of a device" aside={<span class="quiet">most at operation {s.memory!.at.number.toLocaleString("en")}, {s.memory!.at.kind} {s.memory!.at.source}</span>}>
        <MemoryChart memory={s.memory!} limit={s.memoryLimit} />
        <Held s={s} />
      </Section>
      <Section title="What a step waits for"><Breakdown s={s} /></Section>
      <Section title="Inputs"><Inputs r={r} /></Section>
      {r.doc.findings.length > 0 && <Section title="Findings"><ul>{r.doc.findings.map((f, i) => <li key={i}>{f.message} <small class="quiet">{f.code}{f.line ? ` :${f.line}` : ""}</small></li>)}</ul></Section>}
    </div>
  );
}

function Headline({ s }: { s: Step }) {
  const e = s.estimate;
  const best = s.baselines.filter((b) => b.fits && b.estimate.seconds > 0);
  const most = Math.max(e.seconds, ...best.map((b) => b.estimate.seconds));
  return (
    <div class="headline">
      <dl class="tiles">
        <Tile label="step" value={seconds(e.seconds)} note={`${seconds(e.computeSeconds)} computing, ${seconds(e.collectiveSeconds)} collectives`} />
        <Tile label="memory" value={bytes(e.peakBytes)} note={`of ${bytes(s.memoryLimit)} per device`} tone={e.peakBytes <= s.memoryLimit ? undefined : "bad"} />
        <Tile label="sent" value={bytes(e.sentBytes)} note={count(s.collectives.length, "collective")} />
        <Tile label="proof" value={s.certificate.status === "optimal" ? "optimal" : s.certificate.bound > 0 ? `${(100 * s.certificate.gap).toFixed(s.certificate.gap < 0.1 ? 1 : 0)} % gap` : "no bound"} note={`no plan below ${seconds(s.certificate.bound / 1e12)}`} />
        <Tile label="hardware" value={s.hardware} />
      </dl>
      <table class="baselines"><caption>Beside plans that need no search</caption><tbody>
        <tr><th scope="row">this plan</th><td><Bar part={e.seconds / most} /></td><td class="n">{seconds(e.seconds)}</td><td class="n">{bytes(e.peakBytes)}</td></tr>
        {s.baselines.map((b) => <tr key={b.name}><th scope="row">{b.name}</th><td><Bar part={b.fits ? b.estimate.seconds / most : 0} colour="var(--quiet)" /></td><td class="n">{b.estimate.seconds > 0 ? seconds(b.estimate.seconds) : "–"}</td><td class="n">{b.estimate.peakBytes > 0 ? bytes(b.estimate.peakBytes) : "–"}</td><td class="quiet">{b.fits ? "" : b.note || "does not fit"}</td></tr>)}
      </tbody></table>
    </div>
  );
}

function Step_({ r, s }: { r: Review; s: Step }) {
  const t = s.timeline;
  const event = numberParam("event", -1);
  const e = event >= 0 && event < t.name.length ? event : -1;
  return (
    <>
      <TimelineChart review={r} timeline={t} current={e} choose={(i) => go({ event: i }, "plan", true)} />
      <p class="sentence" aria-live="polite">{e < 0 ? <span class="quiet">Choose an event; n and b go from collective to collective.</span>
        : <><b>{r.text(t.name[e])}</b> {r.text(t.type[e])} · {microseconds(t.length[e])}{t.waited[e] > 0 && <>, waited {microseconds(t.waited[e])}</>}{t.moves[e] > 0 && <> · {bytes(t.moves[e])} sent</>} · {r.text(t.source[e]) || "no line"} <span class="quiet">{t.scope[e] >= 0 && r.path(t.scope[e])}</span></>}</p>
    </>
  );
}

interface Family { kind: string; axes: string[]; groups: string; type: string; places: number; runs: number; bytes: number; seconds: number; sources: string[] }

// families are collectives that do the same to blocks of one type.
export function families(list: Collective[]): Family[] {
  const out = new Map<string, Family>();
  for (const c of list) {
    const groups = (c.groups ?? []).slice(0, 3).map((g) => `{${g}}`).join(" ");
    const key = [c.kind, c.axes.join(), groups, c.type].join("|");
    const f = out.get(key) ?? { kind: c.kind, axes: c.axes, groups, type: c.type, places: 0, runs: 0, bytes: 0, seconds: 0, sources: [] };
    out.set(key, { ...f, places: f.places + 1, runs: f.runs + c.count, bytes: f.bytes + c.bytes, seconds: f.seconds + c.seconds, sources: f.sources.includes(c.source) ? f.sources : [...f.sources, c.source] });
  }
  return [...out.values()];
}

function Collectives({ r, s }: { r: Review; s: Step }) {
  const by = (param("sort") || "seconds") as "seconds" | "bytes";
  const list = useMemo(() => families(s.collectives).sort((a, b) => b[by] - a[by]), [s, by]);
  const [all, setAll] = useState(false);
  if (list.length === 0) return <p class="quiet">None: devices do not communicate.</p>;
  const axes = new Map<string, { seconds: number; bytes: number; names: string[] }>();
  for (const c of list) {
    const key = c.axes.join() || c.groups, a = axes.get(key) ?? { seconds: 0, bytes: 0, names: c.axes };
    axes.set(key, { ...a, seconds: a.seconds + c.seconds, bytes: a.bytes + c.bytes });
  }
  const most = Math.max(...list.map((c) => c[by]));
  const head = (key: "seconds" | "bytes", label: string) => <th class="n" aria-sort={by === key ? "descending" : "none"}><button class="link" onClick={() => go({ sort: key }, "plan", true)}>{label}{by === key ? " ↓" : ""}</button></th>;
  return (
    <>
      <p class="legend">{[...axes].sort((a, b) => b[1].seconds - a[1].seconds).map(([key, a]) => <span key={key}><NamedAxes review={r} names={a.names} /> {seconds(a.seconds)}, {bytes(a.bytes)}</span>)}</p>
      <table><thead><tr><th>collective</th><th>along</th><th>block</th><th class="n">places</th><th class="n">runs</th>{head("bytes", "bytes sent")}{head("seconds", "time")}<th></th><th>lines</th></tr></thead><tbody>
        {list.slice(0, all ? undefined : 12).map((c, i) => (
          <tr key={i}><td>{c.kind}</td><td><NamedAxes review={r} names={c.axes} />{c.groups}</td><td>{c.type}</td><td class="n">{c.places}</td><td class="n">{c.runs}</td>
            <td class="n">{bytes(c.bytes)}</td><td class="n">{seconds(c.seconds)}</td><td><Bar part={c[by] / most} /></td>
            <td>{c.sources.slice(0, 3).map((l) => <Source key={l} line={l} />)}{c.sources.length > 3 && <span class="quiet"> and {c.sources.length - 3} more</span>}</td></tr>))}
      </tbody></table>
      {list.length > 12 && <button class="link" onClick={() => setAll(!all)}>{all ? "fewer" : `all ${list.length}`}</button>}
    </>
  );
}

// Source is a line, which leads to what it makes.
function Source({ line }: { line: string }) {
  const short = /(:\d+)\)?$/.exec(line)?.[1];
  if (!short) return <span>{line} </span>;
  return <button class="link line" title={line} onClick={() => go({ q: short, value: "", scope: "" }, "program")}>{line}</button>;
}

function Held({ s }: { s: Step }) {
  const m = s.memory!;
  return (
    <table><caption>Largest at the peak</caption><thead><tr><th>value</th><th>block</th><th class="n">bytes</th><th>class</th><th class="n">from – to operation</th><th>line</th></tr></thead><tbody>
      {m.largest.map((v, i) => <tr key={i}><td>{v.name}</td><td>{v.type}</td><td class="n">{bytes(v.bytes)}</td><td>{v.class}</td><td class="n">{v.from.toLocaleString("en")} – {v.to.toLocaleString("en")}</td><td>{v.source}</td></tr>)}
    </tbody></table>
  );
}

function Breakdown({ s }: { s: Step }) {
  const b = s.breakdown!;
  const most = Math.max(...b.groups.map((g) => g.seconds), 1e-30);
  return (
    <>
      <p class="legend">{b.shares.filter((x) => x.seconds > 0).map((x) => <span key={x.resource}><b>{x.resource}</b> {seconds(x.seconds)}; twice as fast, a step takes {seconds(x.doubled)}</span>)}</p>
      <table><thead><tr><th>operations</th><th>makes</th><th class="n">places</th><th class="n">time</th><th></th><th>waits for</th><th>line</th></tr></thead><tbody>
        {b.groups.slice(0, 12).map((g, i) => <tr key={i}><td>{g.kind}{g.axes ? ` over ${g.axes}` : ""}</td><td>{g.type}</td><td class="n">{g.places}</td><td class="n">{seconds(g.seconds)}</td><td><Bar part={g.seconds / most} /></td><td>{g.resource}</td><td>{g.sources[0]}{g.sources.length > 1 && <span class="quiet"> and {g.sources.length - 1} more</span>}</td></tr>)}
      </tbody></table>
    </>
  );
}

function Inputs({ r }: { r: Review }) {
  const chosen = param("input");
  const [all, setAll] = useState(false);
  const list = useMemo(() => [...r.doc.inputs].sort((a, b) => b.wholeBytes - a.wholeBytes), [r]);
  return (
    <>
      <table><thead><tr><th>input</th><th>type</th><th>cut</th><th>sharding</th><th class="n">per device</th><th></th></tr></thead><tbody>
        {list.slice(0, all ? undefined : 15).map((t) => {
          const v = r.args[t.index];
          return <tr key={t.index} class={chosen === t.name ? "current" : ""}><td><button class="link" onClick={() => { select(v); go({ scope: "" }, "program"); }}><code>{t.name}</code></button></td><td>{t.type}</td><td><Tensor review={r} value={v} dims={r.finalDims(v)} /></td><td>{t.spec || "–"}{t.user && <span class="badge">yours</span>}</td><td class="n">{bytes(t.bytes)}</td>
            <td>{served.value && subject.value?.request && <button class="link" onClick={() => go({ input: chosen === t.name ? "" : t.name }, "plan", true)}>alternatives</button>}</td></tr>;
        })}
      </tbody></table>
      {list.length > 15 && <button class="link" onClick={() => setAll(!all)}>{all ? "fewer" : `all ${list.length}`}</button>}
      {chosen && <Alternatives key={chosen} value={chosen} />}
    </>
  );
}
