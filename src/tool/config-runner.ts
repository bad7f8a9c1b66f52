/** Reading how a tool runs: exactly one of `handler`, `create` and `executor`, and its scope. */
import { MisuseError } from '../errors.ts';
import { checkSpelling } from '../options.ts';
import { type ReadConfig, readChoice } from './config-fields.ts';
import type { RawHandler, ToolInternals } from './definition.ts';
import type { Executor } from './tool-config.ts';

const ways = ['handler', 'create', 'executor'] as const;

/** The one way in which a tool runs. */
export function readRunner(
  read: ReadConfig,
): Pick<ToolInternals, 'handler' | 'create' | 'executor'> {
  const { config, where, fault } = read;
  const given = ways.filter((way) => config[way] !== undefined);
  const [way] = given;
  if (way === undefined || given.length > 1)
    throw new MisuseError(
      'invalid_definition',
      `${where}: expected exactly one of \`handler\`, \`create\` or \`executor\`, got ` +
        `${way === undefined ? 'none' : given.join(' and ')}.`,
    );
  if (way !== 'executor' && typeof config[way] !== 'function') throw fault(way, 'a function');
  const executor = readExecutor(read);
  checkScope(read, way);
  return {
    handler: config.handler as RawHandler | undefined,
    create: config.create as ToolInternals['create'],
    executor,
  };
}

function readExecutor({ config, where, fault }: ReadConfig): Executor | undefined {
  const executor = config.executor as Executor | undefined;
  if (executor === undefined) return undefined;
  if (typeof executor !== 'object' || executor === null || typeof executor.execute !== 'function')
    throw fault('executor', 'an object with `kind` and `execute`');
  const known = ['kind', 'execute', 'dispose'];
  checkSpelling(`${where}: \`executor\``, executor, known, 'invalid_definition');
  return executor;
}

/** `scope` says nothing that the way does not: it is there so that a mismatch is noticed. */
function checkScope(read: ReadConfig, way: (typeof ways)[number]): void {
  const { where } = read;
  const scope = readChoice(read, 'scope', 'global', 'session');
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
