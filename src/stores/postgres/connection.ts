/** Sends statements: each in one exchange, for a limited time. */
import { createHash } from 'node:crypto';
import { asFailure, failure, reasonOf } from './failures.ts';
import type { PostgresSettings } from './options.ts';
import { type PostgresConnection, type PostgresPool, plain } from './pool.ts';

/** The functions that programs call, with their parameters. */
const functions = {
  apply: '$1::integer, $2::boolean, $3, $4::boolean, $5::text[], $6::integer, $7::json',
  read: '$1::integer, $2::boolean, $3, $4::json',
  expire: '$1::integer, $2::integer',
  schedule: '$1::integer, $2::boolean, $3::text[], $4::integer, $5::json, $6::bigint, $7::json',
  due: '$1::integer, $2::integer, $3::bigint',
} as const;

/** Executes a text on one connection. */
export type Send = (text: string, values?: unknown[]) => Promise<unknown[][]>;

/** Sends statements to PostgreSQL. They reject only with {@link failure}. */
export interface PostgresCommands {
  /** Calls a function, and returns the text that it returns. */
  run(name: keyof typeof functions, values: unknown[]): Promise<string>;
  /** Works on one connection of the pool, which is ended if that fails. */
  session<T>(milliseconds: number, work: (send: Send) => Promise<T>): Promise<T>;
}

/** What took place as a whole or not at all, and may be tried again: a circle, or a conflict. */
const repeatable = ['40001', '40P01'];
const maxTries = 4;

/** What a pooler says that shares connections and knows nothing of prepared statements. */
const unprepared = ['26000', '42P05'];

const ignore = (): void => {};

export function postgresCommands(settings: PostgresSettings): PostgresCommands {
  const { pool, schema, commandTimeoutMs } = settings;
  let prepares = true;
  const once = (
    name: keyof typeof functions,
    values: unknown[],
    isPrepared: boolean,
  ): Promise<string> =>
    onConnection(pool, commandTimeoutMs, async (connection) => {
      const text = `select "${schema}".${name}(${functions[name]})`;
      const query = plain(text, values, isPrepared ? statementName(text) : undefined);
      const { rows } = await connection.query(query);
      return rows[0]?.[0] as string;
    });
  return {
    async run(name, values) {
      for (let tries = 1; ; tries++) {
        // Others may find out meanwhile what this one finds out.
        const isPrepared = prepares;
        try {
          return await once(name, values, isPrepared);
        } catch (error) {
          const reason = reasonOf(error);
          if (isPrepared && unprepared.includes(reason)) prepares = false;
          else if (!repeatable.includes(reason) || tries === maxTries) throw asFailure(error);
        }
      }
    },
    async session(milliseconds, work) {
      try {
        return await onConnection(pool, milliseconds, async (connection) => {
          try {
            return await work(
              async (text, values) => (await connection.query(plain(text, values))).rows,
            );
          } catch (error) {
            // It may be within a transaction that has failed, so the connection is not used again.
            throw asFailure(error);
          }
        });
      } catch (error) {
        throw asFailure(error);
      }
    },
  };
}

const names = new Map<string, string>();

/** It has a digest of the text, so that nothing else on a shared connection has it. */
function statementName(text: string): string {
  const name =
    names.get(text) ?? `host_tools_${createHash('sha256').update(text).digest('hex').slice(0, 32)}`;
  names.set(text, name);
  return name;
}

/** Whether PostgreSQL itself has refused a statement, and the connection is as before. */
function isRefusal(error: unknown): boolean {
  return !('reason' in (error as Error)) && /^(?!08|57P)[0-9A-Z]{5}$/.test(reasonOf(error));
}

/**
 * Takes a connection and uses it. It is given back then, unless the answer is `keep`. After the
 * time is over, a connection that is still waited for is not used, and one in use is ended.
 */
export function onConnection<T>(
  pool: PostgresPool,
  milliseconds: number,
  use: (connection: PostgresConnection) => Promise<T>,
): Promise<T> {
  return new Promise((resolve, reject) => {
    let taken: PostgresConnection | undefined;
    let isOver = false;
    const end = (isBroken: boolean): void => {
      isOver = true;
      clearTimeout(timer);
      // One that was ended may still emit `error`, which nobody else would hear.
      if (!isBroken) taken?.removeListener('error', ignore);
      taken?.release(isBroken);
    };
    const timer = setTimeout(() => {
      end(true);
      reject(failure('timeout'));
    }, milliseconds);
    const used = async (connection: PostgresConnection): Promise<void> => {
      if (isOver) return connection.release();
      taken = connection;
      connection.on('error', ignore);
      const result = await use(connection);
      if (isOver) return;
      if (result === 'keep') taken = undefined;
      end(false);
      resolve(result);
    };
    pool
      .connect()
      .then(used)
      .catch((error) => {
        if (isOver) return;
        end(!isRefusal(error));
        reject(error);
      });
  });
}
