// Asks a server by the official clients of Connect for Node, over all protocols, and says what came of it:
//
//   node check.mjs http://127.0.0.1:8080 < request.json
//
// A line has the protocol, the hash of the plan by Plan and by StreamPlan, the reports that came before, and the codes of an error.
import { fromJson } from "@bufbuild/protobuf";
import { ConnectError, Code, createClient } from "@connectrpc/connect";
import { createConnectTransport, createGrpcTransport, createGrpcWebTransport } from "@connectrpc/connect-node";
import { readFileSync } from "node:fs";
import { AutoshardService, PlanRequestSchema } from "./autoshard/v1/service_pb.js";
import { DiagnosticSchema } from "./autoshard/v1/answers_pb.js";

const baseUrl = process.argv[2];
const plan = fromJson(PlanRequestSchema, JSON.parse(readFileSync(0, "utf8")));

/** @type {Record<string, import("@connectrpc/connect").Transport>} */
const transports = {
  connect: createConnectTransport({ baseUrl, httpVersion: "2" }),
  "connect over HTTP/1.1 in JSON": createConnectTransport({ baseUrl, httpVersion: "1.1", useBinaryFormat: false }),
  grpc: createGrpcTransport({ baseUrl }),
  "grpc-web": createGrpcWebTransport({ baseUrl, httpVersion: "1.1" }),
};

for (const [protocol, transport] of Object.entries(transports)) {
  const client = createClient(AutoshardService, transport);
  const once = (await client.plan(plan)).plan?.hashes?.plan;
  let reports = 0, streamed;
  for await (const { event } of client.streamPlan({ plan })) {
    if (event.case === "progress") reports++;
    else streamed = event.value?.plan?.hashes?.plan;
  }
  let error = "none";
  try {
    await client.plan({ ...plan, memory: -1n });
  } catch (e) {
    const known = ConnectError.from(e);
    error = `${Code[known.code]} ${known.findDetails(DiagnosticSchema).map((d) => d.code).join(",")}`;
  }
  console.log(JSON.stringify({ protocol, once, streamed, reports: reports > 0, error }));
}
