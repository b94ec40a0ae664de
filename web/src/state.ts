// What the page shows: documents, and where in them it is, which is in its address.
import { computed, signal } from "@preact/signals";
import type { PlanRequest } from "@autoshard/client/service";
import type { Review } from "./model";
import { Playback } from "./playback";

// Subject is a document, and what plans its program anew, if that is at hand.
export interface Subject { review: Review; request?: () => Promise<PlanRequest> }

export const subjects = signal<Subject[]>([]);
export const served = signal(false); // a server answers; else the page is a file
export const problem = signal("");
export const busy = signal("");

export type View = "program" | "propagation" | "plan" | "compare" | "what-if" | "devices";
export const viewNames: [View, string][] = [["program", "Program"], ["propagation", "Propagation"], ["plan", "Plan"],
  ["compare", "Compare"], ["what-if", "What if"], ["devices", "Devices"]];

// Route is the address behind #: a view and its state.
export interface Route { view: View; params: Record<string, string> }
export const route = signal<Route>(parse(location.hash));

export function parse(hash: string): Route {
  const [path, query = ""] = hash.replace(/^#\/?/, "").split("?");
  const known = viewNames.find(([v]) => v === path);
  return { view: known ? known[0] : "program", params: Object.fromEntries(new URLSearchParams(query)) };
}

export function format(view: View, params: Record<string, string>): string {
  const kept = Object.fromEntries(Object.entries(params).filter(([, v]) => v !== ""));
  const query = new URLSearchParams(kept).toString();
  return `#/${view}${query ? "?" + query : ""}`;
}

// go changes the address: some parameters, and the view where it is given. What is "" is left out.
export function go(change: Record<string, string | number>, view: View = route.value.view, replace = false): void {
  const params = { ...route.value.params };
  for (const [k, v] of Object.entries(change)) params[k] = String(v);
  const hash = format(view, params);
  if (replace) history.replaceState(null, "", hash);
  else if (hash !== location.hash) history.pushState(null, "", hash);
  route.value = parse(hash);
}

window.addEventListener("popstate", () => { route.value = parse(location.hash); });
window.addEventListener("hashchange", () => { route.value = parse(location.hash); });

export function param(name: string): string { return route.value.params[name] ?? ""; }
export function numberParam(name: string, otherwise: number): number {
  const v = param(name);
  return v === "" || !Number.isFinite(Number(v)) ? otherwise : Number(v);
}

export const shown = computed<number>(() => {
  const i = numberParam("doc", 0);
  return i >= 0 && i < subjects.value.length ? i : 0;
});
export const subject = computed<Subject | undefined>(() => subjects.value[shown.value]);
export const review = computed<Review | undefined>(() => subject.value?.review);

const playbacks = new WeakMap<Review, Playback>();
export function playbackOf(r: Review): Playback | undefined {
  if (!r.doc.propagation) return undefined;
  let p = playbacks.get(r);
  if (!p) playbacks.set(r, (p = new Playback(r, r.doc.propagation)));
  return p;
}

// selected is the value that the address names, -1 for none.
export const selected = computed<number>(() => review.value?.find(param("value")) ?? -1);
export function select(v: number): void { if (review.value) go({ value: review.value.valueName(v) }); }

export function addSubject(s: Subject): number {
  subjects.value = [...subjects.value, s];
  return subjects.value.length - 1;
}
