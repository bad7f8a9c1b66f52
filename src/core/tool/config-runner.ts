/**
 * Checks what runs a tool: exactly one of `handler`, `create`, `executor` and `external`, with a
 * matching scope.
 */

import type { Executor } from '../../api/tool-config.ts';
import { MisuseError } from '../../values/errors/index.ts';
import { checkSpelling, reading, suggestion, wrongOption } from '../../values/options/index.ts';
import type { ToolFields } from './config-fields.ts';

const ways = ['handler', 'execute', 'create', 'executor', 'external'] as const;

/**
 * @param config as it was given
 * @throws MisuseError `invalid_definition`
 */
export function checkRunner(config: ToolFields, where: string): void {
  const given = ways.filter((way) => config[way] !== undefined && config[way] !== false);
  const [way] = given;
  if (way === undefined || given.length > 1)
    throw new MisuseError(
      'invalid_definition',
      `${where}: expected exactly one of \`handler\` (or its other name \`execute\`), ` +
        '`create`, `executor` or `external`, ' +
        `got ${way === undefined ? 'none' : given.join(' and ')}.`,
    );
  if (config.executor !== undefined) checkExecutor(config.executor, where);
  checkScope(config.scope, way, where);
}

const members = ['kind', 'execute', 'dispose'];

/** An object of a class may keep its state in fields. A plain one has no reason for others. */
function checkExecutor(executor: Executor, where: string): void {
  const wording = { code: 'invalid_definition', path: 'executor' } as const;
  const prototype: unknown = reading(where, 'executor', () => Object.getPrototypeOf(executor), {
    code: 'invalid_definition',
  });
  const at = `${where}: \`executor\``;
  if (prototype !== Object.prototype && prototype !== null)
    checkSpelling(at, executor, members, 'invalid_definition');
  else
    for (const key of Object.keys(executor))
      if (!members.includes(key))
        throw new MisuseError(
          'invalid_definition',
          `${at}: unknown field \`${key}\`${suggestion(key, members)}`,
        );
  const dispose = reading(where, 'dispose', () => executor.dispose, wording) as unknown;
  if (dispose !== undefined && typeof dispose !== 'function')
    throw wrongOption(where, 'dispose', 'a function', dispose, wording);
}

/** Checks `scope`, which is redundant: it exists so that a mismatch is noticed. */
function checkScope(scope: ToolFields['scope'], way: (typeof ways)[number], where: string): void {
  if (scope === 'session' && way !== 'create')
    throw new MisuseError(
      'invalid_definition',
      `${where}: expected \`create\` with \`scope: "session"\`, got \`${way}\`. ` +
        '`create(session)` makes a handler for each session.',
    );
  if (scope === 'global' && way === 'create')
    throw new MisuseError(
      'invalid_definition',
      `${where}: expected \`handler\` with \`scope: "global"\`, got \`create\`.`,
    );
}
