// The propagation, step by step: what moved lights up, and what would be gathered if it ended there.
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import type { Group, Level } from "../document";
import { bytes, count, type Review } from "../model";
import type { Playback } from "../playback";
import { go, numberParam, param, playbackOf, review as current, select, selected } from "../state";
import { Tensor } from "../ui/glyph";
import { layOut, Painter } from "../ui/map";
import { Bar, Empty } from "../ui/parts";
import { Inspector } from "./inspector";

export function Player() {
  const r = current.value!;
  const p = playbackOf(r);
  if (!p) return <Empty>This is a plan. Open the model to see how the shardings that its user wrote propagate.</Empty>;
  if (p.total === 0) return <Empty>Nothing moved: the model has no shardings from which something follows. Write some, or look at a plan.</Empty>;
  return <Steps key={r.name} r={r} p={p} />;
}

function Steps({ r, p }: { r: Review; p: Playback }) {
  const at = Math.max(0, Math.min(p.total, numberParam("step", p.total)));
  const heat = param("heat") === "1";
  const [playing, setPlaying] = useState(false);
  const seek = (to: number) => go({ step: Math.max(0, Math.min(p.total, to)) }, "propagation", true);
  p.seek(at);
  useEffect(() => {
    if (!playing) return;
    const timer = setInterval(() => {
      const now = numberParam("step", p.total);
      if (now >= p.total) setPlaying(false);
      else seek(now + Math.max(1, Math.round(p.total / 600)));
    }, 50);
    return () => clearInterval(timer);
  }, [playing]);
  useEffect(() => {
    const key = (e: KeyboardEvent) => {
      if (e.target instanceof HTMLElement && /INPUT|SELECT|TEXTAREA/.test(e.target.tagName) && (e.target as HTMLInputElement).type !== "range") return;
      if (e.key === "." || e.key === "l") seek(numberParam("step", p.total) + 1);
      else if (e.key === "," || e.key === "h") seek(numberParam("step", p.total) - 1);
      else if (e.key === "p") setPlaying((on) => !on);
      else return;
      e.preventDefault();
    };
    window.addEventListener("keydown", key);
    return () => window.removeEventListener("keydown", key);
  }, [p]);
  const value = selected.value;
  const last = p.lastLevel();
  const gathered = last >= 0 ? p.steps.levels[last].gathered : undefined;
  return (
    <div class="panes three">
      <nav class="pane rounds" aria-label="Rounds"><Rounds r={r} p={p} at={at} seek={seek} /></nav>
      <div class="pane main player">
        <div class="toolbar">
          <div class="buttons" role="group" aria-label="Steps">
            <button onClick={() => seek(0)} aria-label="To the start" title="to the start">⇤</button>
            <button onClick={() => seek(at - 1)} aria-label="Step back" title="step back: ,">←</button>
            <button onClick={() => { if (at >= p.total) seek(0); setPlaying(!playing); }} aria-label={playing ? "Pause" : "Play"} title="play: p">{playing ? "pause" : "play"}</button>
            <button onClick={() => seek(at + 1)} aria-label="Step forward" title="step forward: .">→</button>
            <button onClick={() => seek(p.total)} aria-label="To the end" title="to the end">⇥</button>
          </div>
          <input class="scrub" type="range" min={0} max={p.total} value={at} aria-label="Step" onInput={(e) => seek(Number(e.currentTarget.value))} />
          <output class="position">{at.toLocaleString("en")} / {p.total.toLocaleString("en")}</output>
          <label class="switch"><input type="checkbox" checked={heat} onChange={(e) => go({ heat: e.currentTarget.checked ? 1 : "" }, "propagation", true)} />if it ended here</label>
        </div>
        <Sentence r={r} p={p} at={at} />
        {heat && <p class="note">{last < 0 ? "Not known before the first op priority is done."
          : gathered?.note ? `Not known: ${gathered.note}`
          : <>Ended behind user priority {p.steps.levels[last].userPriority}, op priority {p.steps.levels[last].opPriority}, each device would gather <b>{bytes(gathered?.bytes ?? 0)}</b> of {count(gathered?.values.length ?? 0, "value")}.</>}</p>}
        <Overview r={r} p={p} at={at} heat={heat} value={value} />
      </div>
      <aside class="pane side" aria-label="Details">
        {value >= 0 ? <Inspector value={value} /> : <p class="empty">Choose a value in the picture: where its axes come from, and what was kept away.</p>}
      </aside>
    </div>
  );
}

