/** Tells listeners what was published, by this process or by another one. */
import type { Sql } from './step.ts';

export type Listener = (message: string | undefined) => void;

/** How often it looks whether another process has written. */
const pollMs = 20;
const messagesAtOnce = 1_000;

/** The listeners of one store. */
export class Listening {
  readonly #sql: Sql;
  readonly #listeners = new Map<string, Set<Listener>>();
  #heard = 0;
  /** What the database answered when everything was heard: it grows with what others write. */
  #dataVersion: number | undefined;
  #timer: ReturnType<typeof setInterval> | undefined;

  constructor(sql: Sql) {
    this.#sql = sql;
  }

  add(space: string, listener: Listener): () => void {
    if (this.#timer === undefined) {
      this.#heard = this.#lastMessage();
      this.#dataVersion = undefined;
      this.#timer = setInterval(() => this.#look(), pollMs);
      this.#timer.unref?.();
    } else this.poll();
    const own: Listener = (message) => listener(message);
    const all = this.#listeners.get(space) ?? new Set();
    this.#listeners.set(space, all.add(own));
    return () => {
      all.delete(own);
      if (all.size === 0 && this.#listeners.get(space) === all) this.#listeners.delete(space);
      if (this.#listeners.size === 0) this.close();
    };
  }

  close(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
    this.#listeners.clear();
  }

  #lastMessage(): number {
    const row = this.#sql.get<{ readonly seq: number }>(
      `SELECT seq FROM sqlite_sequence WHERE name = 'host_tools_messages'`,
    );
    return row?.seq ?? 0;
  }

  /** Reads the messages only if another connection has written. */
  #look(): void {
    const { data_version: found } = this.#sql.get('PRAGMA data_version') as {
      readonly data_version: number;
    };
    if (found === this.#dataVersion) return;
    this.#dataVersion = this.poll() ? undefined : found;
  }

  /** @returns whether there may be more */
  poll(): boolean {
    if (this.#timer === undefined) return false;
    const rows = this.#sql.all<{ id: number; space: string; message: string }>(
      'SELECT id, space, message FROM host_tools_messages WHERE id > ? ORDER BY id LIMIT ?',
      this.#heard,
      messagesAtOnce,
    );
    for (const { id, space, message } of rows) {
      this.#heard = id;
      for (const listener of [...(this.#listeners.get(space) ?? [])]) {
        try {
          listener(message);
        } catch {
          // It must not affect other listeners, and there is no logger to report it to.
        }
      }
    }
    return rows.length === messagesAtOnce;
  }
}
