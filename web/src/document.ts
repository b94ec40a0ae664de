// Written by `go test ./review -rewrite` from the Go types of package review.

export interface Document {
  schema: string;
  model: string;
  file: string;
  mesh: Axis[];
  deviceIds: number[];
  strings: string[];
  axes: AxisPart[][];
  types: Type[];
  shardings: Sharding[];
  scopes: Scopes;
  ops: Ops;
  values: Values;
  inputs: Tensor[];
  outputs: Tensor[];
  findings: Finding[];
  propagation?: Steps | null;
  plan?: Step | null;
}

export interface Axis {
  name: string;
  size: number;
}

export interface AxisPart {
  axis: number;
  pre: number;
  size: number;
}

export interface Type {
  text: string;
  dims: number[];
  bytes: number;
}

export interface Sharding {
  dims: number[];
  unreduced: number;
}

export interface Scopes {
  name: number[];
  parent: number[];
  like: number[];
}

export interface Ops {
  kind: number[];
  scope: number[];
  source: number[];
  inside: number[];
  operands: number[];
  first: number[];
}

export interface Values {
  name: number[];
  type: number[];
  sharding: number[];
  op: number[];
}

export interface Tensor {
  index: number;
  name: string;
  role?: string;
  type: string;
  localType: string;
  sharding: string;
  spec: string;
  axes: string[];
  wholeBytes: number;
  bytes: number;
  user: boolean;
  replaces?: number;
  donated?: boolean;
  refinedSpec?: string;
}

export interface Finding {
  code: string;
  severity: string;
  message: string;
  file?: string;
  line?: number;
  column?: number;
  source?: string;
  value?: string;
}

export interface Steps {
  kind: number[];
  level: number[];
  op: number[];
  axes: number[];
  from: number[];
  fromDim: number[];
  to: number[];
  toDim: number[];
  now: number[];
  reason: number[];
  against: number[];
  other: number[];
  otherDim: number[];
  change: number[];
  causes: number[][];
  given: Given[];
  levels: Level[];
  rounds: Round[];
  owner: number[];
}

export interface Given {
  value: number;
  dim: number;
  axes: number;
  by: number;
  source: number;
}

export interface Level {
  userPriority: number;
  opPriority: number;
  first: number;
  steps: number;
  groups: Group[];
  gathered?: Gathered | null;
}

export interface Group {
  kind: string;
  axes: string;
  kinds?: string[];
  reason?: string;
  against?: string;
  starts: Start[];
  steps: number[];
}

export interface Start {
  place: string;
  source?: string;
  steps: number;
}

export interface Gathered {
  bytes: number;
  values: number[];
  each: number[];
  note?: string;
}

export interface Round {
  userPriority: number;
  summary: Summary;
}

export interface Summary {
  given?: Tally[];
  gained?: Tally[];
  refused?: Tally[];
}

export interface Tally {
  axes: string;
  reason?: string;
  dims: number;
  values: number;
  places?: string[];
}

export interface Step {
  hardware: string;
  memoryLimit: number;
  estimate: Estimate;
  baselines: Baseline[];
  certificate: Certificate;
  collectives: Collective[];
  constraints: Constraint[];
  rewrites: Gain[];
  recomputed: Recomputed[];
  meshes: TriedMesh[];
  options: Request;
  hash: string;
  timeline: Timeline;
  breakdown: Breakdown | null;
  memory: Memory | null;
}

export interface Estimate {
  seconds: number;
  computeSeconds: number;
  collectiveSeconds: number;
  peakBytes: number;
  sentBytes: number;
}

export interface Baseline {
  name: string;
  note?: string;
  fits: boolean;
  estimate: Estimate;
}

export interface Certificate {
  cost: number;
  bound: number;
  gap: number;
  status: string;
  steps: number;
  seed: number;
  scope?: string;
}

export interface Collective {
  kind: string;
  axes: string[];
  groups?: string[];
  type: string;
  count: number;
  bytes: number;
  seconds: number;
  source: string;
}

export interface Constraint {
  type: string;
  sharding: string;
  spec: string;
  refinedSpec?: string;
  source: string;
}

export interface Gain {
  rewrite: string;
  savedSeconds: number;
  savedBytes: number;
  savedPeak: number;
}

export interface Recomputed {
  op: string;
  type: string;
  count: number;
  seconds: number;
  source: string;
}

export interface TriedMesh {
  mesh: Axis[];
  full: boolean;
  fits: boolean;
  seconds: number;
  peakBytes: number;
}

export interface Request {
  model: Given;
  topology?: string;
  devices?: number;
  steps: number;
  seed: number;
  searchMemory: number;
  pins: Pin[];
  forbidden: Forbid[];
  budgets: Budget[];
  tripCounts: TripCount[];
  wholeAxes?: boolean;
  taste: number;
  without: string[];
  from?: string;
}

export interface Pin {
  value: string;
  sharding: string;
}

export interface Forbid {
  value: string;
  axes: string[];
}

export interface Budget {
  kind: string;
  axes: string[];
  bytes: number;
  each: boolean;
}

export interface TripCount {
  loop: string;
  count: number;
}

export interface Timeline {
  seconds: number;
  tracks: string[];
  name: number[];
  type: number[];
  source: number[];
  scope: number[];
  on: number[][];
  start: number[];
  length: number[];
  waited: number[];
  moves: number[];
}

export interface Breakdown {
  schema: string;
  program: string;
  mesh: Axis[];
  hardware: string;
  estimate: Estimate;
  overlap: Overlap;
  shares: Share[];
  groups: OpGroup[];
}

export interface Overlap {
  seconds: number;
  ahead: number;
  hidden: number;
  busy: LinkBusy[];
  stalls: Stall[];
}

export interface LinkBusy {
  links: string;
  seconds: number;
}

export interface Stall {
  kind: string;
  axes: string;
  type: string;
  places: number;
  seconds: number;
  sources: string[];
}

export interface Share {
  resource: string;
  seconds: number;
  doubled: number;
}

export interface OpGroup {
  kind: string;
  axes?: string;
  type: string;
  places: number;
  runs: number;
  seconds: number;
  resource: string;
  sources: string[];
}

export interface Memory {
  schema: string;
  program: string;
  mesh: Axis[];
  hardware: string;
  peakBytes: number;
  at: Place;
  ops: number;
  donated: number;
  padding: number;
  classes: string[];
  atPeak: number[];
  again: (Recompute | null)[];
  largest: HeldValue[];
  curve: Sample[];
}

export interface Place {
  number: number;
  kind: string;
  type: string;
  source: string;
}

export interface Recompute {
  values: number;
  savedBytes: number;
  seconds: number;
}

export interface HeldValue {
  name: string;
  type: string;
  bytes: number;
  class: string;
  from: number;
  to: number;
  source: string;
  recompute?: Recompute | null;
}

export interface Sample {
  op: number;
  bytes: number[];
}
