/** Messages: one connection that listens while somebody does, and comes back after it was lost. */
import type { Store } from '../../api/store.ts';
import { ignoreRejection } from '../../values/maybe-promise.ts';
import { onConnection } from './connection.ts';
import { asFailure, failure } from './failures.ts';
import type { PostgresSettings } from './options.ts';
import { type PostgresConnection, plain } from './pool.ts';
import { channelOf, messageOf, messageTopic } from './step.ts';

type Listener = (message: string | undefined) => void;

/** Those who listen to one space. */
type Listeners = Set<{ readonly listener: Listener }>;

/** A connection that listens, or is about to. */
interface Link {
  connection?: PostgresConnection;
  /** Resolves when the server has confirmed. */
  ready: Promise<void>;
}

/** Milliseconds between looks whether the connection still answers. */
const lookMs = 30_000;
/** Milliseconds that a connection is kept for those who listen next. */
const keepMs = 1_000;
const firstPauseMs = 50;
const longestPauseMs = 2_000;

/** Listens to all messages of a schema, for those who listen to some of them. */
export class Listening {
  readonly #settings: PostgresSettings;
  readonly #topics = new Map<string, Listeners>();
  #link: Link | undefined;
  /** Connects again, looks whether the connection answers, or gives it back. */
  #timer: ReturnType<typeof setTimeout> | undefined;
  #pauseMs = firstPauseMs;
  /** Messages may have been lost, and nobody was told yet. */
  #interrupted = false;
  #closed = false;

  constructor(settings: PostgresSettings) {
    this.#settings = settings;
  }

  /** As `listen` of the port. */
  async listen(space: Store.Space, listener: Listener): Promise<() => void> {
    const { pool, listenPool } = this.#settings;
    if (this.#closed) throw failure('closed');
    if (listenPool === undefined && pool.options?.max === 1) throw failure('small pool');
    const topic = messageTopic(space);
    const entry = { listener };
    const entries: Listeners = this.#topics.get(topic) ?? new Set();
    this.#topics.set(topic, entries.add(entry));
    const stop = (): void => {
      if (!entries.delete(entry) || entries.size > 0) return;
      if (this.#topics.get(topic) === entries) this.#topics.delete(topic);
      if (this.#topics.size === 0) this.#after(keepMs, () => this.#release());
    };
    try {
      await this.#connected().ready;
      if (this.#closed) throw failure('closed');
    } catch (error) {
      stop();
      throw asFailure(error);
    }
    return stop;
  }

  close(): void {
    this.#closed = true;
    this.#topics.clear();
    this.#release();
  }

  #connected(): Link {
    if (this.#link !== undefined) {
      if (this.#link.connection !== undefined) this.#look();
      return this.#link;
    }
    clearTimeout(this.#timer);
    const link: Link = { ready: Promise.resolve() };
    this.#link = link;
    link.ready = this.#open(link);
    link.ready.catch(() => this.#lost(link));
    return link;
  }

  async #open(link: Link): Promise<void> {
    const { pool, listenPool = pool, commandTimeoutMs, schema } = this.#settings;
    await onConnection(listenPool, commandTimeoutMs, async (connection) => {
      connection.on('error', () => this.#lost(link));
      connection.on('end', () => this.#lost(link));
      connection.on('notification', (message) => {
        const { payload = '' } = message as { readonly payload?: string };
        if (this.#link === link) this.#heard(payload);
      });
      await connection.query(plain(`listen "${channelOf(schema)}"`));
      link.connection = connection;
      return 'keep';
    });
    // Nobody listens any more, or the connection was lost at once.
    if (this.#link !== link) return link.connection?.release(true);
    this.#pauseMs = firstPauseMs;
    this.#look();
    if (!this.#interrupted) return;
    this.#interrupted = false;
    for (const entries of [...this.#topics.values()]) tell(entries, undefined);
  }

  /** A connection may be cut without a word, so it is asked now and then. */
  #look(): void {
    this.#after(lookMs, () => {
      const link = this.#link;
      const timer = setTimeout(() => link && this.#lost(link), this.#settings.commandTimeoutMs);
      timer.unref();
      link?.connection
        ?.query(plain('select 1'))
        .then(
          () => this.#link === link && this.#look(),
          () => this.#lost(link),
        )
        .finally(() => clearTimeout(timer));
    });
  }

  /** Connects again, as long as somebody listens. */
  #lost(link: Link): void {
    if (this.#link !== link) return;
    this.#interrupted = true;
    this.#release();
    if (this.#topics.size === 0) return;
    this.#after(this.#pauseMs, () => void this.#connected());
    this.#pauseMs = Math.min(2 * this.#pauseMs, longestPauseMs);
  }

  #release(): void {
    clearTimeout(this.#timer);
    const connection = this.#link?.connection;
    this.#link = undefined;
    // Ended, since it would go on listening in the pool.
    connection?.release(true);
  }

  #after(milliseconds: number, work: () => void): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(work, milliseconds);
    this.#timer.unref();
  }

  #heard(payload: string): void {
    const entries = this.#topics.get(payload.split(' ', 1)[0] as string);
    if (entries !== undefined) tell(entries, messageOf(payload));
  }
}

function tell(entries: Listeners, message: string | undefined): void {
  for (const entry of [...entries]) {
    // An earlier one may have stopped it.
    if (!entries.has(entry)) continue;
    try {
      // A listener that is an async function may also reject.
      ignoreRejection(entry.listener(message));
    } catch {
      // The other listeners must not be affected, and the error cannot be reported anywhere.
    }
  }
}
