/** Says where the calls of a tool run. */
import { MisuseError } from '../../values/errors/index.ts';
import { reading, wrongOption } from '../../values/options/index.ts';
import type { ToolFields } from './config-fields.ts';

/** The name for an executor that gives none. */
const unsaid = 'custom';
/** The names for tools without an executor. */
const taken: readonly unknown[] = ['inline', 'external'];

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
  if (taken.includes(kind))
    throw new MisuseError(
      'invalid_definition',
      `${where}: expected \`executor.kind\` to be a word for where the executor runs calls, got ` +
        `"${kind}", which stands for tools without an executor.`,
    );
  if (typeof kind === 'string' && word.test(kind)) return kind;
  const expected =
    'a word of 1 to 32 lower-case letters, digits, `-` and `_` that begins with a letter';
  throw wrongOption(where, 'kind', expected, kind, wording);
}
