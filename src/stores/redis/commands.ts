/**
 * Sends commands: each at once or not at all, for a limited time, and each script in one round
 * trip.
 */
import { createHash } from 'node:crypto';
import type { RedisClient } from './client.ts';
import type { RedisSettings } from './options.ts';
import { asUnreachable, reasonOf, unreachable } from './unreachable.ts';

/** A script, and the name by which Redis knows it after the first run. */
export interface RedisScript {
  readonly source: string;
  readonly sha1: string;
}

/** Makes a script. It is sent by name, or in full to a server that does not know it yet. */
export function redisScript(source: string): RedisScript {
  return { source, sha1: createHash('sha1').update(source).digest('hex') };
}

/** Sends commands to Redis. They reject only with {@link unreachable}. */
export interface RedisCommands {
  readonly client: RedisClient;
  readonly prefix: string;
  /**
   * Runs a script, which is atomic. The reply has null for its `false`.
   * @param late Gets a reply that comes after the command has counted as failed.
   */
  run(
    script: RedisScript,
    keys: readonly string[],
    values: readonly (string | number)[],
    late?: (reply: unknown) => void,
  ): Promise<unknown>;
  /** Sends one plain command. */
  send<T>(command: () => Promise<T>): Promise<T>;
}

// A client that was never connected connects now. One that lost its connection would keep the
// command until it is connected again, which is too late.
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
    run: ({ source, sha1 }, keys, values, late) => {
      let sent: Promise<unknown> | undefined;
      const reply = send(() => {
        sent = client.evalsha(sha1, keys.length, ...keys, ...values).catch((error: unknown) => {
          if (reasonOf(error) !== 'NOSCRIPT') throw error;
          return client.eval(source, keys.length, ...keys, ...values);
        });
        return sent;
      });
      return late === undefined
        ? reply
        : reply.catch((error: unknown) => {
            // A command that has failed permanently fails again here.
            void sent?.then(late).catch(() => undefined);
            throw error;
          });
    },
  };
}

/**
 * The command's result. Rejects with `timeout` if it takes longer. Not done with p-timeout, which
 * makes an error with a stack for every wait; that took a fifth of the time of a relay on Redis.
 */
function inTime<T>(command: Promise<T>, milliseconds: number): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(unreachable('timeout')), milliseconds);
    command.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}

/** The start of a script that needs `now`, in epoch milliseconds. */
export const nowLua = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)`;
