/** A run as JSON lines: the workflow it began with, then each event with what came of it, so that a replay finds the first difference. */
import { describe, MisuseError } from '../errors.ts';
import { canonicalJson, copyJson, escapePointer, isJsonObject, type JsonObject, type JsonValue } from '../json.ts';
import { digest } from './effective.ts';
import { readState } from './read-state.ts';
import { reduce } from './reduce.ts';
import { eventLimits } from './shape.ts';
import type { WorkflowCommand, WorkflowEvent } from './workflow-events.ts';
import type { Reduction, WorkflowState } from './workflow-state.ts';

/** How a replay of a trace went. */
export type TraceReport =
  | {
      /** Every line came out as it was written. */
      readonly same: true;
      /** How many events were replayed. */
      readonly events: number;
      /** `sha256:` and hex over the bytes of the last state. */
      readonly hash: string;
    }
  | {
      /** A line came out differently; the replay ended there. */
      readonly same: false;
      /** From 1. */
      readonly line: number;
      /** JSON pointer into the line: `/state`, `/commands/0/toolNames/2`, `/error`. */
      readonly at: string;
      /** What the trace says there, as JSON; "nothing" where it says nothing. */
      readonly expected: string;
      /** What the replay gave there. */
      readonly found: string;
    };

/** A line holds an event, or a state, one level down. */
const lineLimits = { ...eventLimits, maxDepth: eventLimits.maxDepth + 1 };

/** Writes a trace. `workflow` is the state before the first event. Ends with a line break. @throws MisuseError `invalid_option` for an event that is not JSON, and for a `workflow` that is none. */
export function writeTrace(workflow: WorkflowState, events: Iterable<WorkflowEvent>): string {
  let state = readState(workflow);
  const lines = [canonicalJson({ trace: 1, workflow: state as unknown as JsonValue })];
  const hashes: Hashes = new WeakMap();
  for (const event of events) {
    const copy = copyJson(event, eventLimits);
    if (!copy.ok)
      throw new MisuseError(
        'invalid_option',
        `writeTrace: expected event ${lines.length} to be JSON, got ${copy.message} at \`${copy.path}\`. It was refused; leave it out.`,
      );
    const reduction = reduce(state, copy.value as unknown as WorkflowEvent);
    state = reduction.state;
    lines.push(canonicalJson({ event: copy.value, ...outcome(reduction, hashes) }));
  }
  // What is cut off at its end would otherwise look like a shorter run.
  lines.push(canonicalJson({ end: { events: lines.length - 1, state: digest(state as unknown as JsonValue) } }));
  return `${lines.join('\n')}\n`;
}

/**
 * Replays a trace and compares each line with what comes out now. A line that holds an event alone is replayed and compared with nothing;
 * where all lines are such, the end mark may be missing too.
 * @throws MisuseError `invalid_file` with the line, for what is no trace.
 */
export function replayTrace(text: string): TraceReport {
  const lines = text.split('\n').flatMap((line, index) => (line.trim() === '' ? [] : [{ line: index + 1, value: readLine(line, index + 1) }]));
  const [first, ...rest] = lines;
  if (first === undefined) throw new MisuseError('invalid_file', 'Expected a trace to begin with a line { "trace": 1, "workflow": … }, got an empty file.');
  let state = readWorkflow(first.value, first.line);
  const hashes: Hashes = new WeakMap();
  let written = false;
  let events = 0;
  for (const { line, value } of rest) {
    if (Object.hasOwn(value, 'end')) {
      const { end } = value;
      const difference = firstDifference(end, { events, state: digest(state as unknown as JsonValue) }, '/end');
      if (difference !== undefined) return { same: false, line, ...difference };
      const after = rest.find((one) => one.line > line);
      if (after !== undefined) return { same: false, line: after.line, at: '', expected: 'nothing', found: canonicalJson(after.value) };
      return { same: true, events, hash: digest(state as unknown as JsonValue) };
    }
    events++;
    const event = Object.hasOwn(value, 'event') ? value.event : value;
    const reduction = reduce(state, event as unknown as WorkflowEvent);
    state = reduction.state;
    const { event: _, ...expected } = event === value ? {} : value;
    if (Object.keys(expected).length === 0) continue;
    written = true;
    const difference = firstDifference(expected, outcome(reduction, hashes), '');
    if (difference !== undefined) return { same: false, line, ...difference };
  }
  if (written) return { same: false, line: (rest.at(-1)?.line ?? first.line) + 1, at: '/end', expected: '{"events":…,"state":…}', found: 'nothing' };
  return { same: true, events, hash: digest(state as unknown as JsonValue) };
}

