// The program by module path and layer, folded; values with how they are cut; a drawing of what is chosen.
import { useMemo } from "preact/hooks";
import { count, type Review } from "../model";
import { go, param, playbackOf, review as current, selected } from "../state";
import { Tensor } from "../ui/glyph";
import { Graph } from "../ui/graph";
import { around, partOps } from "../ui/drawing";
import { List } from "../ui/list";
import { Inspector } from "./inspector";

type Row = { kind: "scope"; scope: number; depth: number; open: boolean; alike: number }
  | { kind: "ports"; name: string; at: number; open: boolean; depth: number; values: number }
  | { kind: "more"; scope: number; depth: number; rest: number }
  | { kind: "op"; op: number; depth: number } | { kind: "value"; value: number; depth: number };

export function Program() {
  const r = current.value!;
  const query = param("q");
  const open = param("open");
  const rows = useMemo(() => (query ? search(r, query) : tree(r, new Set(open.split(".").filter(Boolean).map(Number)))), [r, query, open]);
  const value = selected.value;
  const op = value >= 0 ? r.doc.values.op[value] : -1;
  const place = Number(param("scope") || -1); // of a scope, or inputs or outputs
  const scope = place < r.doc.scopes.name.length ? place : -1;
  const at = rows.findIndex((row) => (row.kind === "scope" ? scope === row.scope : row.kind === "ports" ? place === row.at : row.kind === "op" ? op === row.op && scope < 0 : row.kind === "value" && row.value === value && place < 0));
  const playback = playbackOf(r);
  playback?.seek(playback.total);
  const dims = (v: number) => r.finalDims(playback ? playback.owner(v) : v);
  const fold = (s: number, on: boolean) => {
    const set = new Set(open.split(".").filter(Boolean));
    if (on) set.add(String(s)); else set.delete(String(s));
    go({ open: [...set].join(".") }, "program", true);
  };
  const choose = (i: number) => {
    const row = rows[i];
    if (row.kind === "scope") go({ scope: row.scope, value: "" }, "program", true);
    else if (row.kind === "ports") go({ scope: row.at, value: "" }, "program", true);
    else if (row.kind === "more") fold(row.scope + r.doc.scopes.name.length, true);
    else go({ scope: "", value: r.valueName(row.kind === "value" ? row.value : r.valuesOf[row.op][0] ?? -1) }, "program", true);
  };
  const part = scope >= 0 ? partOps(r, scope) : op >= 0 ? around(r, op) : value >= 0 ? readers(r, value) : [];
  return (
    <div class="panes">
      <div class="pane main">
        <div class="toolbar">
          <input type="search" placeholder="Search names, kinds, shapes such as 8,16, lines such as :197" aria-label="Search the program" value={query}
            onInput={(e) => go({ q: e.currentTarget.value }, "program", true)} />
          <span class="quiet">{query ? count(rows.length, "value") : `${count(r.doc.ops.kind.length, "operation")} · ${count(r.doc.values.op.length, "value")}`}</span>
        </div>
        <List label="Program" rows={rows.length} height={30} current={at} choose={choose}
          fold={(i, on) => { const row = rows[i]; if (row.kind === "scope") fold(row.scope, on); else if (row.kind === "ports") fold(row.at, on); }}
          row={(i) => <TreeRow r={r} row={rows[i]} dims={dims} fold={fold} />} />
      </div>
      <aside class="pane side" aria-label="Details">
        {part.length > 0 && <Graph review={r} ops={part} scope={scope} current={op} dims={dims}
          name={scope >= 0 ? r.path(scope) || r.doc.model : `around ${r.valueName(value)}`}
          choose={(o, s) => (s >= 0 ? go({ scope: s, value: "", open: [open, s].filter((x) => x !== "").join(".") }, "program") : go({ scope: "", value: r.valueName(r.valuesOf[o][0] ?? -1) }))} />}
        {value >= 0 ? <Inspector value={value} /> : part.length === 0 && <p class="empty">Choose a part or a value: its drawing, and why it is cut as it is, are shown here.</p>}
      </aside>
    </div>
  );
}

function readers(r: Review, value: number): number[] { return [...r.uses[value]].slice(0, 40); }