function Sentence({ r, p, at }: { r: Review; p: Playback; at: number }) {
  if (at === 0) return <p class="sentence" aria-live="polite">What the user wrote, before the first step.</p>;
  const i = at - 1;
  const to = p.steps.to[i];
  return (
    <p class={`sentence${p.steps.kind[i] === 3 ? " refused" : ""}`} aria-live="polite">
      <button class="link" onClick={() => select(to)}>{p.sentence(i)}</button>
      {to >= 0 && <Tensor review={r} value={to} dims={p.dims(to)} lit={p.steps.toDim[i]} />}
    </p>
  );
}

function Rounds({ r, p, at, seek }: { r: Review; p: Playback; at: number; seek: (to: number) => void }) {
  const most = Math.max(1, ...p.steps.levels.map((l) => l.gathered?.bytes ?? 0));
  return (
    <>
      {p.steps.rounds.map((round) => (
        <section key={round.userPriority} class="round">
          <h2>user priority {round.userPriority}</h2>
          {round.summary.given?.length ? <p><span class="quiet">given</span> {round.summary.given.map((t) => `${t.axes} at ${t.dims}`).join("; ")}</p> : null}
          {round.summary.gained?.length ? <p><span class="quiet">followed</span> {round.summary.gained.map((t) => `${t.axes} at ${t.dims}`).join("; ")}</p> : null}
          {round.summary.refused?.length ? <p><span class="quiet">refused</span> {round.summary.refused.map((t) => `${t.axes} at ${t.dims}: ${t.reason}`).join("; ")}</p> : null}
          {p.steps.levels.map((l, i) => l.userPriority === round.userPriority && (
            <LevelRow key={i} r={r} l={l} on={at > l.first && at <= l.first + l.steps} done={at >= l.first + l.steps} most={most} seek={seek} />
          ))}
        </section>
      ))}
    </>
  );
}

function LevelRow({ l, on, done, most, seek }: { r: Review; l: Level; on: boolean; done: boolean; most: number; seek: (to: number) => void }) {
  return (
    <details class={`level${on ? " on" : ""}${done ? " done" : ""}`} open={on}>
      <summary onClick={() => seek(l.first + l.steps)}>
        <span>op priority {l.opPriority}</span><span class="quiet">{count(l.steps, "step")}</span>
        {l.gathered && !l.gathered.note && <span class="gathered" title="bytes that each device would gather if propagation ended here"><Bar part={l.gathered.bytes / most} colour="var(--warm)" /><small>{bytes(l.gathered.bytes)}</small></span>}
      </summary>
      <ol>{[...l.groups].sort((a, b) => b.steps.length - a.steps.length).slice(0, 12).map((g, i) => (
        <li key={i} class={g.kind}><button class="link" onClick={() => seek(l.first + g.steps[0] + 1)}><b>{g.steps.length}</b> {groupText(g)}</button></li>
      ))}</ol>
      {l.groups.length > 12 && <p class="quiet">and {l.groups.length - 12} smaller groups</p>}
    </details>
  );
}

function groupText(g: Group): string {
  const kinds = (g.kinds ?? []).map((k) => k.slice(k.indexOf(".") + 1));
  const through = kinds.slice(0, 4).join(", ") + (kinds.length > 4 ? ` and ${kinds.length - 4} more` : "");
  const at = g.starts[0].place + (g.starts.length > 1 ? ` and ${g.starts.length - 1} more` : "");
  if (g.kind === "activate") return `${g.axes} starts at ${at}`;
  if (g.kind === "refusal") return `${g.axes} kept from ${at}: ${g.reason}`;
  return `${g.axes} from ${at} through ${through}`;
}

