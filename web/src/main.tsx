// The page: its frame, and the view that the address names.
import { render } from "preact";
import { useEffect } from "preact/hooks";
import "./style.css";
import { load, open } from "./client";
import { busy, format, go, problem, review, route, served, shown, subjects, viewNames, type View } from "./state";
import { Axis } from "./ui/glyph";
import { Compare } from "./views/compare";
import { Devices } from "./views/devices";
import { PlanView } from "./views/plan";
import { Player } from "./views/player";
import { Program } from "./views/program";
import { parseMesh, WhatIf } from "./views/whatif";

const views: Record<View, () => preact.JSX.Element> = { program: Program, propagation: Player, plan: PlanView, compare: Compare, "what-if": WhatIf, devices: Devices };

function App() {
  useEffect(() => {
    const key = (e: KeyboardEvent) => {
      if (e.target instanceof HTMLElement && /INPUT|SELECT|TEXTAREA/.test(e.target.tagName) || e.ctrlKey || e.metaKey || e.altKey) return;
      const n = Number(e.key);
      if (n >= 1 && n <= viewNames.length) go({}, viewNames[n - 1][0]);
      else if (e.key === "/") { go({}, "program"); requestAnimationFrame(() => document.querySelector<HTMLInputElement>("input[type=search]")?.focus()); e.preventDefault(); }
    };
    window.addEventListener("keydown", key);
    return () => window.removeEventListener("keydown", key);
  }, []);
  const r = review.value;
  const View = views[route.value.view];
  if (r) document.title = `${r.name} – autoshard`;
  return (
    <>
      <header class="top">
        <span class="brand">autoshard</span>
        {subjects.value.length > 1 ? <select aria-label="What is shown" value={shown.value} onChange={(e) => go({ doc: e.currentTarget.value, value: "", step: "", open: "", scope: "", event: "" })}>{subjects.value.map((s, i) => <option key={i} value={i}>{s.review.name}</option>)}</select>
          : r && <span class="name" title={r.doc.file}>{r.name}</span>}
        <nav aria-label="Views">{viewNames.map(([v, label], i) => <a key={v} href={format(v, route.value.params)} aria-current={route.value.view === v ? "page" : undefined} title={`key ${i + 1}`}>{label}</a>)}</nav>
        <span class="mesh" aria-label="Mesh">{r?.doc.mesh.map((a, i) => <Axis key={a.name} axis={i} name={a.name} size={a.size} />)}</span>
        {served.value && <Open />}
      </header>
      {problem.value && <div class="problem" role="alert">{problem.value} <button class="link" onClick={() => (problem.value = "")}>dismiss</button></div>}
      <main aria-busy={busy.value !== ""}>
        {r ? <View /> : busy.value ? <p class="empty" role="status">{busy.value} …</p> : <p class="empty">Open a plan.json, or a model as MLIR or model.json, to see how it is cut and why.</p>}
        {r && busy.value && <p class="working" role="status">{busy.value} …</p>}
      </main>
    </>
  );
}

function Open() {
  return (
    <label class="open" tabIndex={-1}>Open …
      <input type="file" aria-label="Open a plan or a model" onChange={async (e) => {
        const box = e.currentTarget, file = box.files?.[0];
        box.value = "";
        if (!file) return;
        const index = await open(file, []);
        if (index === undefined && problem.value.includes("mesh")) {
          const text = prompt("The model declares no mesh. Axes from major to minor:", "data=4,model=2");
          if (!text) return;
          try {
            const again = await open(file, parseMesh(text));
            if (again !== undefined) go({ doc: again, value: "", step: "", open: "", scope: "" });
          } catch (err) { problem.value = (err as Error).message; }
        } else if (index !== undefined) go({ doc: index, value: "", step: "", open: "", scope: "" });
      }} />
    </label>
  );
}

render(<App />, document.getElementById("app")!);
void load().then(() => requestAnimationFrame(() => {
  performance.mark("ready"); // what was asked for is drawn
  document.documentElement.setAttribute("data-ready", "");
}));
