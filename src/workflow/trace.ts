/**
 * A run as JSON lines: the workflow it began with, then each event with what came of it, so that a
 * replay finds the first difference.
 */
import { describe, MisuseError } from '../errors.ts';
import {
  canonicalJson,
  copyJson,
  escapePointer,
  isJsonObject,
  type JsonObject,
  type JsonValue,
} from '../json.ts';
import { suggestion } from '../options.ts';
import { digest } from '../toolset/effective.ts';
import { own } from '../toolset/own.ts';
import { eventLimits } from '../toolset/shape.ts';
import { checkEvents } from './read-event.ts';
import { readState } from './read-state.ts';
import { reduce } from './reduce.ts';
import { openCalls } from './settlements.ts';
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

/** The version of the format, which the first line tells. */
const traceVersion = 2;

/**
 * Writes a trace, which ends with a line break. Takes time and memory by the size of the workflow
 * and its events.
 * @param workflow The state before the first event.
 * @throws MisuseError `invalid_option` for an event that is not JSON, for `events` that cannot be
 * iterated, and for a `workflow` that is none.
 *
 * @example
 * ```ts
 * import { createWorkflow, writeTrace } from 'host-tools/workflow';
 *
 * const workflow = createWorkflow({ tools: [], profiles: { none: [] }, profile: 'none' });
 * const trace = writeTrace(workflow, [{ type: 'run_requested' }, { type: 'run_completed' }]);
 * ```
 */
export function writeTrace(workflow: WorkflowState, events: Iterable<WorkflowEvent>): string {
  checkEvents(events, 'writeTrace');
  let state = readState(workflow);
  const seal = createSeal(state);
  const lines = [canonicalJson({ trace: traceVersion, workflow: state as unknown as JsonValue })];
  for (const event of events) {
    const copy = copyJson(event, eventLimits);
    if (!copy.ok)
      throw new MisuseError(
        'invalid_option',
        `writeTrace: expected event ${lines.length} to be JSON, got ${copy.message} at ` +
          `\`${copy.path}\`. It was refused; leave it out.`,
      );
    const reduction = reduce(state, copy.value as unknown as WorkflowEvent);
    state = reduction.state;
    lines.push(canonicalJson({ event: copy.value, ...seal(copy.value, reduction) }));
  }
  // What is cut off at its end would otherwise look like a shorter run.
  lines.push(
    canonicalJson({
      end: { events: lines.length - 1, state: digest(state as unknown as JsonValue) },
    }),
  );
  return `${lines.join('\n')}\n`;
}

/**
 * Replays a trace and compares each line with what comes out now. A change of any value in it is a
 * difference, a tool's result included. A line that holds an event alone is replayed and compared
 * with nothing; where all lines are such, the end mark may be missing too.
 * @throws MisuseError `invalid_option` for what is no text, `invalid_file` with the line for what
 * is no trace or one of another version.
 *
 * @example
 * ```ts
 * import { replayTrace } from 'host-tools/workflow';
 * import { readFile } from 'node:fs/promises';
 *
 * const report = replayTrace(await readFile('run.trace.jsonl', 'utf8'));
 * ```
 */
export function replayTrace(text: string): TraceReport {
  if (typeof text !== 'string')
    throw new MisuseError(
      'invalid_option',
      `replayTrace: expected the text of a trace, got ${describe(text)}.`,
    );
  const lines = text
    .split('\n')
    .flatMap((line, index) =>
      line.trim() === '' ? [] : [{ line: index + 1, value: readLine(line, index + 1) }],
    );
  const [first, ...rest] = lines;
  if (first === undefined)
    throw new MisuseError(
      'invalid_file',
      'Expected a trace to begin with a line { "trace": 2, "workflow": … }, got an empty file.',
    );
  let state = readWorkflow(first.value, first.line);
  const seal = createSeal(state);
  let written = false;
  let events = 0;
  for (const [index, { line, value }] of rest.entries()) {
    if (Object.hasOwn(value, 'end')) {
      const hash = digest(state as unknown as JsonValue);
      const difference = firstDifference(value, { end: { events, state: hash } }, '');
      if (difference !== undefined) return { same: false, line, ...difference };
      const after = rest[index + 1];
      if (after !== undefined)
        return {
          same: false,
          line: after.line,
          at: '',
          expected: 'nothing',
          found: canonicalJson(after.value),
        };
      return { same: true, events, hash };
    }
    events++;
    const { event, ...expected } = (
      Object.hasOwn(value, 'event') ? value : readBare(value, line)
    ) as JsonObject & { readonly event: JsonValue };
    const reduction = reduce(state, event as unknown as WorkflowEvent);
    state = reduction.state;
    const found = seal(event, reduction);
    if (Object.keys(expected).length === 0) continue;
    written = true;
    const difference = firstDifference(expected, found, '');
    if (difference !== undefined) return { same: false, line, ...difference };
  }
  if (written)
    return {
      same: false,
      line: (rest.at(-1)?.line ?? first.line) + 1,
      at: '/end',
      expected: '{"events":…,"state":…}',
      found: 'nothing',
    };
  return { same: true, events, hash: digest(state as unknown as JsonValue) };
}

/**
 * Makes what of a line is compared: what the event brought about, and a hash over everything up to
 * there.
 */
type Seal = (event: JsonValue, reduction: Reduction) => JsonObject;

/**
 * The hash of a line covers the line before it, the event, and the parts of the state. A part that
 * an event left alone is not read again, and neither are the calls of a batch at each of its
 * settlements: they come from events, which the hash covers, and their results are in the line that
 * ends the batch. So a trace costs what its events change.
 */
