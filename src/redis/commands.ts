/**
 * How a command is sent: at once or not at all, for a bounded time, and each script as one round
 * trip.
 */
import { createHash } from 'node:crypto';
import type { RedisClient } from './client.ts';
import { inTime } from './in-time.ts';
import type { RedisSettings } from './options.ts';
import { asUnreachable, reasonOf, unreachable } from './unreachable.ts';

/** A script, and the name that Redis knows it by once it has seen it. */
export interface RedisScript {
  readonly source: string;
  readonly sha1: string;
}

/** Scripts are sent by name; in full where a server does not know them yet. */
export function redisScript(source: string): RedisScript {
  return { source, sha1: createHash('sha1').update(source).digest('hex') };
}

/** Sends to Redis. Everything rejects with {@link unreachable} and with nothing else. */
export interface RedisCommands {
  readonly client: RedisClient;
  readonly prefix: string;
  /** Runs a script, which is atomic. A null in its reply stands for its `false`. */
  run(
    script: RedisScript,
    keys: readonly string[],
    values: readonly (string | number)[],
  ): Promise<unknown>;
  /** Sends one plain command. */
  send<T>(command: () => Promise<T>): Promise<T>;
}

// A client that has not been connected yet connects now; one that lost its connection would keep
// the command until it has it again, which is too late.
const open = ['wait', 'connecting', 'connect', 'ready'];

/** @throws RedisUnreachable when the connection is known to be gone. */
export function mustBeOpen(status: string): void {
  if (!open.includes(status)) throw unreachable(status);
}

export function redisCommands({ client, prefix, commandTimeoutMs }: RedisSettings): RedisCommands {
  const send = async <T>(command: () => Promise<T>): Promise<T> => {
    mustBeOpen(client.status);
    try {
      return await inTime(command(), commandTimeoutMs);
    } catch (error) {
      throw asUnreachable(error);
    }
  };
  return {
    client,
    prefix,
    send,
    run: ({ source, sha1 }, keys, values) =>
      send(() =>
        client.evalsha(sha1, keys.length, ...keys, ...values).catch((error: unknown) => {
          if (reasonOf(error) !== 'NOSCRIPT') throw error;
          return client.eval(source, keys.length, ...keys, ...values);
        }),
      ),
  };
}
