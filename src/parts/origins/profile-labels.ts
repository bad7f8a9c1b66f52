/**
 * Checks the labels that a profile gives to the fields of a tool: origins of outputs, roles of
 * inputs.
 */

import type { OutputOrigin, Role } from '../../api/origins.ts';
import { maxTextLength } from '../../core/rules/rule-check.ts';
import type { JsonObject } from '../../values/json/index.ts';
import { wrongOption } from '../../values/options/index.ts';

const maxLabels = 1_000;
const maxSegments = 64;
/** The words that label a field of an output. */
export const outputOrigins = ['trusted', 'untrusted'] as const satisfies readonly OutputOrigin[];
/** The words that label a field of an input. */
export const roles = ['target', 'content', 'free'] as const satisfies readonly Role[];

/** @throws MisuseError for a malformed path or an unknown origin */
export function checkOriginLabels(
  given: JsonObject | undefined,
  where: string,
  field: string,
): void {
  checkLabelsIn(given, outputOrigins, where, field);
}

/** @throws MisuseError for a malformed path or an unknown role */
export function checkRoleLabels(given: JsonObject | undefined, where: string, field: string): void {
  checkLabelsIn(given, roles, where, field);
}

function checkLabelsIn(
  given: JsonObject | undefined,
  known: readonly string[],
  where: string,
  field: string,
): void {
  if (given === undefined) return;
  const entries = Object.entries(given);
  if (entries.length === 0 || entries.length > maxLabels)
    throw wrongOption(where, field, `left out or a map of 1 to ${maxLabels} paths`, given);
  const words = known.map((word) => `\`${word}\``).join(', ');
  for (const [path, label] of entries) {
    const segments = path.split('.');
    const wellFormed =
      path.length <= maxTextLength && segments.length <= maxSegments && !segments.includes('');
    if (!wellFormed)
      throw wrongOption(
        where,
        field,
        `keyed by paths of 1 to ${maxSegments} names joined by dots`,
        path,
      );
    if (!known.includes(label as string))
      throw wrongOption(where, `${field}[${JSON.stringify(path)}]`, `one of ${words}`, label);
  }
}
