/** The options that all sandboxes have. */

import { statSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { isAbsolute } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { describe, MisuseError, messageOf } from '../../values/errors/index.ts';
import {
  anything,
  duration,
  kind,
  milliseconds,
  object,
  readOptions,
  type TableOf,
  text,
  wholeNumber,
  withDefault,
  wrongOption,
} from '../../values/options/index.ts';
import type { PoolLimits } from './pool.ts';

// The environment of a sandbox. It has only the variables that the options name.

/** Names of variables of this process, or variables with their values. */
export type SandboxEnv = readonly string[] | Readonly<Record<string, string>>;

const expected =
  'an array of names of variables, or an object with the values of variables as strings';

const envKind = kind<SandboxEnv>(expected, (value) => typeof value === 'object' && value !== null);

/** The variable with options for Node, which could undo those that the sandbox is started with. */
const refused = 'NODE_OPTIONS';

/** @throws MisuseError `invalid_option` */
function readEnv(where: string, given: SandboxEnv | undefined): Record<string, string> {
  const env: Record<string, string> = Object.create(null);
  if (given === undefined) return env;
  const names: readonly unknown[] = Array.isArray(given) ? given : Object.keys(given);
  for (const name of names) {
    if (typeof name !== 'string' || !/^[^=\0]+$/.test(name))
      throw wrongOption(where, 'env', expected, given);
    if (name.toUpperCase() === refused)
      throw new MisuseError(
        'invalid_option',
        `${where}: expected \`env\` without ${refused}, since it could lift the limits of the ` +
          'sandbox.',
      );
    const value: unknown = Array.isArray(given)
      ? process.env[name]
      : (given as Readonly<Record<string, string>>)[name];
    if (value === undefined && Array.isArray(given)) continue;
    if (typeof value !== 'string' || value.includes('\0'))
      throw wrongOption(where, `env.${name}`, 'a string without NUL', value);
    env[name] = value;
  }
  return env;
}

/** How many sandboxes an executor has, and how long they live. */
export interface SandboxPool {
  /**
   * The most sandboxes, and so the most calls that run at once. Further calls wait. From 1 to 1024.
   * @default the number of processors, and at least 4
   */
  readonly max?: number | undefined;
  /**
   * How many sandboxes are kept ready in addition to those that have a call. They are started with
   * the first call. From 0 to 1024.
   * @default 1
   */
  readonly spare?: number | undefined;
  /** Milliseconds after which a sandbox beyond `spare` that has no call is ended. @default 30000 */
  readonly idleMs?: number | undefined;
  /**
   * How many calls one sandbox runs before it is replaced. With 1, no call meets anything that
   * another has left behind.
   * @default no limit
   */
  readonly calls?: number | undefined;
}

/** Options of every sandbox. */
export interface SandboxOptions {
  /** The module of the handler: a `file:` URL or an absolute path. It must be JavaScript. */
  readonly module: string | URL;
  /**
   * The name of the export that is the handler, a function of the input and the context.
   * @default "default"
   */
  readonly export?: string | undefined;
  /** How many sandboxes there are. */
  readonly pool?: SandboxPool | undefined;
  /**
   * The environment of the handler, and all of it: names of variables of this process, or variables
   * with their values. `NODE_OPTIONS` is refused.
   * @default no variables
   */
  readonly env?: SandboxEnv | undefined;
  /**
   * Milliseconds that a handler has to stop after its call has ended and its signal has aborted.
   * Then the sandbox is killed.
   * @default 100
   */
  readonly killAfterMs?: number | undefined;
}

export const sandboxTable = {
  module: anything(),
  export: withDefault(text(1, 200), 'default'),
  pool: object<SandboxPool>(),
  env: envKind,
  killAfterMs: withDefault(milliseconds(0), 100),
};

const poolTable = {
  max: wholeNumber(1, 1_024),
  spare: withDefault(wholeNumber(0, 1_024), 1),
  idleMs: withDefault(duration, 30_000),
  calls: withDefault(
    kind<number>(
      'a whole number from 1, or Infinity',
      (value) =>
        value === Number.POSITIVE_INFINITY ||
        (Number.isSafeInteger(value) && (value as number) >= 1),
    ),
    Number.POSITIVE_INFINITY,
  ),
} satisfies TableOf<SandboxPool>;

/** The common options as read. */
export interface CommonOptions {
  readonly place: HandlerPlace;
  readonly limits: PoolLimits;
  readonly env: Readonly<Record<string, string>>;
}

/** @throws MisuseError `invalid_option` */
export function readCommon(
  where: string,
  { module, pool, env }: Pick<SandboxOptions, 'module' | 'pool' | 'env'>,
): CommonOptions {
  const { max, spare, idleMs, calls } = readOptions(where, pool, poolTable, { path: 'pool' });
  return {
    place: handlerPlace(where, module),
    limits: { max: max ?? Math.max(4, availableParallelism()), spare, idleMs, calls },
    env: readEnv(where, env),
  };
}

// The place of a sandbox's handler: a module and one of its exports.

/** A module that exists. */
interface HandlerPlace {
  /** The path of the file. */
  readonly file: string;
  /** The URL of the file, for `import`. */
  readonly address: string;
}

/** @throws MisuseError `invalid_option` if it is not a file. */
function handlerPlace(where: string, module: unknown): HandlerPlace {
  const file = fileOf(where, module);
  let isFile: boolean;
  try {
    isFile = statSync(file).isFile();
  } catch (error) {
    throw new MisuseError(
      'invalid_option',
      `${where}: expected \`module\` to be a file that exists, got \`${file}\`: ` +
        `${messageOf(error)}.`,
    );
  }
  if (isFile) return { file, address: pathToFileURL(file).href };
  throw new MisuseError(
    'invalid_option',
    `${where}: expected \`module\` to be a file, got \`${file}\`, which is not one.`,
  );
}

function fileOf(where: string, module: unknown): string {
  const isUrl = module instanceof URL;
  if (isUrl || (typeof module === 'string' && module.startsWith('file:'))) {
    try {
      return fileURLToPath(module);
    } catch (error) {
      throw new MisuseError(
        'invalid_option',
        `${where}: expected \`module\` to be the address of a file, got ${String(module)}: ` +
          `${messageOf(error)}.`,
      );
    }
  }
  if (typeof module === 'string' && isAbsolute(module)) return module;
  throw new MisuseError(
    'invalid_option',
    `${where}: expected \`module\` to be a \`file:\` URL or an absolute path, got ` +
      `${describe(module)}. Use \`new URL('./handler.js', import.meta.url)\`.`,
  );
}
