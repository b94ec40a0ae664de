// A simulated step: tracks of what the units and the links of a device do, to zoom and move.
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import type { Timeline } from "../document";
import type { Review } from "../model";
import { axisColour } from "./glyph";

const track = 34, head = 22, side = 70;

interface Props { review: Review; timeline: Timeline; current: number; choose: (event: number) => void }

export function TimelineChart({ review, timeline, current, choose }: Props) {
  const canvas = useRef<HTMLCanvasElement>(null), outer = useRef<HTMLDivElement>(null);
  const total = timeline.seconds * 1e6;
  const [width, setWidth] = useState(0);
  const [view, setView] = useState<[number, number]>([0, total]);
  const height = head + timeline.tracks.length * track + 4;
  const zoom = (factor: number, at: number) => setView(([from, to]) => {
    const span = Math.min(total, Math.max(total / 1e6, (to - from) * factor));
    const start = Math.max(0, Math.min(total - span, at - (at - from) * (span / (to - from))));
    return [start, start + span];
  });
  const move = (part: number) => setView(([from, to]) => {
    const start = Math.max(0, Math.min(total - (to - from), from + part * (to - from)));
    return [start, start + to - from];
  });
  useEffect(() => {
    const seen = new ResizeObserver(([e]) => setWidth(Math.floor(e.contentRect.width)));
    if (outer.current) seen.observe(outer.current);
    return () => seen.disconnect();
  }, []);
  useEffect(() => { // what is chosen elsewhere comes into sight
    if (current >= 0 && (timeline.start[current] > view[1] || timeline.start[current] + timeline.length[current] < view[0])) {
      const span = Math.max(timeline.length[current] * 20, total / 50);
      const from = Math.max(0, Math.min(total - span, timeline.start[current] - span / 2));
      setView([from, from + span]);
    }
  }, [current]);
  useLayoutEffect(() => { if (canvas.current && width > 0) paint(canvas.current, width, height, review, timeline, view, current); }, [width, view, current, timeline]);
  const timeAt = (e: MouseEvent) => view[0] + ((e.offsetX - side) / (width - side)) * (view[1] - view[0]);
  return (
    <div class="timeline" ref={outer}>
      <div class="buttons" role="group" aria-label="Zoom">
        <button onClick={() => zoom(0.5, (view[0] + view[1]) / 2)} aria-label="Zoom in">+</button>
        <button onClick={() => zoom(2, (view[0] + view[1]) / 2)} aria-label="Zoom out">−</button>
        <button onClick={() => setView([0, total])}>all</button>
      </div>
      <canvas ref={canvas} tabIndex={0} role="img" style={{ height: `${height}px` }}
        aria-label={`Simulated step with ${timeline.tracks.length} tracks: ${timeline.tracks.join(", ")}. Arrow keys move, plus and minus zoom, n and b go to the next and previous collective.`}
        onWheel={(e) => { if (e.ctrlKey || e.metaKey || e.shiftKey) { e.preventDefault(); zoom(e.deltaY + e.deltaX > 0 ? 1.25 : 0.8, timeAt(e)); } }}
        onKeyDown={(e) => {
          if (e.key === "+" || e.key === "=") zoom(0.5, (view[0] + view[1]) / 2);
          else if (e.key === "-") zoom(2, (view[0] + view[1]) / 2);
          else if (e.key === "ArrowRight") move(0.2);
          else if (e.key === "ArrowLeft") move(-0.2);
          else if (e.key === "n") next(timeline, current, 1, choose);
          else if (e.key === "b") next(timeline, current, -1, choose);
          else return;
          e.preventDefault();
        }}
        onClick={(e) => { const i = hit(timeline, timeAt(e), Math.floor((e.offsetY - head) / track), (view[1] - view[0]) / width); if (i >= 0) choose(i); }} />
    </div>
  );
}

// next goes on to a collective behind or before an event.
function next(t: Timeline, from: number, by: number, choose: (i: number) => void): void {
  for (let i = from + by; i >= 0 && i < t.name.length; i += by) if (!t.on[i].includes(0)) { choose(i); return; }
}

