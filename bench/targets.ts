/** What is measured, and what it has to be. The ids are what the families answer with. */

export interface Target {
  readonly what: string;
  /** What the number is a multiple of, or its unit. */
  readonly against: string;
  /** `below`: small is good. `above`: so many times faster than the baseline. */
  readonly good: 'below' | 'above';
  readonly goal: number;
  readonly gate: number;
  readonly unit: '×' | 'KB' | 'B' | 'µs' | 'ms';
}

const below = (
  what: string,
  against: string,
  goal: number,
  gate: number,
  unit: Target['unit'] = '×',
): Target => ({
  what,
  against,
  good: 'below',
  goal,
  gate,
  unit,
});
const above = (what: string, against: string, goal: number, gate: number): Target => ({
  what,
  against,
  good: 'above',
  goal,
  gate,
  unit: '×',
});

const b1 = 'parse + await handler';
const normalCall = 'check + timeout + budget';

export const targets = {
  call: below('governed call, zod, no listener', b1, 7.5, 8.5),
  call_listener: below('governed call, zod, 1 listener, all events', b1, 7, 10),
  call_raw: below('governed call, raw JSON Schema, warm', b1, 6, 8.5),
  normal: below('check + timeout + budget, no listener', b1, 8, 9.5),
  normal_heard: below('the same with a listener on each event type', b1, 12, 14),
  call_bytes: below('bytes allocated by a governed call', `${b1}, bytes`, 3, 4.5),
  in_flight: below('1 000 such calls in flight, no listener', `1 000 × ${b1}`, 6.5, 7.5),
  reject: below('bad input refused, error result included', b1, 12, 20),
  deny_constant: below('a rule that looks at no argument denies', b1, 1.2, 1.5),
  deny: below('policy denies (a rule on the arguments)', b1, 4.5, 5.5),
  deny_check: below("the tool's own check denies", b1, 6, 7),
  rules_many: below('a call under 1 000 rules, 10 of them on its tool', 'under these 10', 1.2, 1.5),
  rule_number: below('a call under a rule with a number', 'under a rule with a glob', 1.05, 1.2),
  rule_fact: below('a call under a rule with a fact', 'under a rule with a glob', 1.05, 1.2),
  audit: below('a line of an audit log, beyond its call', '`JSON.stringify` and append', 2, 3),
  otel: below('the spans of a call, beyond the call', 'the SDK makes the same spans', 1.3, 1.6),
  idle: below('a call with audit, telemetry and inbox imported', 'the call without', 1.03, 1.1),
  peer_openai_agents: above('OpenAI Agents `tool({ timeoutMs }).invoke`', normalCall, 20, 12),
  peer_mcp: above('MCP in-memory `callTool`', normalCall, 20, 12),
  peer_langchain: above('LangChain `invoke`', normalCall, 30, 12),
  peer_mastra: above('Mastra `execute`', normalCall, 2.5, 1.5),
  register_raw_ms: below('register 1 000 raw JSON Schema tools', 'time', 5, 10, 'ms'),
  register_raw_bytes: below('the same, memory a tool', 'bytes kept', 1_536, 2_048, 'B'),
  register_zod: below('register 1 000 zod tools', '`z.toJSONSchema` of each', 1.1, 1.4),
  list_zod: above(
    'list of 1 000 tools in a session, warm: converting each',
    'the list',
    2_000,
    500,
  ),
  list_ai_sdk: above('… AI SDK, each step', 'the list', 2_000, 500),
  list_mcp: above('… MCP `tools/list`, each step', 'the list', 2_000, 500),
  session_us: below('create a session over 1 000 tools', 'time', 1, 3, 'µs'),
  session_bytes: below('the same, memory a session', 'bytes kept', 512, 1_024, 'B'),
  session_scale: below(
    'a session over 10 000 tools against over 10',
    'the same over 10 tools',
    1.25,
    2,
  ),
  plan: below('plan 1 000 calls over 1 000 tools', 'a loop that looks each up', 5, 10),
  origins_remember: below('remember 1 MB of text by its origin', 'reading each character', 12, 20),
  origins_judge: above(
    'judge 4 values of a call over 8 MB of text',
    '`includes` of each in the texts',
    50,
    20,
  ),
  import_core: below('import of `host-tools/core`, beyond zod', "zod's import", 0.25, 0.33),
  import: below('import of `host-tools`, beyond zod', "zod's import", 0.45, 0.55),
  hook_ms: below('an event judged by `host-tools hook`', 'time', 150, 250, 'ms'),
  hook: below('the same', 'a bare start of Node', 2.5, 6),
  concurrency: below('concurrency 16, handlers of 1 ms', 'a hand-written pool', 1.05, 1.15),
  mcp_http: above(
    'MCP over HTTP, calls a second, 16 at once',
    "the protocol package's own server",
    0.9,
    0.75,
  ),
  gateway_call: below(
    'a call through the gateway, one at a time',
    'the same call straight to its server',
    1.3,
    3,
  ),
  gateway_start: below(
    'start of a gateway with four servers, until all tools are listed',
    'the same four servers, started side by side',
    1.2,
    2.5,
  ),
  fleet_call: below(
    'a call on a fleet, one at a time',
    'a job of bare BullMQ and its result',
    1.3,
    2,
  ),
  fleet_calls: below('calls on a fleet, 32 at a time', 'jobs of bare BullMQ and results', 1.5, 2.5),
  sandbox_thread: below(
    'a call to a handler in a thread, one at a time',
    'a bare Tinypool',
    1.5,
    2,
  ),
  sandbox_process: below('a call to a handler in a process, one at a time', 'a bare fork', 1.5, 2),
  sandbox_thread_start: below(
    'the first call to a thread',
    'a new Tinypool, its first answer',
    1.5,
    2.5,
  ),
  sandbox_process_start: below(
    'the first call to a process',
    'a new fork, its first answer',
    1.5,
    2.5,
  ),
  code_empty: below('a program that does nothing', 'the same by the package `run`', 1.3, 1.6),
  code_call: below('a call in a program', "a call over `run`'s own bridge", 3, 4),
  relay_trip: below('relayed round trip, one at a time, memory', 'bare Hono + SSE echo', 2, 3),
  relay_trip_16: below('relayed round trips, 16 at a time, memory', 'bare Hono + SSE echo', 2, 3),
  relay_cpu_16: below(
    "the server's own processor time, 16 at a time, memory",
    'bare Hono + SSE echo',
    2.2,
    3,
  ),
  relay_flood: below('a round trip beside 32 connections of one token', 'alone', 2, 3),
  relay_scale: below('memory of 10 000 relay sessions', 'of 1 000', 11, 12),
  leak: below('heap growth over calls and sessions that came and went', 'growth', 256, 512, 'KB'),
} as const satisfies Record<string, Target>;

export type TargetId = keyof typeof targets;

/** A number for a target, or for a row that has none and is only told. */
export interface Row {
  readonly id?: TargetId;
  /** Words for a row without a target. */
  readonly what?: string;
  readonly value: number;
  readonly unit?: string;
  /** Absolute figures and the like. */
  readonly note?: string;
}

/** What a family answers: rows, or why there are none. */
export interface FamilyResult {
  readonly rows: readonly Row[];
  readonly skipped?: string;
}

export type Verdict = 'goal met' | 'within gate' | 'MISSED' | '';

export function verdictOf({ id, value }: Row): Verdict {
  if (id === undefined) return '';
  const { good, goal, gate }: Target = targets[id];
  if (good === 'below')
    return value <= goal ? 'goal met' : value <= gate ? 'within gate' : 'MISSED';
  return value >= goal ? 'goal met' : value >= gate ? 'within gate' : 'MISSED';
}
