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
  #fails = false;
  #timer: ReturnType<typeof setInterval> | undefined;

  constructor(sql: Sql) {
    this.#sql = sql;
  }

  add(space: string, listener: Listener): () => void {
    if (this.#timer === undefined) {
      this.#heard = this.#lastMessage();
      this.#dataVersion = undefined;
      this.#timer = setInterval(() => this.look(false), pollMs);
      this.#timer.unref?.();
    } else this.#poll();
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

  /** Tells what is new, if this store or another connection has written. */
  look(hasWritten: boolean): void {
    if (this.#timer === undefined) return;
    try {
      const { data_version: found } = this.#sql.get('PRAGMA data_version') as {
        readonly data_version: number;
      };
      if (hasWritten || found !== this.#dataVersion)
        this.#dataVersion = this.#poll() ? undefined : found;
      this.#fails = false;
    } catch {
      // Listeners read the store then, and get the error.
      if (!this.#fails) this.#tellAll();
      this.#fails = true;
    }
  }

  /** @returns whether there may be more */
  #poll(): boolean {
    const newest = this.#lastMessage();
    const rows = this.#sql.all<{ id: number; space: string; message: string }>(
      'SELECT id, space, message FROM host_tools_messages WHERE id > ? ORDER BY id LIMIT ?',
      this.#heard,
      messagesAtOnce,
    );
    const isAll = rows.length < messagesAtOnce;
    // Ids have no gaps. One that is missing was over before this process came to read it.
    const read = rows.at(-1)?.id ?? this.#heard;
    const last = isAll ? Math.max(newest, read) : read;
    const isWhole = last - this.#heard === rows.length;
    this.#heard = last;
    for (const { space, message } of rows) tell(this.#listeners.get(space), message);
    if (!isWhole) this.#tellAll();
    return !isAll;
  }

  #tellAll(): void {
    for (const listeners of [...this.#listeners.values()]) tell(listeners, undefined);
  }
}

function tell(listeners: ReadonlySet<Listener> = new Set(), message: string | undefined): void {
  for (const listener of [...listeners]) {
    try {
      listener(message);
    } catch {
      // It must not affect other listeners, and there is no logger to report it to.
    }
  }
}
