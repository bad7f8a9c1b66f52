/** A run as JSON lines: the workflow it began with, then each event with what came of it, so that a replay finds the first difference. */
import { describe, MisuseError } from '../errors.ts';
import { canonicalJson, copyJson, escapePointer, isJsonObject, type JsonObject, type JsonValue } from '../json.ts';
import { digest } from './effective.ts';
import { eventLimits } from './read-event.ts';
import { reduce } from './reduce.ts';
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

/** Writes a trace. `workflow` is the state before the first event. Ends with a line break. @throws MisuseError `invalid_option` for an event that is not JSON. */
export function writeTrace(workflow: WorkflowState, events: Iterable<WorkflowEvent>): string {
  const lines = [canonicalJson({ trace: 1, workflow: workflow as unknown as JsonValue })];
  let state = workflow;
  for (const event of events) {
    const copy = copyJson(event, eventLimits);
    if (!copy.ok)
      throw new MisuseError(
        'invalid_option',
        `writeTrace: expected event ${lines.length} to be JSON, got ${copy.message} at \`${copy.path}\`. It was refused; leave it out.`,
      );
    const reduction = reduce(state, event);
    state = reduction.state;
    lines.push(canonicalJson({ event: copy.value, ...outcome(reduction) }));
  }
  return `${lines.join('\n')}\n`;
}

/**
 * Replays a trace and compares each line with what comes out now. A line that holds an event alone is replayed and compared with nothing.
 * @throws MisuseError `invalid_file` with the line, for what is no trace.
 */
export function replayTrace(text: string): TraceReport {
  const lines = text.split('\n').flatMap((line, index) => (line.trim() === '' ? [] : [{ line: index + 1, value: readLine(line, index + 1) }]));
  const [first, ...rest] = lines;
  if (first === undefined) throw new MisuseError('invalid_file', 'Expected a trace to begin with a line { "trace": 1, "workflow": … }, got an empty file.');
  let state = readWorkflow(first.value, first.line);
  for (const { line, value } of rest) {
    const event = Object.hasOwn(value, 'event') ? value.event : value;
    const reduction = replayed(state, event, line);
    state = reduction.state;
    if (event === value) continue;
    const { event: _, ...expected } = value;
    const difference = firstDifference(expected, outcome(reduction), '');
    if (difference !== undefined) return { same: false, line, ...difference };
  }
  return { same: true, events: rest.length, hash: digest(state as unknown as JsonValue) };
}

/** A state from a file may be anything: what cannot be computed with is a fault of the file. */
function replayed(state: WorkflowState, event: JsonValue | undefined, line: number): Reduction {
  try {
    return reduce(state, event as unknown as WorkflowEvent);
  } catch (error) {
    throw new MisuseError('invalid_file', `Line ${line}: the event cannot be applied to the state of the lines before it (${(error as Error).message}).`);
  }
}

/** What is compared: commands without what the event or the state says already, the refusal, and the state by its hash. */
function outcome({ state, commands, error }: Reduction): JsonObject {
  return {
    commands: commands.map(shortened),
    ...(error === undefined ? {} : { error: error.code }),
    state: digest(state as unknown as JsonValue),
  };
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
    value = JSON.parse(line);
  } catch (error) {
    throw new MisuseError('invalid_file', `Line ${number}: expected a JSON object, got ${(error as Error).message}.`);
  }
  if (isJsonObject(value)) return value;
  throw new MisuseError('invalid_file', `Line ${number}: expected a JSON object, got ${describe(value)}.`);
}

function readWorkflow(value: JsonObject, line: number): WorkflowState {
  const { trace, workflow } = value;
  if (trace !== 1)
    throw new MisuseError('invalid_file', `Line ${line}: expected { "trace": 1, "workflow": … } (version 1 of the format), got \`trace\`: ${describe(trace)}.`);
  if (isJsonObject(workflow) && workflow.version === 1 && Array.isArray(workflow.tools) && isJsonObject(workflow.profiles) && isJsonObject(workflow.facts))
    return workflow as unknown as WorkflowState;
  throw new MisuseError('invalid_file', `Line ${line}: expected \`workflow\` to be a workflow's state of version 1, got ${describe(workflow)}.`);
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
