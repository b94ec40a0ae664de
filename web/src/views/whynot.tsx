// What kept an axis from a dimension, over all operations that tie others to it: asked of the server.
import { create } from "@bufbuild/protobuf";
import { useEffect, useState } from "preact/hooks";
import { attempt, autoshard } from "../client";
import { SourceSchema } from "@autoshard/client/service";
import type { Review } from "../model";
import { served, subject } from "../state";
import { Axis } from "../ui/glyph";

export function WhyNot({ r, value, dim, list }: { r: Review; value: number; dim: number; list: number }) {
  const [text, setText] = useState("");
  useEffect(() => setText(""), [value, dim]);
  const ask = subject.value?.request;
  const missing = r.doc.mesh.map((_, i) => i).filter((i) => !r.doc.axes[list].some((p) => p.axis === i));
  if (!served.value || !ask || missing.length === 0) return null;
  const why = (axis: number) => attempt("Asking", async () => {
    const q = await ask();
    const source = create(SourceSchema, { source: q.source, fileName: q.fileName, sizes: q.sizes, platform: q.platform, rules: q.rules });
    const mesh = r.doc.mesh.map((a) => ({ name: a.name, size: BigInt(a.size) }));
    const answer = await autoshard.explain({ source, mesh, value: `${r.valueName(value)}[${dim}]`, whyNot: r.doc.mesh[axis].name });
    setText(answer.text.slice(Math.max(0, answer.text.indexOf("why not"))));
  });
  return (
    <div class="why-not">
      <span class="buttons" role="group" aria-label={`Why not, dimension ${dim}`}><span class="quiet">why not</span>{missing.map((axis) => <button key={axis} onClick={() => void why(axis)}><Axis axis={axis} name={r.doc.mesh[axis].name} /></button>)}</span>
      {text && <pre aria-live="polite" tabIndex={0}>{text}</pre>}
    </div>
  );
}