function createSeal(workflow: WorkflowState): Seal {
  let before = digest(workflow as unknown as JsonValue);
  const hashes: Hashes = new WeakMap();
  return (event, { state, commands, error }) => {
    before = digest([before, event, partsOf(state, hashes)]);
    return {
      commands: commands.map(shortened),
      ...(error === undefined ? {} : { error: error.code }),
      state: before,
    };
  };
}

/** The hashes of parts that stay the same from state to state, such as the inventory. */
type Hashes = WeakMap<object, string>;

function partsOf(state: WorkflowState, hashes: Hashes): JsonObject {
  const hashOf = (value: JsonValue, make: () => JsonValue): JsonValue => {
    if (typeof value !== 'object' || value === null) return value;
    const known = hashes.get(value);
    if (known !== undefined) return known;
    const hash = digest(make());
    hashes.set(value, hash);
    return hash;
  };
  const part = (value: unknown): JsonValue => hashOf(value as JsonValue, () => value as JsonValue);
  const list = (items: readonly unknown[]): JsonValue =>
    hashOf(items as readonly JsonValue[], () => items.map(part));
  const parts = (value: object): Record<string, JsonValue> =>
    Object.fromEntries(Object.entries(value).map(([key, item]) => [key, part(item)]));
  const { run, batch, tools, ...rest } = state;
  return {
    ...parts(rest),
    tools: list(tools),
    run: run === null ? null : { ...parts({ ...run, tools: null }), tools: list(run.tools) },
    batch:
      batch === null
        ? null
        : {
            id: batch.id,
            group: batch.group,
            groups: part(batch.groups),
            planHash: batch.planHash,
            open: openCalls(batch),
          },
  };
}

function shortened(command: WorkflowCommand): JsonObject {
  switch (command.type) {
    case 'llm_generate':
      return { type: command.type, runId: command.runId, toolNames: command.toolNames };
    case 'execute_calls':
      return {
        type: command.type,
        batchId: command.batchId,
        calls: command.calls.map(({ id }) => id),
      };
    case 'batch_settled':
      return {
        type: command.type,
        batchId: command.batchId,
        results: command.results.map(({ callId, result }) => ({
          callId,
          outcome: result.success ? 'succeeded' : result.error.code,
          hash: digest(result as unknown as JsonValue),
        })),
      };
  }
}

function readLine(line: string, number: number): JsonObject {
  let value: unknown;
  try {
    // Trimmed: editors put a byte order mark before a file.
    value = JSON.parse(line.trim());
  } catch (error) {
    throw new MisuseError(
      'invalid_file',
      `Line ${number}: expected a JSON object, got ${(error as Error).message}.`,
    );
  }
  if (!isJsonObject(value))
    throw new MisuseError(
      'invalid_file',
      `Line ${number}: expected a JSON object, got ${describe(value)}.`,
    );
  const copy = copyJson(value, lineLimits);
  if (!copy.ok)
    throw new MisuseError(
      'invalid_file',
      `Line ${number}: got ${copy.message} at \`${copy.path}\`.`,
    );
  return copy.value as JsonObject;
}

/** An event that stands in its line by itself. */
function readBare(value: JsonObject, line: number): { readonly event: JsonObject } {
  if (Object.hasOwn(value, 'type')) return { event: value };
  throw new MisuseError(
    'invalid_file',
    `Line ${line}: expected an event, or { "event": … }, got an object with neither \`type\` ` +
      `nor \`event\`.`,
  );
}

function readWorkflow(value: JsonObject, line: number): WorkflowState {
  const trace = own(value, 'trace');
  if (trace === 1)
    throw new MisuseError(
      'invalid_file',
      `Line ${line}: this trace is of version 1, which could not tell that a result was ` +
        `edited. Write it anew: give its \`workflow\` and the \`event\` of each line to ` +
        `\`writeTrace\`.`,
    );
  if (trace !== traceVersion)
    throw new MisuseError(
      'invalid_file',
      `Line ${line}: expected { "trace": 2, "workflow": … } (version 2 of the format), got ` +
        `\`trace\`: ${describe(trace)}.`,
    );
  const unknown = Object.keys(value).find((key) => key !== 'trace' && key !== 'workflow');
  if (unknown !== undefined)
    throw new MisuseError(
      'invalid_file',
      `Line ${line}: unknown field ` +
        `\`${unknown.slice(0, 60)}\`${suggestion(unknown, ['trace', 'workflow'])}`,
    );
  try {
    return readState(own(value, 'workflow'));
  } catch (error) {
    throw new MisuseError(
      'invalid_file',
      `Line ${line}: \`workflow\` is no workflow's state of version 1. ${(error as Error).message}`,
    );
  }
}

function firstDifference(
  expected: JsonValue | undefined,
  found: JsonValue | undefined,
  at: string,
): { at: string; expected: string; found: string } | undefined {
  if (expected === found) return undefined;
  if (Array.isArray(expected) && Array.isArray(found))
    return differenceIn(Math.max(expected.length, found.length), expected, found, at);
  if (isJsonObject(expected) && isJsonObject(found)) {
    for (const key of new Set([...Object.keys(expected), ...Object.keys(found)])) {
      const difference = firstDifference(
        own(expected, key),
        own(found, key),
        `${at}/${escapePointer(key)}`,
      );
      if (difference !== undefined) return difference;
    }
    return undefined;
  }
  return { at, expected: written(expected), found: written(found) };
}

function differenceIn(
  length: number,
  expected: readonly JsonValue[],
  found: readonly JsonValue[],
  at: string,
): ReturnType<typeof firstDifference> {
  for (let index = 0; index < length; index++) {
    const difference = firstDifference(expected[index], found[index], `${at}/${index}`);
    if (difference !== undefined) return difference;
  }
  return undefined;
}

function written(value: JsonValue | undefined): string {
  return value === undefined ? 'nothing' : canonicalJson(value);
}