// Overview is the map of all values. A step paints those that it changes.
function Overview({ r, p, at, heat, value }: { r: Review; p: Playback; at: number; heat: boolean; value: number }) {
  const canvas = useRef<HTMLCanvasElement>(null), outer = useRef<HTMLDivElement>(null);
  const state = useRef<{ painter: Painter; shown: number; heat: boolean; level: number; marked: number[] } | undefined>(undefined);
  const [size, setSize] = useState(0);
  const [dark, setDark] = useState(matchMedia("(prefers-color-scheme: dark)").matches);
  const heats = heat ? heatOf(p) : undefined;
  useEffect(() => {
    const seen = new ResizeObserver(([e]) => setSize(Math.floor(e.contentRect.width)));
    if (outer.current) seen.observe(outer.current);
    const media = matchMedia("(prefers-color-scheme: dark)");
    const change = (e: MediaQueryListEvent) => setDark(e.matches);
    media.addEventListener("change", change);
    return () => { seen.disconnect(); media.removeEventListener("change", change); };
  }, []);
  useLayoutEffect(() => {
    if (!canvas.current || size === 0) return;
    state.current = { painter: new Painter(canvas.current, r, layOut(r, size, outer.current!.clientHeight - 8)), shown: -1, heat, level: -2, marked: [] };
  }, [r, size, dark]);
  useLayoutEffect(() => {
    const s = state.current;
    if (!s) return;
    const paint = (v: number) => s.painter.cell(v, p.dims(v), heats ? heats.get(v) ?? 0 : undefined);
    const level = heat ? p.lastLevel() : -2;
    if (s.shown < 0 || s.heat !== heat || s.level !== level) {
      s.painter.cells.value.forEach(paint);
    } else if (!heat) {
      const changed = new Set<number>(s.marked);
      for (let i = Math.min(s.shown, at); i < Math.max(s.shown, at); i++) if (p.steps.to[i] >= 0) changed.add(p.steps.to[i]);
      for (const v of changed) for (const c of owned(r, p, v)) paint(c);
    } else s.marked.forEach(paint);
    s.marked = [value, at > 0 ? p.steps.to[at - 1] : -1].filter((v) => v >= 0);
    s.marked.forEach((v) => s.painter.ring(v));
    Object.assign(s, { shown: at, heat, level });
  }, [r, at, heat, size, dark, value]);
  return (
    <div class="overview" ref={outer} tabIndex={0} role="group" aria-label="All values">
      <canvas ref={canvas} role="img" aria-label={`${count(r.doc.values.op.length, "value")} in program order, coloured by the axes that cut them`}
        onClick={(e) => {
          const at = e.currentTarget.getBoundingClientRect();
          const v = state.current?.painter.hit(e.clientX - at.left, e.clientY - at.top) ?? -1;
          if (v >= 0) select(v);
        }} />
    </div>
  );
}

const owners = new WeakMap<Playback, Map<number, number[]>>();

// owned are the values that have the axes of one.
function owned(r: Review, p: Playback, v: number): number[] {
  let map = owners.get(p);
  if (!map) {
    map = new Map();
    for (let i = 0; i < r.doc.values.op.length; i++) {
      const list = map.get(p.owner(i));
      if (list) list.push(i); else map.set(p.owner(i), [i]);
    }
    owners.set(p, map);
  }
  return map.get(p.owner(v)) ?? [v];
}

// heatOf is how much of each value would be gathered, 1 for the most, on a scale of powers.
function heatOf(p: Playback): Map<number, number> {
  const g = p.lastLevel() >= 0 ? p.steps.levels[p.lastLevel()].gathered : undefined;
  const most = Math.max(1, ...(g?.each ?? []));
  return new Map(g?.values.map((v, i) => [v, Math.max(0.05, 1 + Math.log2(g.each[i] / most) / 16)]) ?? []);
}
