// Planning again with other wishes, while bound and cost come in.
import { create } from "@bufbuild/protobuf";
import { useEffect, useRef, useState } from "preact/hooks";
import { attempt, autoshard, copy, explain, showPlan } from "../client";
import { ForbidSchema, MeshAxisSchema, PinSchema } from "@autoshard/client/plan";
import type { PlanRequest } from "@autoshard/client/service";
import { seconds } from "../model";
import { go, param, problem, review as current, served, shown, subject } from "../state";
import { Empty, Section } from "../ui/parts";
import { change } from "./compare";

interface Seen { at: number; cost: number; bound: number; stage: string }

export function WhatIf() {
  if (!served.value) return <Empty>This report is a file. Planning again needs a server: <code>autoshard review PLAN</code>.</Empty>;
  if (!subject.value?.request) return <Empty>The program of this plan is not at hand here. Start <code>autoshard review</code> where the model is, or open the model.</Empty>;
  return <Ask key={shown.value} ask={subject.value.request} />;
}

function Ask({ ask }: { ask: () => Promise<PlanRequest> }) {
  const [request, setRequest] = useState<PlanRequest>();
  useEffect(() => { void attempt("Loading the program", async () => setRequest(await ask())); }, []);
  return request ? <Form request={request} /> : null;
}

function Form({ request }: { request: PlanRequest }) {
  const base = current.value!;
  const [hardware, setHardware] = useState<string[]>([]);
  const [seen, setSeen] = useState<Seen[]>([]);
  const [made, setMade] = useState<{ index: number; cost: number }>();
  const [running, setRunning] = useState(false);
  const stop = useRef<AbortController | undefined>(undefined);
  useEffect(() => { void attempt("Hardware", async () => setHardware((await autoshard.listHardware({})).profiles.map((p) => p.name))); }, []);
  const set = (name: string) => (e: { currentTarget: { value: string } }) => go({ [name]: e.currentTarget.value }, "what-if", true);
  const mesh = param("mesh") || base.doc.mesh.map((a) => `${a.name}=${a.size}`).join(",");
  const before = base.doc.plan?.estimate.seconds ?? 0;

  const run = async () => {
    stop.current = new AbortController();
    setSeen([]);
    setMade(undefined);
    setRunning(true);
    problem.value = "";
    const start = performance.now();
    try {
      const wanted = wish(request, mesh);
      for await (const m of autoshard.streamPlan({ plan: wanted }, { signal: stop.current.signal })) {
        if (m.event.case === "progress") {
          const p = m.event.value;
          setSeen((list) => [...list, { at: (performance.now() - start) / 1000, cost: p.seconds, bound: p.bound, stage: p.stage }]);
        } else if (m.event.case === "result" && m.event.value.plan) {
          const plan = m.event.value.plan;
          const index = await showPlan(plan, label(mesh), wanted);
          setMade({ index, cost: plan.estimate?.seconds ?? 0 });
        }
      }
    } catch (e) {
      if (!stop.current.signal.aborted) problem.value = e instanceof SyntaxError ? e.message : explain(e);
    }
    setRunning(false);
  };
  return (
    <div class="page narrow">
      <Section title="What if">
        <form class="form" onSubmit={(e) => { e.preventDefault(); void run(); }}>
          <label>mesh<input value={mesh} onInput={set("mesh")} spellcheck={false} aria-describedby="mesh-help" /><small id="mesh-help">axes from major to minor: data=4,model=2</small></label>
          <label>memory per device<input value={param("memory")} onInput={set("memory")} placeholder={request.memory > 0n ? `${request.memory} bytes` : "the hardware’s"} /><small>such as 800KB or 16GiB{request.memory > 0n && <> · <button type="button" class="link" onClick={() => go({ memory: String(2n * request.memory) }, "what-if", true)}>twice as much</button></>}</small></label>
          <label>hardware<select value={param("hardware") || request.hardware} onChange={set("hardware")}>{["", ...hardware].map((h) => <option key={h} value={h}>{h || "tpu-v5e"}</option>)}</select></label>
          <label>pins<textarea rows={3} value={param("pins")} onInput={set("pins")} spellcheck={false} placeholder="params['w1']=P(None, 'model')" /><small>one a line; names may have stars</small></label>
          <label>forbidden<textarea rows={2} value={param("forbid")} onInput={set("forbid")} spellcheck={false} placeholder="embed: data" /><small>axes that are kept away, one value a line</small></label>
          <div class="buttons"><button class="primary" type="submit" disabled={running}>{running ? "Planning …" : "Plan"}</button>{running && <button type="button" onClick={() => stop.current?.abort()}>Stop</button>}</div>
        </form>
      </Section>
      {seen.length > 0 && <Section title="Search"><Progress seen={seen} /></Section>}
      {made && <Section title="Found">
        <p class="sentence">A step takes <b>{seconds(made.cost)}</b>{before > 0 && <>, {change(before, made.cost)} beside {seconds(before)} before</>}.{" "}
          <button class="link" onClick={() => go({ doc: made.index, value: "", event: "" }, "plan")}>Show the plan</button>{" · "}
          <button class="link" onClick={() => go({ with: made.index }, "compare")}>Compare</button></p>
      </Section>}
    </div>
  );
}

