/**
 * Reads the labels that a profile gives to the fields of a tool: origins of outputs, roles of
 * inputs.
 */

import { maxTextLength } from '../../core/rules/rule-check.ts';
import type { JsonObject } from '../../values/json/index.ts';
import { wrongOption } from '../../values/options/index.ts';
import type { OutputOrigin, Role } from './origin.ts';

/** Labels by path. Frozen. */
export type Labels<L extends string> = Readonly<Record<string, L>>;

const maxLabels = 1_000;
const maxSegments = 64;
/** The words that label a field of an output. */
export const outputOrigins = ['trusted', 'untrusted'] as const satisfies readonly OutputOrigin[];
/** The words that label a field of an input. */
export const roles = ['target', 'content', 'free'] as const satisfies readonly Role[];

/** @throws MisuseError for a malformed path or an unknown origin */
export function readOriginLabels(
  given: JsonObject | undefined,
  where: string,
  field: string,
): Labels<OutputOrigin> | undefined {
  return readLabels(given, outputOrigins, where, field);
}

/** @throws MisuseError for a malformed path or an unknown role */
export function readRoleLabels(
  given: JsonObject | undefined,
  where: string,
  field: string,
): Labels<Role> | undefined {
  return readLabels(given, roles, where, field);
}

function readLabels<L extends string>(
  given: JsonObject | undefined,
  known: readonly L[],
  where: string,
  field: string,
): Labels<L> | undefined {
  if (given === undefined) return undefined;
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
    if (!(known as readonly unknown[]).includes(label))
      throw wrongOption(where, `${field}[${JSON.stringify(path)}]`, `one of ${words}`, label);
  }
  return Object.freeze(Object.fromEntries(entries) as Record<string, L>);
}

/** The labels of a parent, overridden by those of the child. */
export function mergeLabels<L extends string>(
  parent: Labels<L> | undefined,
  child: Labels<L> | undefined,
): Labels<L> | undefined {
  if (parent === undefined || child === undefined) return child ?? parent;
  // Kept as entries, so that a path such as `__proto__` is a key like any other.
  return Object.freeze(
    Object.fromEntries([...Object.entries(parent), ...Object.entries(child)]) as Record<string, L>,
  );
}
