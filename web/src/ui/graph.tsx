// The drawing of a part of the program in the page.
import { useMemo, useRef } from "preact/hooks";
import type { Review } from "../model";
import { axisColour } from "./glyph";
import { box, dot, draw, svgFile } from "./drawing";
import { save } from "./parts";

interface Props {
  review: Review; ops: number[]; scope: number; name: string;
  dims: (v: number) => number[];
  current: number; // operation
  choose: (op: number, scope: number) => void;
}

export function Graph({ review, ops, scope, name, dims, current, choose }: Props) {
  const svg = useRef<SVGSVGElement>(null);
  const d = useMemo(() => draw(review, ops, scope, dims), [review, ops, scope]);
  const file = name.replace(/[^\w.-]+/g, "_") || "program";
  return (
    <figure class="graph">
      <figcaption>
        <span>{name}</span>
        <span class="buttons">
          <button onClick={() => svg.current && save(`${file}.svg`, "image/svg+xml", svgFile(svg.current))}>SVG</button>
          <button onClick={() => save(`${file}.dot`, "text/vnd.graphviz", dot(review, ops, dims))}>DOT</button>
        </span>
      </figcaption>
      <div class="canvas" tabIndex={0} role="group" aria-label={`Drawing of ${name}`}>
        <svg ref={svg} width={d.width} height={d.height} viewBox={`0 0 ${d.width} ${d.height}`} role="img" aria-label={`${d.nodes.length} nodes of ${name}`}>
          {d.edges.map(([a, b]) => {
            const p = d.nodes[a], q = d.nodes[b];
            const x1 = p.x + box.width / 2, y1 = p.y + box.height, x2 = q.x + box.width / 2, y2 = q.y;
            return <path key={`${a} ${b}`} class="edge" d={`M${x1} ${y1}C${x1} ${y1 + box.gapY * 0.7} ${x2} ${y2 - box.gapY * 0.7} ${x2} ${y2}`} />;
          })}
          {d.nodes.map((n) => (
            <g key={n.id} class={`node${n.op === current && n.op >= 0 ? " current" : ""}${n.scope >= 0 ? " scope" : ""}`} onClick={() => choose(n.op, n.scope)}>
              <title>{`${n.label} ${n.note}`}</title>
              <rect x={n.x} y={n.y} width={box.width} height={box.height} rx="6" />
              <text x={n.x + 10} y={n.y + 18}>{cut(n.label, 22)}</text>
              <text class="note" x={n.x + 10} y={n.y + 35}>{cut(n.note, 26)}</text>
              {n.dims.map((list, i) => (
                <rect key={i} class="dim" x={n.x + 10 + i * ((box.width - 20) / n.dims.length)} y={n.y + box.height - 4} height="4" width={(box.width - 20) / n.dims.length - 2}
                  style={review.doc.axes[list].length ? { fill: axisColour(review.doc.axes[list][0].axis) } : undefined} />
              ))}
            </g>
          ))}
        </svg>
      </div>
      {d.left > 0 && <p class="quiet">{d.left} more operations are not drawn: DOT has all {ops.length}.</p>}
    </figure>
  );
}

function cut(text: string, n: number): string { return text.length > n ? text.slice(0, n - 1) + "…" : text; }
