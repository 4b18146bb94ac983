// What hone dash answers (docs/dashboard.md), typed.

export interface Cell {
  value: number;
  share: boolean;
  low?: number;
  high?: number;
}

/** How far a run is: in the stage that it is in, and of its whole time where that can be told. */
export interface Progress {
  stage: string;
  step: number;
  steps: number;
  later: number;
  left: number | null;
  share: number | null;
}

export interface Difference {
  key: string;
  values: string[];
}

export interface RunLine {
  id: string;
  name: string;
  group: string;
  state: "running" | "finished" | "stopped";
  method: string;
  loss: string;
  environment: string;
  model: string;
  seed: number;
  step: number;
  progress: Progress;
  steps: number;
  trajectories: number;
  seconds: number;
  tokens_per_second: number | null;
  success: number | null;
  dev: number | null;
  before: Cell | null;
  after: Cell | null;
  alarms: number;
  written: number | null;
  spark: number[];
  problem?: string;
}

export interface Alarm {
  step: number;
  name: string;
  severity: string;
  message: string;
  remedy: string;
}

export interface TableRow {
  label: string;
  about: string;
  before: Cell | null;
  after: Cell | null;
  main: boolean;
  indent: number;
}

export interface Run extends Omit<RunLine, "alarms"> {
  folder: string;
  recipe: string;
  metrics: string[];
  meanings: Record<string, string>;
  alarms: Alarm[];
  totals: Record<string, number>;
  tables: { split: string; tasks: number; rows: TableRow[] }[];
  best?: { value: number; step: number };
  result?: { weights?: string; step?: number; checkpoint?: string };
  stages: { kind: string; steps: number }[];
  groups: number;
}

export interface Columns {
  generation: number;
  first_row: number;
  steps: number[];
  series: Record<string, (number | null)[]>;
}

export interface GroupLine {
  id: number;
  step: number;
  task: string;
  leaves: number;
  tokens: number;
  mean_reward: number | null;
  request?: string;
  rewards?: (number | null)[];
  endings?: string[];
  tools?: string[];
  calls?: number;
  faults?: number;
  problem?: string;
}

export interface Place {
  step: number;
  id: number;
}

export interface GroupPage {
  groups: GroupLine[];
  next: Place | null;
  looked_at: number;
  count: number;
}

export interface Call {
  name: string;
  arguments: Record<string, unknown>;
  span: [number, number];
}

export interface ToolResult {
  call: number;
  status: string;
  blame: string;
  content: string;
  latency_ms: number;
  attempts: number;
  cut_bytes: number;
  injected: string;
}

export interface TreeNode {
  parent: number | null;
  author: "system" | "user" | "policy" | "tool";
  tokens: string[];
  folded_from?: number;
  ids?: number[];
  logprobs?: number[];
  entropies?: number[];
  version?: number;
  calls?: Call[];
  faults?: { kind: string; message: string; span: [number, number] }[];
  thoughts?: [number, number][];
  closed_thoughts?: number;
  results?: ToolResult[];
}

export interface Term {
  name: string;
  value: number | null;
  weight: number;
  node: number | null;
  span?: [number, number];
  blame?: string;
  message?: string;
}

export interface Leaf {
  node: number;
  ending: string;
  blame: string;
  final_state: unknown;
  path: number[];
  success?: boolean | null;
  tool_needed?: boolean | null;
  called?: boolean;
  calls?: number;
  gold_calls?: number | null;
  right_tools?: number;
  right_arguments?: number;
  reward: number | null;
  terms: Term[];
  credit?: number[];
}

export interface GroupCredit {
  method: string;
  problem?: string;
  same?: boolean;
  leaves?: number[][];
  layers?: { name: string; leaves: number[][] }[];
  notes?: { kind: string; leaf: number | null; channel: string; text: string }[];
}

export interface Group {
  id: number;
  step: number;
  trained_with: string;
  task: { id: string; request: string; answer: unknown; metadata: unknown };
  text: boolean;
  nodes: TreeNode[];
  leaves: Leaf[];
  credit: GroupCredit;
}

export interface MethodLine {
  name: string;
  about: string;
}

type Query = Record<string, string | number | boolean | null | undefined>;

async function get<T>(path: string, query: Query = {}, signal?: AbortSignal): Promise<T> {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value === null || value === undefined || value === "" || value === false) continue;
    parameters.set(name, value === true ? "1" : String(value));
  }
  const text = parameters.toString();
  let response: Response;
  try {
    response = await fetch(path + (text ? `?${text}` : ""), { signal: signal ?? null });
  } catch (error) {
    if (signal?.aborted) throw error;
    throw new Error("hone dash does not answer; is it still running?");
  }
  const body = (await response.json()) as T & { error?: string };
  if (!response.ok) throw new Error(body.error ?? `status ${response.status}`);
  return body;
}

export const api = {
  runs: (signal?: AbortSignal) => get<{ runs: RunLine[]; folders: string[] }>("/api/runs", {}, signal),
  run: (run: string, signal?: AbortSignal) => get<Run>("/api/run", { run }, signal),
  differences: (runs: string[], signal?: AbortSignal) =>
    get<{ runs: string[]; differences: Difference[] }>("/api/differences", { runs: runs.join(",") }, signal),
  metrics: (run: string, names: string[], generation: number, row: number, signal?: AbortSignal) =>
    get<Columns>("/api/metrics", { run, names: names.join(","), generation, row }, signal),
  groups: (run: string, query: Query, signal?: AbortSignal) =>
    get<GroupPage>("/api/groups", { run, ...query }, signal),
  group: (run: string, id: number, method: string, signal?: AbortSignal) =>
    get<Group>("/api/group", { run, id, method }, signal),
  methods: (signal?: AbortSignal) => get<{ methods: MethodLine[] }>("/api/methods", {}, signal),
};
