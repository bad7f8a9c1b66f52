/** The part of a pool of `pg` that is used. */

/** A connection that was taken from a pool. */
export interface PostgresConnection {
  /** Executes a statement. */
  query(statement: {
    readonly text: string;
    readonly values?: unknown[];
  }): Promise<{ readonly rows: unknown[][] }>;
  /** Listens to `error`, `end` and `notification`. */
  on(event: string, listener: (value: unknown) => void): unknown;
  /** Stops listening. */
  removeListener(event: string, listener: (value: unknown) => void): unknown;
  /** Gives the connection back, or ends it. */
  release(destroy?: boolean): void;
}

/** The host's pool: a `Pool` of `pg` 8.11 or later. */
export interface PostgresPool {
  /** Takes a connection. */
  connect(): Promise<PostgresConnection>;
  /** Listens to `error`, which a pool emits when an idle connection is lost. */
  on(event: 'error', listener: (error: Error) => void): unknown;
  /** Stops listening. */
  removeListener(event: 'error', listener: (error: Error) => void): unknown;
  /** The settings that the host gave. */
  readonly options?: { readonly max?: number | undefined } | undefined;
}

/** A statement of `pg`. */
interface Statement {
  /** Prepares it under this name, once for each connection. */
  readonly name?: string;
  readonly text: string;
  readonly values: unknown[];
  readonly rowMode: 'array';
  readonly types: { getTypeParser(): (value: string) => string };
}

const types: Statement['types'] = { getTypeParser: () => (value) => value };

/** A statement whose answer comes as texts, whatever the host has set. */
export function plain(text: string, values: unknown[] = [], name?: string): Statement {
  return { text, values, rowMode: 'array', types, ...(name !== undefined && { name }) };
}

/** How many stores use a pool. They have one listener together. */
const users = new WeakMap<PostgresPool, number>();
const ignoreLost = (): void => {};

/**
 * Keeps a pool from ending the process when an idle connection is lost: it makes another one when
 * it needs it.
 */
export function hold(pool: PostgresPool): void {
  const count = users.get(pool) ?? 0;
  if (count === 0) pool.on('error', ignoreLost);
  users.set(pool, count + 1);
}

/** Takes back one {@link hold}. */
export function release(pool: PostgresPool): void {
  const count = (users.get(pool) ?? 0) - 1;
  if (count === 0) pool.removeListener('error', ignoreLost);
  users.set(pool, count);
}
