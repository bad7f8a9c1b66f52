/**
 * A run as JSON lines: the workflow before the run, then each event with its outcome, so that a
 * replay finds the first difference.
 */
import { digest } from '../../core/toolset/effective.ts';
import { own } from '../../core/toolset/tool-spec.ts';
import { describe, MisuseError } from '../../values/errors/index.ts';
import {
  canonicalJson,
  copyJson,
  escapePointer,
  isJsonObject,
  type JsonObject,
  type JsonValue,
} from '../../values/json/index.ts';
import { suggestion } from '../../values/options/index.ts';
import { checkEvents } from './read-event.ts';
import { readState } from './read-state.ts';
import { reduce } from './reduce.ts';
import { eventLimits } from './shape.ts';
import { createSeal } from './trace-seal.ts';
import type { WorkflowEvent } from './workflow-events.ts';
import type { WorkflowState } from './workflow-state.ts';

/** The result of replaying a trace. */
export type TraceReport =
  | {
      /** Every line was the same as recorded. */
      readonly same: true;
      /** How many events were replayed. */
      readonly events: number;
      /** `sha256:` and hex of the last state. */
      readonly hash: string;
    }
  | {
      /** A line was different, and the replay stopped there. */
      readonly same: false;
      /** The number of the line, from 1. */
      readonly line: number;
      /** JSON pointer into the line: `/state`, `/commands/0/toolNames/2`, `/error`. */
      readonly at: string;
      /** The value in the trace, as JSON; "nothing" if it has none. */
      readonly expected: string;
      /** The value in the replay, as JSON; "nothing" if it has none. */
      readonly found: string;
    };

/**
 * Writes a trace, which ends with a line break. Time and memory grow with the size of the workflow
 * and its events.
 * @param workflow the state before the first event
 * @example
 * ```ts
 * import { createWorkflow, writeTrace } from 'host-tools/workflow';
 *
 * const workflow = createWorkflow({ tools: [], profiles: { none: [] }, profile: 'none' });
 * const trace = writeTrace(workflow, [{ type: 'run_requested' }, { type: 'run_completed' }]);
 * ```
 * @throws MisuseError `invalid_option` for an event that is not JSON, for `events` that cannot be
 * iterated, and for an invalid `workflow`
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
  // Without an end mark, a truncated trace would look like a shorter run.
  lines.push(
    canonicalJson({
      end: { events: lines.length - 1, state: digest(state) },
    }),
  );
  return `${lines.join('\n')}\n`;
}

/**
 * Replays a trace and compares each line with the new outcome. Any changed value is a difference,
 * including one in a tool's result. A line with only an event is replayed without a comparison; if
 * all lines are like that, the end mark may be missing as well.
 * @example
 * ```ts
 * import { replayTrace } from 'host-tools/workflow';
 * import { readFile } from 'node:fs/promises';
 *
 * const report = replayTrace(await readFile('run.trace.jsonl', 'utf8'));
 * ```
 * @throws MisuseError `invalid_option` for a value that is not text, `invalid_file` with the line
 * for a text that is not a trace, or not of this version
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
      const hash = digest(state);
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
  return { same: true, events, hash: digest(state) };
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

// Reads the lines of a trace.

/** The version of the format, in the first line. */
const traceVersion = 2;

/** A line nests an event or a state one level deeper. */
const lineLimits = { ...eventLimits, maxDepth: eventLimits.maxDepth + 1 };

/** @throws MisuseError `invalid_file`, which names the line */
function readLine(line: string, number: number): JsonObject {
  let value: unknown;
  try {
    // Trimming also removes a byte order mark, which some editors add.
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

/** A line that is an event and nothing else. */
function readBare(value: JsonObject, line: number): { readonly event: JsonObject } {
  if (Object.hasOwn(value, 'type')) return { event: value };
  throw new MisuseError(
    'invalid_file',
    `Line ${line}: expected an event, or { "event": … }, got an object with neither \`type\` ` +
      `nor \`event\`.`,
  );
}

/** The first line: the version of the format and the workflow before the first event. */
function readWorkflow(value: JsonObject, line: number): WorkflowState {
  const trace = own(value, 'trace');
  if (trace === 1)
    throw new MisuseError(
      'invalid_file',
      `Line ${line}: this trace has version 1, which could not detect an edited result. Write it ` +
        'again: pass its `workflow` and the `event` of each line to `writeTrace`.',
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
      `Line ${line}: \`workflow\` is not a workflow state of version 1. ` +
        `${(error as Error).message}`,
    );
  }
}