function TreeRow({ r, row, dims, fold }: { r: Review; row: Row; dims: (v: number) => number[]; fold: (s: number, on: boolean) => void }) {
  const pad = { paddingLeft: `${row.depth * 18 + 8}px` };
  if (row.kind === "scope") {
    return (
      <span class="tree" style={pad}>
        <span class="caret" role="presentation" onClick={(e) => { e.stopPropagation(); fold(row.scope, !row.open); }}>{row.open ? "▾" : "▸"}</span>
        <b>{r.scopeName(row.scope)}</b>
        {row.alike > 1 && <span class="badge">× {row.alike} equal</span>}
        <span class="quiet end">{count(partOps(r, row.scope).length, "operation")}</span>
      </span>
    );
  }
  if (row.kind === "ports") {
    return <span class="tree" style={pad} role="presentation" onClick={() => fold(row.at, !row.open)}><span class="caret">{row.open ? "▾" : "▸"}</span><b>{row.name}</b><span class="quiet end">{count(row.values, "value")}</span></span>;
  }
  if (row.kind === "more") {
    return <span class="tree" style={pad}><span class="caret">⋯</span><button class="link" tabIndex={-1}>{row.rest} more that do the same</button></span>;
  }
  const v = row.kind === "value" ? row.value : r.valuesOf[row.op][0] ?? -1;
  const op = row.kind === "op" ? row.op : r.doc.values.op[v];
  return (
    <span class="tree" style={pad}>
      <code>{v < 0 ? "" : r.valueName(v)}</code>
      <span class="kind">{op >= 0 ? r.kind(op) : op === -1 ? "input" : "output"}</span>
      {v >= 0 && <Tensor review={r} value={v} dims={dims(v)} />}
      <span class="quiet end">{r.line(op)}</span>
    </span>
  );
}

// tree lists what is unfolded. Numbers beyond the scopes unfold those that do the same as one, then inputs, then outputs.
function tree(r: Review, open: Set<number>): Row[] {
  const rows: Row[] = [];
  const many = r.doc.scopes.name.length;
  const inside = (s: number, depth: number) => {
    const parts: { at: number; scope?: number; op?: number }[] = [
      ...r.children[s].map((c) => ({ at: first(r, c), scope: c })), ...r.scopeOps[s].map((op) => ({ at: op, op }))];
    parts.sort((a, b) => a.at - b.at);
    for (const p of parts) {
      if (p.op !== undefined) { rows.push({ kind: "op", op: p.op, depth }); continue; }
      const c = p.scope!;
      const like = r.doc.scopes.like[c];
      const alike = r.alike[like].length;
      const all = open.has(like + many);
      if (like !== c && !all) {
        if (r.alike[like][1] === c) rows.push({ kind: "more", scope: like, depth, rest: alike - 1 });
        continue;
      }
      rows.push({ kind: "scope", scope: c, depth, open: open.has(c), alike: like === c ? alike : 1 });
      if (open.has(c)) inside(c, depth + 1);
    }
  };
  const group = (name: "inputs" | "outputs", list: number[]) => {
    const at = name === "inputs" ? 2 * many : 2 * many + 1;
    rows.push({ kind: "ports", name, at, open: open.has(at), depth: 0, values: list.length });
    if (open.has(at)) for (const value of list) rows.push({ kind: "value", value, depth: 1 });
  };
  group("inputs", r.args);
  inside(0, 0);
  group("outputs", r.results);
  return rows;
}

function first(r: Review, scope: number): number {
  let at = r.scopeOps[scope][0] ?? Infinity;
  for (const c of r.children[scope]) at = Math.min(at, first(r, c));
  return at;
}

// search finds values by name, kind, shape or line.
function search(r: Review, query: string): Row[] {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  const rows: Row[] = [];
  r.doc.values.op.forEach((op, value) => {
    const text = `${r.valueName(value)} ${op >= 0 ? r.kind(op) : "input output"} ${r.type(value).text} ${r.line(op)} `.toLowerCase();
    if (words.every((w) => text.includes(w.startsWith(":") ? w + " " : w))) rows.push({ kind: "value", value, depth: 0 });
  });
  return rows;
}
