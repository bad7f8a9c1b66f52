/**
 * Checks what runs a tool: exactly one of `handler`, `create`, `executor` and `external`, with a
 * matching scope.
 */
import { MisuseError } from '../errors/index.ts';
import { checkSpelling } from '../options/index.ts';
import type { ToolFields } from './config-fields.ts';

const ways = ['handler', 'create', 'executor', 'external'] as const;

/** @throws MisuseError `invalid_definition` */
export function checkRunner(config: ToolFields, where: string): void {
  const given = ways.filter((way) => config[way] !== undefined && config[way] !== false);
  const [way] = given;
  if (way === undefined || given.length > 1)
    throw new MisuseError(
      'invalid_definition',
      `${where}: expected exactly one of \`handler\`, \`create\`, \`executor\` or \`external\`, ` +
        `got ${way === undefined ? 'none' : given.join(' and ')}.`,
    );
  if (config.executor !== undefined) {
    const known = ['kind', 'execute', 'dispose'];
    checkSpelling(`${where}: \`executor\``, config.executor, known, 'invalid_definition');
  }
  checkScope(config.scope, way, where);
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
