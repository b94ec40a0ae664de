// The services that the page asks: those of the server that it comes from, and no other.
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { Code, ConnectError, createClient } from "@connectrpc/connect";
import { createConnectTransport } from "@connectrpc/connect-web";
import { AutoshardService, PlanRequestSchema, type PlanRequest } from "@autoshard/client/service";
import type { Plan } from "@autoshard/client/plan";
import { ReviewService, type ReviewResponse } from "@autoshard/client/review";
import type { Document } from "./document";
import { Review } from "./model";
import { addSubject, busy, parse, problem, route, served, subjects, type Subject } from "./state";

const tokenKey = "autoshard.token";

// takeToken moves a token from the address, where a private server puts it, to the storage of this tab.
function takeToken(): void {
  const found = /[#&?]token=([^&]+)/.exec(location.hash);
  if (!found) return;
  sessionStorage.setItem(tokenKey, decodeURIComponent(found[1]));
  history.replaceState(null, "", location.hash.replace(/[&?]?token=[^&]+/, "") || "#/program");
  route.value = parse(location.hash);
}

const transport = createConnectTransport({
  baseUrl: location.origin,
  useBinaryFormat: true,
  interceptors: [(next) => (r) => {
    const token = sessionStorage.getItem(tokenKey);
    if (token) r.header.set("Authorization", `Bearer ${token}`);
    return next(r);
  }],
});
export const autoshard = createClient(AutoshardService, transport);
const reviews = createClient(ReviewService, transport);

export function explain(e: unknown): string {
  const err = ConnectError.from(e);
  if (err.code === Code.Unauthenticated) return "This server needs a token: open the address that it printed, with #token=… at its end.";
  return err.rawMessage;
}

// attempt does something that may fail, says meanwhile what, and shows why it failed.
export async function attempt<T>(what: string, work: () => Promise<T>): Promise<T | undefined> {
  busy.value = what;
  problem.value = "";
  try {
    return await work();
  } catch (e) {
    problem.value = e instanceof ConnectError || !(e instanceof Error) ? explain(e) : e.message;
    return undefined;
  } finally {
    busy.value = "";
  }
}

function subjectOf(r: ReviewResponse, name: string): Subject {
  const doc = JSON.parse(new TextDecoder().decode(r.document)) as Document;
  return { review: new Review(doc, name), request: r.plannable ? () => requestOf(name) : undefined };
}

// load shows what is in the page itself, as in an exported report, or what the server was started for.
export async function load(): Promise<void> {
  const inside = document.querySelectorAll<HTMLScriptElement>("script[type='application/gzip']");
  if (inside.length > 0) {
    for (const s of inside) addSubject({ review: new Review(await unpack(s.textContent ?? ""), s.dataset.name ?? "") });
    return;
  }
  served.value = true;
  takeToken();
  await attempt("Loading", async () => {
    const list: Subject[] = [];
    for (const name of (await reviews.listSubjects({})).names) {
      list.push(subjectOf(await reviews.review({ subject: { case: "name", value: name } }), name));
    }
    subjects.value = list;
  });
}

async function requestOf(name: string): Promise<PlanRequest> {
  const { plan } = await reviews.getPlanRequest({ name });
  if (!plan) throw new Error(`There is no request for ${name}.`);
  return plan;
}

async function unpack(text: string): Promise<Document> {
  const packed = Uint8Array.from(atob(text.trim()), (c) => c.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  return (await new Response(stream).json()) as Document;
}

// open shows a file that the user chose.
export async function open(file: File, mesh: { name: string; size: bigint }[]): Promise<number | undefined> {
  return attempt(`Reading ${file.name}`, async () => {
    const content = new Uint8Array(await file.arrayBuffer());
    const r = await reviews.review({ subject: { case: "content", value: content }, fileName: file.name, mesh });
    const s = subjectOf(r, file.name);
    if (s.review.doc.propagation) {
      const request = create(PlanRequestSchema, { source: { case: "artifact", value: content }, fileName: file.name, mesh });
      s.request = async () => request;
    }
    return addSubject(s);
  });
}

// showPlan adds the document of a plan that was just made.
export async function showPlan(plan: Plan, name: string, request: PlanRequest): Promise<number> {
  const s = subjectOf(await reviews.review({ subject: { case: "plan", value: plan } }), name);
  return addSubject({ ...s, request: async () => request });
}

// copy returns a request that may be changed.
export function copy(r: PlanRequest): PlanRequest { return fromBinary(PlanRequestSchema, toBinary(PlanRequestSchema, r)); }
