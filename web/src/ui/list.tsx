// Long lists of which only what is seen is in the page.
import type { ComponentChildren } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";

interface Props {
  label: string;
  rows: number;
  height: number; // of a row, in pixels
  row: (i: number) => ComponentChildren;
  current?: number; // that the keyboard is at, -1 for none
  follow?: number; // that is kept in sight
  choose?: (i: number) => void; // by keyboard
  fold?: (i: number, open: boolean) => void;
}

// List shows rows of one height. Arrows, Home and End move the current row.
export function List({ label, rows, height, row, current = -1, follow = current, choose, fold }: Props) {
  const box = useRef<HTMLDivElement>(null);
  const [top, setTop] = useState(0);
  const [size, setSize] = useState(600);
  useEffect(() => {
    const seen = new ResizeObserver(([e]) => setSize(e.contentRect.height));
    if (box.current) seen.observe(box.current);
    return () => seen.disconnect();
  }, []);
  useLayoutEffect(() => {
    const b = box.current;
    if (!b || follow < 0) return;
    const at = follow * height;
    if (at < b.scrollTop || at + height > b.scrollTop + b.clientHeight) b.scrollTop = Math.max(0, at - b.clientHeight / 3);
  }, [follow, rows]);
  const first = Math.max(0, Math.floor(top / height) - 4);
  const last = Math.min(rows, Math.ceil((top + size) / height) + 4);
  const key = (e: KeyboardEvent) => {
    const to = { ArrowDown: current + 1, ArrowUp: current - 1, Home: 0, End: rows - 1, PageDown: current + 20, PageUp: current - 20 }[e.key];
    if (to !== undefined && choose) choose(Math.max(0, Math.min(rows - 1, to)));
    else if (fold && current >= 0 && (e.key === "ArrowRight" || e.key === "ArrowLeft")) fold(current, e.key === "ArrowRight");
    else return;
    e.preventDefault();
  };
  const shownRows = [];
  for (let i = first; i < last; i++) {
    shownRows.push(
      <div key={i} id={`${label}-${i}`} class={`row${i === current ? " current" : ""}`} role="option" aria-selected={i === current}
        aria-setsize={rows} aria-posinset={i + 1} style={{ top: `${i * height}px`, height: `${height}px` }} onClick={() => choose?.(i)}>{row(i)}</div>);
  }
  return (
    <div class="list" ref={box} tabIndex={0} role="listbox" aria-label={label} onScroll={(e) => setTop(e.currentTarget.scrollTop)} onKeyDown={key}
      aria-activedescendant={current >= first && current < last ? `${label}-${current}` : undefined}>
      <div class="rows" role="presentation" style={{ height: `${rows * height}px` }}>{shownRows}</div>
    </div>
  );
}
