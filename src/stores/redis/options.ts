/** The options of everything on Redis, and how they are read. */

import {
  kind,
  milliseconds,
  readOptions,
  required,
  type TableOf,
  withDefault,
  withMethods,
} from '../../values/options/index.ts';
import type { RedisClient } from './client.ts';

/**
 * Settings of `redisStore`, `redisApprovals`, `redisQuotas`, `redisIdempotency` and
 * `redisOffload`.
 */
export interface RedisOptions {
  /**
   * The host's client, which nothing here closes. Set `autoResendUnfulfilledCommands: false` on it,
   * so that no command is executed twice.
   */
  readonly client: RedisClient;
  /**
   * The prefix of every key and channel: 1 to 100 letters, digits and `_ . : -`. Relays with
   * different prefixes are separate from each other.
   */
  readonly prefix?: string | undefined;
  /**
   * Milliseconds after which a command counts as failed, counted from the call. 1 to 2^31-1.
   * @default 2_000
   */
  readonly commandTimeoutMs?: number | undefined;
}

/** {@link RedisOptions} with their defaults. */
export interface RedisSettings {
  readonly client: RedisClient;
  readonly prefix: string;
  readonly commandTimeoutMs: number;
}

const redisTable = {
  client: required(
    withMethods<RedisClient>(
      ['evalsha', 'duplicate'],
      'a `Redis` or a `Cluster` of ioredis, such as `new Redis(url)`',
    ),
  ),
  prefix: withDefault(
    kind<string>(
      '1 to 100 letters, digits and `_ . : -`',
      (value) => typeof value === 'string' && /^[A-Za-z0-9_.:-]{1,100}$/.test(value),
    ),
    'host-tools',
  ),
  commandTimeoutMs: withDefault(milliseconds(1), 2_000),
} satisfies TableOf<RedisOptions>;

/** @param who The function that was called. @throws MisuseError `invalid_option`. */
export function redisSettings(who: string, options: RedisOptions): RedisSettings {
  return readOptions(who, options, redisTable);
}
