// What is known of one value: how it is cut, why, and what was kept from it.
import { bytes, type Review } from "../model";
import type { Playback, Reason } from "../playback";
import { go, param, playbackOf, review as current, select } from "../state";
import { Axes, Axis, Tensor } from "../ui/glyph";
import { WhyNot } from "./whynot";

export function Inspector({ value }: { value: number }) {
  const r = current.value!;
  const p = playbackOf(r);
  const op = r.doc.values.op[value];
  const dims = p ? p.dims(value) : r.finalDims(value);
  const name = (v: number) => (v < 0 ? <span class="quiet">?</span> : <button class="link" onClick={() => select(v)}><code>{r.valueName(v)}</code></button>);
  return (
    <div class="inspector">
      <h2><code>{r.valueName(value)}</code> <small>{r.type(value).text}</small></h2>
      <p class="facts"><Tensor review={r} value={value} dims={dims} /> {bytes(r.blockBytes(value, dims))} per device of {bytes(r.type(value).bytes)}</p>
      <dl class="facts">
        <dt>made by</dt><dd>{op >= 0 ? <>{r.kind(op)} {r.line(op)}{r.operands(op).length > 0 && <> of {r.operands(op).map((v, i) => <span key={i}>{i > 0 && ", "}{name(v)}</span>)}</>}</> : op === -1 ? "the caller: an input" : "an output of the program"}</dd>
        {r.uses[value].length > 0 && <><dt>read by</dt><dd>{[...r.uses[value]].slice(0, 8).map((o, i) => <span key={o}>{i > 0 && ", "}{r.valuesOf[o].length > 0 ? name(r.valuesOf[o][0]) : r.kind(o)} <small class="quiet">{r.kind(o)} {r.line(o)}</small></span>)}{r.uses[value].length > 8 && ` and ${r.uses[value].length - 8} more`}</dd></>}
        {op >= 0 && <><dt>part</dt><dd>{r.path(r.doc.ops.scope[op])}</dd></>}
      </dl>
      {p && dims.map((list, d) => <Dimension key={d} r={r} p={p} value={value} dim={d} list={list} />)}
      {!p && r.doc.plan && <Others r={r} value={value} />}
    </div>
  );
}

function Dimension({ r, p, value, dim, list }: { r: Review; p: Playback; value: number; dim: number; list: number }) {
  const chain = p.chain(value, dim);
  const refused = p.refusals(value, dim);
  return (
    <section class="dimension">
      <h3>dimension {dim} <small>{r.type(value).dims[dim]}</small> <Axes review={r} list={list} /></h3>
      {chain.length > 0 && <><h4>why</h4><ul class="chain">{chain.map((c, i) => <Link key={i} p={p} reason={c} depth={0} />)}</ul></>}
      {refused.length > 0 && <><h4>kept away</h4><ul class="refusals">{refused.slice(-6).map((i) => <Refusal key={i} r={r} p={p} step={i} />)}</ul>
        {refused.length > 6 && <p class="quiet">and {refused.length - 6} more before these</p>}</>}
      {chain.length === 0 && refused.length === 0 && <p class="quiet">Nothing brought axes here, and none were refused{p.at < p.total && " up to this step"}.</p>}
      <WhyNot r={r} value={value} dim={dim} list={list} />
    </section>
  );
}

function Link({ p, reason, depth }: { p: Playback; reason: Reason; depth: number }) {
  const r = p.review;
  const given = reason.given === undefined ? undefined : p.steps.given[reason.given];
  const level = reason.step >= 0 ? p.steps.levels[p.steps.level[reason.step]] : undefined;
  return (
    <li>
      {given ? <p class="given">“{r.axesText(given.axes)}” is given at {p.placeName(given.value, given.dim)}, {r.text(given.by)} <b>{r.text(given.source)}</b></p>
        : <p><button class="link" onClick={() => go({ step: reason.step + 1 }, "propagation")}>{p.sentence(reason.step)}</button>
          {level && <small class="quiet"> user priority {level.userPriority}, op priority {level.opPriority}</small>}</p>}
      {reason.children.length > 0 && depth < 40 && <ul>{reason.children.map((c, i) => <Link key={i} p={p} reason={c} depth={depth + 1} />)}</ul>}
    </li>
  );
}

function Refusal({ r, p, step }: { r: Review; p: Playback; step: number }) {
  const s = p.steps;
  const sources = p.sources(step);
  return (
    <li>
      <p><button class="link" onClick={() => go({ step: step + 1 }, "propagation")}>{p.sentence(step)}</button></p>
      {s.other[step] >= 0 && <p class="decided">decided by <button class="link" onClick={() => select(s.other[step])}><code>{p.placeName(s.other[step], s.otherDim[step])}</code></button> <Axes review={r} list={s.against[step]} /></p>}
      {s.change[step] >= 0 && <p class="change">To let it pass: {r.text(s.change[step])}.</p>}
      {sources.length > 0 && <details open={param("sources") === String(step)}><summary>where it came from</summary><ul class="chain">{sources.map((c, i) => <Link key={i} p={p} reason={c} depth={1} />)}</ul></details>}
    </li>
  );
}

// Others are collectives of a plan at the line of a value.
function Others({ r, value }: { r: Review; value: number }) {
  const line = r.lineOf(value);
  const near = line ? r.doc.plan!.collectives.filter((c) => c.source === line || c.source.includes(`(${line})`)) : [];
  if (near.length === 0) return null;
  return (
    <section><h3>collectives of line {line}</h3>
      <ul>{near.map((c, i) => <li key={i}>{c.kind} {c.axes.map((a) => <Axis key={a} axis={Math.max(0, r.doc.mesh.findIndex((m) => m.name === a))} name={a} />)} {c.type}: {bytes(c.bytes)}</li>)}</ul>
    </section>
  );
}