function label(mesh: string): string {
  return ["what if", mesh, param("memory"), param("hardware"), param("pins").replace(/\n/g, "; "), param("forbid") && `without ${param("forbid").replace(/\n/g, "; ")}`].filter(Boolean).join(" · ");
}

// wish is the request with what the form asks for beside it.
function wish(request: PlanRequest, mesh: string): PlanRequest {
  const out = copy(request);
  out.mesh = parseMesh(mesh);
  out.devices = 0n;
  if (param("memory")) out.memory = parseBytes(param("memory"));
  if (param("hardware")) { out.hardware = param("hardware"); out.topology = ""; }
  for (const line of lines("pins")) {
    const at = line.indexOf("=");
    if (at < 0) throw new SyntaxError(`A pin is VALUE=SHARDING: ${line}`);
    out.pins.push(create(PinSchema, { value: line.slice(0, at).trim(), sharding: line.slice(at + 1).trim() }));
  }
  for (const line of lines("forbid")) {
    const at = line.lastIndexOf(":");
    if (at < 0) throw new SyntaxError(`What is forbidden is VALUE: AXES: ${line}`);
    out.forbidden.push(create(ForbidSchema, { value: line.slice(0, at).trim(), axes: line.slice(at + 1).split(",").map((a) => a.trim()) }));
  }
  return out;
}

function lines(name: string): string[] { return param(name).split("\n").map((l) => l.trim()).filter(Boolean); }

export function parseMesh(text: string) {
  return text.split(",").filter((t) => t.trim()).map((t) => {
    const m = /^\s*([^=\s]+)\s*=\s*(\d+)\s*$/.exec(t);
    if (!m) throw new SyntaxError(`An axis of a mesh is NAME=SIZE: ${t}`);
    return create(MeshAxisSchema, { name: m[1], size: BigInt(m[2]) });
  });
}

function parseBytes(text: string): bigint {
  const m = /^\s*([\d.]+)\s*([KMGT]?)(i?)B?\s*$/i.exec(text);
  if (!m) throw new SyntaxError(`Memory is a number and a unit, such as 16GiB: ${text}`);
  const power = m[2] ? "KMGT".indexOf(m[2].toUpperCase()) + 1 : 0;
  return BigInt(Math.round(Number(m[1]) * (m[3] ? 1024 : 1000) ** power));
}

// Progress draws the best plan and the bound while the search goes on.
function Progress({ seen }: { seen: Seen[] }) {
  const known = seen.filter((s) => s.cost > 0 && Number.isFinite(s.cost));
  const last = seen[seen.length - 1];
  const width = 640, height = 150, left = 64;
  const end = Math.max(last.at, 0.1), top = Math.max(...known.map((s) => s.cost), 1e-12) * 1.08;
  const x = (t: number) => left + (t / end) * (width - left - 4), y = (c: number) => height - 20 - (c / top) * (height - 30);
  const path = (f: (s: Seen) => number, of: Seen[]) => of.map((s, i) => `${i ? `H${x(s.at).toFixed(1)}V` : `M${x(s.at).toFixed(1)} `}${y(f(s)).toFixed(1)}`).join("") + (of.length ? `H${x(end)}` : "");
  return (
    <figure class="memory">
      <svg viewBox={`0 0 ${width} ${height}`} role="img" aria-label={`Best plan ${known.length ? seconds(known[known.length - 1].cost) : "not known"} after ${end.toFixed(1)} seconds`}>
        {[0.5, 1].map((f) => <g key={f}><line class="grid" x1={left} x2={width} y1={y(top * f)} y2={y(top * f)} /><text x={left - 6} y={y(top * f) + 4} text-anchor="end">{seconds(top * f)}</text></g>)}
        <path class="line cost" d={path((s) => s.cost, known)} /><path class="line bound" d={path((s) => s.bound, known.filter((s) => s.bound > 0))} />
        <text x={left} y={height - 4}>0 s</text><text x={width} y={height - 4} text-anchor="end">{end.toFixed(1)} s</text>
      </svg>
      <figcaption><span><i class="cost" aria-hidden="true" />best plan {known.length > 0 && seconds(known[known.length - 1].cost)}</span><span><i class="bound" aria-hidden="true" />no plan is below {last.bound > 0 ? seconds(last.bound) : "–"}</span><span class="quiet">{last.stage}</span></figcaption>
    </figure>
  );
}
