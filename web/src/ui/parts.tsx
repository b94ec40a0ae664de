// Small parts that views share.
import type { ComponentChildren } from "preact";

export function Tile({ label, value, note, tone }: { label: string; value: string; note?: ComponentChildren; tone?: "good" | "bad" }) {
  return <div class={`tile ${tone ?? ""}`}><dt>{label}</dt><dd>{value}</dd>{note && <dd class="note">{note}</dd>}</div>;
}

export function Section({ title, children, aside }: { title: string; children: ComponentChildren; aside?: ComponentChildren }) {
  return <section><header><h2>{title}</h2>{aside}</header>{children}</section>;
}

// Bar is a share of the largest.
export function Bar({ part, colour = "var(--accent)" }: { part: number; colour?: string }) {
  return <span class="bar" aria-hidden="true"><i style={{ width: `${Math.max(0, Math.min(1, part)) * 100}%`, background: colour }} /></span>;
}

export function Empty({ children }: { children: ComponentChildren }) { return <div class="empty">{children}</div>; }

// save hands a file to the user.
export function save(name: string, type: string, text: string): void {
  const url = URL.createObjectURL(new Blob([text], { type }));
  const a = document.createElement("a");
  a.href = url;
  a.download = name;
  a.click();
  setTimeout(() => URL.revokeObjectURL(url), 1000);
}
