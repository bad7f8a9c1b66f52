/** Marks a tool that should no longer be used, and logs the first call to it. */

import type { Deprecation } from '../../api/tool.ts';
import { kind, readOptions, required } from '../../values/options/index.ts';
import type { ToolEntry } from './tool-entry.ts';

const bounded = (most: number) =>
  kind<string>(
    `a non-blank string of at most ${most} characters`,
    (value) => typeof value === 'string' && value.trim() !== '' && value.length <= most,
  );
const table = { since: required(bounded(100)), use: bounded(1_024), message: bounded(1_000) };

/** @throws MisuseError `invalid_definition`, which names the tool and the field */
export function readDeprecation(value: object | undefined, where: string): Deprecation | undefined {
  if (value === undefined) return undefined;
  const { since, use, message } = readOptions(where, value, table, {
    code: 'invalid_definition',
    noun: 'field',
    path: 'deprecated',
  });
  return Object.freeze({
    since,
    ...(use === undefined ? {} : { use }),
    ...(message === undefined ? {} : { message }),
  });
}

/** The sentence that models and people read. */
function deprecationText({ since, use, message }: Deprecation): string {
  const instead = use === undefined ? '' : `; use \`${use}\` instead`;
  const why = message === undefined ? '' : `: ${message.trim().replace(/\.$/, '')}`;
  return `Deprecated since ${since}${instead}${why}.`;
}

/** The description that a model sees. */
export function shownDescription(tool: {
  readonly description: string;
  readonly deprecated?: Deprecation | undefined;
}): string {
  const { description, deprecated } = tool;
  return deprecated === undefined ? description : `${description} ${deprecationText(deprecated)}`;
}

/** Logs the first call to a deprecated tool. It is not called for later ones. */
export function logDeprecation(
  registry: { warn(data: object, message: string): void },
  entry: ToolEntry,
): void {
  const { name, version, deprecated } = entry.definition;
  entry.deprecationNotLogged = false;
  if (deprecated === undefined) return;
  registry.warn(
    { tool: name, ...(version === undefined ? {} : { version }), deprecated },
    `the tool \`${name}\` was called. ${deprecationText(deprecated)}`,
  );
}
