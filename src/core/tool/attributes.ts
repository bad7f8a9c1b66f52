/** `attributes`: facts about values of a tool's input that only the host knows. */

import type { CallInfo } from '../../api/context.ts';
import { wrongOption } from '../../values/options/index.ts';

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