// hit is the shortest event at a time, so that what is in a loop is found before the loop.
function hit(t: Timeline, time: number, on: number, margin: number): number {
  let best = -1;
  for (let i = 0; i < t.name.length; i++) {
    if (t.on[i].includes(on) && time >= t.start[i] - margin && time <= t.start[i] + t.length[i] + margin && (best < 0 || t.length[i] < t.length[best])) best = i;
  }
  return best;
}

function paint(canvas: HTMLCanvasElement, width: number, height: number, r: Review, t: Timeline, [from, to]: [number, number], current: number): void {
  const scale = window.devicePixelRatio || 1;
  canvas.width = width * scale;
  canvas.height = height * scale;
  const g = canvas.getContext("2d")!;
  g.scale(scale, scale);
  const style = getComputedStyle(document.documentElement);
  const colour = (name: string) => style.getPropertyValue(name.replace(/var\((.*)\)/, "$1")).trim();
  const quiet = colour("--quiet"), text = colour("--text"), line = colour("--line");
  g.font = "11px " + style.getPropertyValue("--sans");
  t.tracks.forEach((name, i) => {
    g.fillStyle = quiet;
    g.fillText(name, 0, head + i * track + track / 2 + 3);
    g.fillStyle = line;
    g.fillRect(side, head + (i + 1) * track - 1, width - side, 1);
  });
  const x = (time: number) => side + ((time - from) / (to - from)) * (width - side);
  for (let i = 0; i <= 4; i++) {
    const time = from + ((to - from) * i) / 4;
    g.fillStyle = quiet;
    g.textAlign = i === 4 ? "right" : i === 0 ? "left" : "center";
    g.fillText(microseconds(time), x(time), 12);
  }
  g.textAlign = "left";
  const loop = colour("--cell"), unit = colour("--unit");
  const end: number[] = t.tracks.map(() => -1); // of what is painted, in pixels: more than one event a pixel is not seen
  for (let i = 0; i < t.name.length; i++) {
    if (t.start[i] + t.length[i] < from || t.start[i] > to) continue;
    const name = r.text(t.name[i]);
    const nested = name.startsWith("while") || name === "case" || name === "if";
    for (const on of t.on[i]) {
      const left = Math.max(side, x(t.start[i])), right = Math.min(width, x(t.start[i] + t.length[i]));
      if (right < end[on] + 0.5 && i !== current) continue;
      if (!nested) end[on] = Math.max(end[on], Math.max(right, left + 0.5));
      const y = head + on * track + (nested ? 2 : 7), tall = track - (nested ? 5 : 14);
      const colours = nested ? [loop] : on === 0 ? [unit] : collectiveColours(r, name, colour);
      colours.forEach((c, k) => {
        g.fillStyle = c;
        g.fillRect(left, y + (k * tall) / colours.length, Math.max(0.6, right - left - 0.4), tall / colours.length);
      });
      if (i === current) { g.strokeStyle = text; g.lineWidth = 2; g.strokeRect(left, y, Math.max(2, right - left), track - 14); }
      if (right - left > 46 && !nested) {
        g.save();
        g.beginPath();
        g.rect(left, y, right - left, track);
        g.clip();
        g.fillStyle = on === 0 ? text : "#fff";
        g.fillText(name, left + 4, y + 13);
        g.restore();
      }
    }
  }
}

// collectiveColours are those of the axes that a collective runs over.
function collectiveColours(r: Review, name: string, colour: (name: string) => string): string[] {
  const axes = (name.split(" over ")[1] ?? "").split(",").map((n) => r.doc.mesh.findIndex((a) => a.name === n.split(":")[0]));
  return axes.map((axis) => (axis < 0 ? colour("--accent") : colour(axisColour(axis))));
}

export function microseconds(us: number): string {
  if (us >= 1e6) return `${Number((us / 1e6).toPrecision(3))} s`;
  if (us >= 1e3) return `${Number((us / 1e3).toPrecision(3))} ms`;
  return `${Number(us.toPrecision(3))} µs`;
}
