/** Reads the lines of a trace. */

import { eventLimits } from '../../core/toolset/shape.ts';
import { own } from '../../core/toolset/tool-spec.ts';
import { describe, MisuseError } from '../../values/errors/index.ts';
import { copyJson, isJsonObject, type JsonObject } from '../../values/json/index.ts';
import { suggestion } from '../../values/options/index.ts';
import { readState } from './read-state.ts';
import type { WorkflowState } from './workflow-state.ts';

/** The version of the format, in the first line. */
export const traceVersion = 2;

/** A line nests an event or a state one level deeper. */
const lineLimits = { ...eventLimits, maxDepth: eventLimits.maxDepth + 1 };

/** @throws MisuseError `invalid_file`, which names the line */
export function readLine(line: string, number: number): JsonObject {
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
export function readBare(value: JsonObject, line: number): { readonly event: JsonObject } {
  if (Object.hasOwn(value, 'type')) return { event: value };
  throw new MisuseError(
    'invalid_file',
    `Line ${line}: expected an event, or { "event": … }, got an object with neither \`type\` ` +
      `nor \`event\`.`,
  );
}

/** The first line: the version of the format and the workflow before the first event. */
export function readWorkflow(value: JsonObject, line: number): WorkflowState {
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
