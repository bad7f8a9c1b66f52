/** `attributes`: facts about values of a tool's input that only the host knows. */

import type { CallInfo } from '../../api/context.ts';
import type { AnyTool } from '../../api/tool.ts';
import { asField } from '../../core/tool/config-fields.ts';
import { internalsOf } from '../../core/tool/definition.ts';
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
const known = new WeakMap<object, ReadAttributes>();

/**
 * Those of a definition, read when it is first registered; undefined if it has none.
 * @throws MisuseError `invalid_definition`, which names the tool and the path
 */
export function attributesIn(definition: AnyTool): ReadAttributes | undefined {
  const { attributes } = internalsOf(definition);
  if (attributes === undefined) return undefined;
  const read = known.get(attributes) ?? readAttributes(attributes, `Tool \`${definition.name}\``);
  known.set(attributes, read);
  return read.size === 0 ? undefined : read;
}

function readAttributes(value: object, where: string): ReadAttributes {
  return new Map(
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
}
