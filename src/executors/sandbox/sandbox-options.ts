/** The options that all sandboxes have. */
import { availableParallelism } from 'node:os';
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
} from '../../values/options/index.ts';
import { envKind, readEnv, type SandboxEnv } from './environment.ts';
import { type HandlerPlace, handlerPlace } from './handler-place.ts';
import type { PoolLimits } from './pool.ts';

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