/** What is compared: commands without what the event or the state says already, the refusal, and the state by its hash. */
function outcome({ state, commands, error }: Reduction, hashes: Hashes): JsonObject {
  return {
    commands: commands.map(shortened),
    ...(error === undefined ? {} : { error: error.code }),
    state: hashOfParts(state, hashes),
  };
}

/** The hashes of parts that stay the same from state to state, such as the inventory. */
type Hashes = WeakMap<object, string>;

/** A hash over the hashes of a state's parts: what an event left alone is not read again, so that a long trace costs what its events change. */
function hashOfParts(state: WorkflowState, hashes: Hashes): string {
  const hashOf = (value: JsonValue, make: () => JsonValue): JsonValue => {
    if (typeof value !== 'object' || value === null) return value;
    const known = hashes.get(value);
    if (known !== undefined) return known;
    const hash = digest(make());
    hashes.set(value, hash);
    return hash;
  };
  const part = (value: unknown): JsonValue => hashOf(value as JsonValue, () => value as JsonValue);
  const list = (items: readonly unknown[]): JsonValue => hashOf(items as readonly JsonValue[], () => items.map(part));
  const parts = (value: object): Record<string, JsonValue> => Object.fromEntries(Object.entries(value).map(([key, item]) => [key, part(item)]));
  const { run, batch, tools, ...rest } = state;
  return digest({
    ...parts(rest),
    tools: list(tools),
    run: run === null ? null : { ...parts({ ...run, tools: null }), tools: list(run.tools) },
    batch: batch === null ? null : { ...parts({ ...batch, calls: null }), calls: list(batch.calls) },
  });
}

function shortened(command: WorkflowCommand): JsonObject {
  switch (command.type) {
    case 'llm_generate':
      return { type: command.type, runId: command.runId, toolNames: command.toolNames };
    case 'execute_calls':
      return { type: command.type, batchId: command.batchId, calls: command.calls.map(({ id }) => id) };
    case 'batch_settled':
      return {
        type: command.type,
        batchId: command.batchId,
        results: command.results.map(({ callId, result }) => ({ callId, outcome: result.success ? 'succeeded' : result.error.code })),
      };
  }
}

function readLine(line: string, number: number): JsonObject {
  let value: unknown;
  try {
    // Trimmed: editors put a byte order mark before a file.
    value = JSON.parse(line.trim());
  } catch (error) {
    throw new MisuseError('invalid_file', `Line ${number}: expected a JSON object, got ${(error as Error).message}.`);
  }
  if (!isJsonObject(value)) throw new MisuseError('invalid_file', `Line ${number}: expected a JSON object, got ${describe(value)}.`);
  const copy = copyJson(value, lineLimits);
  if (!copy.ok) throw new MisuseError('invalid_file', `Line ${number}: got ${copy.message} at \`${copy.path}\`.`);
  return copy.value as JsonObject;
}

function readWorkflow(value: JsonObject, line: number): WorkflowState {
  const { trace, workflow } = value;
  if (trace !== 1)
    throw new MisuseError('invalid_file', `Line ${line}: expected { "trace": 1, "workflow": … } (version 1 of the format), got \`trace\`: ${describe(trace)}.`);
  try {
    return readState(workflow);
  } catch (error) {
    throw new MisuseError('invalid_file', `Line ${line}: \`workflow\` is no workflow's state of version 1. ${(error as Error).message}`);
  }
}

function firstDifference(
  expected: JsonValue | undefined,
  found: JsonValue | undefined,
  at: string,
): { at: string; expected: string; found: string } | undefined {
  if (expected === found) return undefined;
  if (Array.isArray(expected) && Array.isArray(found)) return differenceIn(Math.max(expected.length, found.length), expected, found, at);
  if (isJsonObject(expected) && isJsonObject(found)) {
    for (const key of new Set([...Object.keys(expected), ...Object.keys(found)])) {
      const difference = firstDifference(own(expected, key), own(found, key), `${at}/${escapePointer(key)}`);
      if (difference !== undefined) return difference;
    }
    return undefined;
  }
  return { at, expected: written(expected), found: written(found) };
}

function differenceIn(length: number, expected: readonly JsonValue[], found: readonly JsonValue[], at: string): ReturnType<typeof firstDifference> {
  for (let index = 0; index < length; index++) {
    const difference = firstDifference(expected[index], found[index], `${at}/${index}`);
    if (difference !== undefined) return difference;
  }
  return undefined;
}

function own(object: JsonObject, key: string): JsonValue | undefined {
  return Object.hasOwn(object, key) ? object[key] : undefined;
}

function written(value: JsonValue | undefined): string {
  return value === undefined ? 'nothing' : canonicalJson(value);
}
