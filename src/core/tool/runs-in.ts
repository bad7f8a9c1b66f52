/** Says where the calls of a tool run. */
import { reading, wrongOption } from '../../values/options/index.ts';
import type { ToolFields } from './config-fields.ts';

/** The name for an executor that gives none. */
const unsaid = 'custom';
/** The names for tools without an executor. */
const taken = ['inline', 'external'];

const word = /^[a-z][a-z0-9_-]{0,31}$/;

/**
 * `inline` for a handler in this process, `external` if other code runs the tool, and otherwise the
 * name that the executor gives.
 * @throws MisuseError `invalid_definition`
 */
export function runsIn({ executor, external }: ToolFields, where: string): string {
  if (executor === undefined) return external === true ? 'external' : 'inline';
  const wording = { code: 'invalid_definition', path: 'executor' } as const;
  const read = (): unknown => (Object.hasOwn(executor, 'kind') ? executor.kind : undefined);
  const kind = reading(where, 'kind', read, wording);
  if (kind === undefined) return unsaid;
  if (typeof kind === 'string' && word.test(kind) && !taken.includes(kind)) return kind;
  const expected =
    'a word of 1 to 32 lower-case letters, digits, `-` and `_` that begins with a letter, other ' +
    'than `inline` and `external`';
  throw wrongOption(where, 'kind', expected, kind, wording);
}
