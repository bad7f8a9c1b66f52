/** `attributes`: facts about values of a tool's input that only the host knows. */

import type { JsonValue } from '../../values/json/index.ts';
import type { MaybePromise } from '../../values/maybe-promise.ts';
import { wrongOption } from '../../values/options/index.ts';
import type { CallInfo } from '../context.ts';

/**
 * Looks up what only the host knows about a value of the input. It gets the value as the handler
 * would. With `*` in the path, or if the input has a list that the path does not expect, it gets
 * the list of all elements. It returns JSON such as `{ sanctioned: true }`, which a rule or quota
 * reads as `when: { "payee@sanctioned": true }`, or undefined. It is called once for a call that
 * waits for nothing, and again after each wait, only if a rule, quota or policy could read the
 * answer, and within the registry's `policyTimeoutMs`. If it throws, the call is denied. If only
 * shadow rules read it, they are skipped instead. It is not called for a value that the input does
 * not have.
 */
export type Attribute<S = unknown> = (
  value: unknown,
  context: CallInfo<S>,
) => MaybePromise<JsonValue | undefined>;

/** The functions of `attributes`, by path. */
export type ReadAttributes = ReadonlyMap<
  string,
  {
    readonly segments: readonly string[];
    readonly ask: (value: unknown, context: CallInfo) => unknown;
  }
>;

/** Most characters of a path. */
const maxPathLength = 1_024;
const asField = { code: 'invalid_definition', noun: 'field' } as const;

/** @throws MisuseError `invalid_definition`, which names the tool and the path */
export function readAttributes(
  value: object | undefined,
  where: string,
): ReadAttributes | undefined {
  if (value === undefined) return undefined;
  const attributes = new Map(
    Object.entries(value).map(([path, ask]) => {
      const segments = path.split('.');
      const field = `attributes[${JSON.stringify(path)}]`;
      if (path.length > maxPathLength || segments.includes('') || path.includes('@'))
        throw wrongOption(
          where,
          field,
          'keyed by names joined by dots, without `@`',
          path,
          asField,
        );
      if (typeof ask !== 'function')
        throw wrongOption(where, field, 'a function of the value', ask, asField);
      return [path, { segments, ask: ask as (value: unknown, context: CallInfo) => unknown }];
    }),
  );
  return attributes.size === 0 ? undefined : attributes;
}
