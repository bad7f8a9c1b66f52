/** What everything on Redis may be told, and how it is read. */

import { describe } from '../errors.ts';
import { MisuseError } from '../index.ts';
import { readMembers } from '../options/index.ts';
import type { RedisClient } from './client.ts';

/** Settings of `redisStore`, `redisBus` and `redisApprovals`. */
export interface RedisOptions {
  /**
   * The host's client. It stays the host's: nothing here closes it. Set
   * `autoResendUnfulfilledCommands: false` on it to have no command carried out twice.
   */
  readonly client: RedisClient;
  /**
   * What every key and channel starts with: letters, digits and `_ . : -`, 1 to 100. Relays with
   * another prefix see nothing of each other. @default "host-tools"
   */
  readonly prefix?: string | undefined;
  /**
   * Milliseconds after which a command counts as failed, from the call. 1 to 2^31-1. @default 2_000
   */
  readonly commandTimeoutMs?: number | undefined;
}

/** The same with its defaults. */
export interface RedisSettings {
  readonly client: RedisClient;
  readonly prefix: string;
  readonly commandTimeoutMs: number;
}

const maxTimeoutMs = 2 ** 31 - 1;

/** @param who the function that was called. @throws MisuseError `invalid_option`. */
export function redisSettings(who: string, options: RedisOptions): RedisSettings {
  const {
    client,
    prefix = 'host-tools',
    commandTimeoutMs = 2_000,
  } = readMembers(who, options, ['client', 'prefix', 'commandTimeoutMs']);
  const wrong = (field: string, expected: string, got: unknown): MisuseError =>
    new MisuseError(
      'invalid_option',
      `${who}: expected \`${field}\` to be ${expected}, got ${describe(got)}.`,
    );
  if (typeof client?.evalsha !== 'function' || typeof client.duplicate !== 'function')
    throw wrong('client', 'a `Redis` or a `Cluster` of ioredis, such as `new Redis(url)`', client);
  if (typeof prefix !== 'string' || !/^[A-Za-z0-9_.:-]{1,100}$/.test(prefix))
    throw wrong('prefix', '1 to 100 letters, digits and `_ . : -`', prefix);
  if (
    typeof commandTimeoutMs !== 'number' ||
    !(commandTimeoutMs >= 1 && commandTimeoutMs <= maxTimeoutMs)
  )
    throw wrong('commandTimeoutMs', `milliseconds from 1 to ${maxTimeoutMs}`, commandTimeoutMs);
  return { client, prefix, commandTimeoutMs };
}
