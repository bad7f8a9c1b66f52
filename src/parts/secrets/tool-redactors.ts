/** What finds the secrets of one tool. */

import type { ToolEntry } from '../../core/tool/tool-entry.ts';
import type { JsonObject } from '../../values/json/index.ts';
import { createRedactor, type Redactor } from '../../values/redaction/redactor.ts';

/** By what a schema or a path marks; undefined where nothing is marked. */
export interface ToolRedactors {
  readonly input: Redactor | undefined;
  readonly output: Redactor | undefined;
  readonly knobs: Redactor | undefined;
  /** Whether there is one of them. */
  readonly any: boolean;
  /** Whether the schema of the input marks something. */
  readonly isMarked: boolean;
}

export function redactorsOf({ internals }: ToolEntry, paths: readonly string[]): ToolRedactors {
  const input = redactorOf(internals.input.json, paths);
  const output = redactorOf(internals.output?.json, paths);
  const knobs = internals.knobs === undefined ? undefined : redactorOf(internals.knobs.json, paths);
  const any = input !== undefined || output !== undefined || knobs !== undefined;
  if (!any) return noRedactors;
  const isMarked = redactorOf(internals.input.json, []) !== undefined;
  return { input, output, knobs, any, isMarked };
}

const noRedactors: ToolRedactors = Object.freeze({
  input: undefined,
  output: undefined,
  knobs: undefined,
  any: false,
  isMarked: false,
});

/** Most schemas mark nothing as secret. Searching their text is faster than walking them. */
function redactorOf(
  schema: JsonObject | undefined,
  paths: readonly string[],
): Redactor | undefined {
  if (paths.length === 0 && (schema === undefined || !JSON.stringify(schema).includes('secret"')))
    return undefined;
  return createRedactor(schema, paths);
}
