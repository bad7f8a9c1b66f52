/** A host's connection to its queue, and the commands that it sends about its calls. */
import type { IRedisClient, Queue } from 'bullmq';
import { withDeadline } from '../../values/limits/with-deadline.ts';
import { gatherWrites, isLive, loadBullmq, type RunScript, scriptsOn } from './connection.ts';
import type { FleetPlace } from './fleet-options.ts';
import {
  type FleetJob,
  hostBoxOf,
  maxJobChars,
  newName,
  recordOf,
  rootOf,
  workerBoxOf,
  workerIn,
} from './job.ts';
import { type Letter, type Mailbox, openMailbox } from './mailbox.ts';
import {
  notifyScript,
  offerScript,
  serverScript,
  settleScript,
  watchScript,
  withdrawScript,
} from './scripts.ts';

/** The states of a call that `watchScript` returns. */
export const states = { gone: 0, offered: 1, claimed: 2, lapsed: 3, done: 4, stale: 5 } as const;

/**
 * The results of a withdrawal: the call had already ended, or it was not claimed and now never will
 * be, or a worker had claimed it.
 */
export const withdrawn = { ended: 0, unclaimed: 1, claimed: 2 } as const;

/** Least milliseconds that records are kept. A host that is busy for less time keeps its calls. */
const leastTtlMs = 20_000;
/** Milliseconds to wait for each answer while the connection is closed. */
const goodbyeMs = 1_000;

export interface LinkOptions extends Required<Pick<FleetPlace, 'connection' | 'queue'>> {
  readonly prefix: string;
  readonly leaseMs: number;
  readonly take: (letters: readonly Letter[]) => Promise<void>;
}

/** The parts of a link that exist once Redis has answered. */
interface Open {
  readonly client: IRedisClient;
  readonly run: RunScript;
  readonly mailbox: Mailbox;
}

export class FleetLink {
  /** The host's unguessable name. */
  readonly name = newName();
  /** Resolves when Redis has answered. It waits without limit. Rejects if Redis refuses. */
  readonly ready: Promise<void>;
  readonly #options: LinkOptions;
  readonly #root: string;
  readonly #queue: Queue;
  #open: Open | undefined;
  /**
   * The run of Redis that this connection leads to, and the clock of Redis in milliseconds at the
   * time `at` of this process.
   */
  #server: { readonly run: string; readonly ms: number; readonly at: number } | undefined;
  #closed = false;

  constructor(options: LinkOptions) {
    this.#options = options;
    const { connection, queue, prefix, take } = options;
    this.#root = rootOf(prefix, queue);
    const { Queue } = loadBullmq();
    this.#queue = new Queue(queue, { connection, prefix });
    // Each affected call reports the failure itself.
    this.#queue.on('error', () => {});
    this.ready = this.#queue.backend.client.then(async (client) => {
      if (this.#closed) return;
      const run = scriptsOn(client);
      const connect = (): IRedisClient => client.duplicate({ maxRetriesPerRequest: null });
      this.#open = { client, run, mailbox: openMailbox({ connect, key: this.#box, take }) };
      client.on('close', this.#forget);
      client.on('ready', this.#learn);
      await this.#learn();
    });
    this.ready.catch(() => {});
  }

  /** Whether commands are sent at once, and the run of Redis is known. */
  get live(): boolean {
    return this.#isConnected && this.#server !== undefined;
  }

  get #isConnected(): boolean {
    return this.#open !== undefined && isLive(this.#open.client);
  }

  /** Everything that workers sent before this time has been processed. */
  get readUntil(): number {
    return this.#opened.mailbox.readUntil;
  }

  /** Used only after {@link ready} has resolved. */
  get #opened(): Open {
    return this.#open as Open;
  }

  get #box(): string {
    return hostBoxOf(this.#root, this.name);
  }

  /** Milliseconds after which records expire that this host no longer renews. */
  get #ttl(): number {
    return Math.max(leastTtlMs, this.#options.leaseMs * 4);
  }

  readonly #forget = (): void => {
    this.#server = undefined;
  };

  readonly #learn = async (): Promise<void> => {
    const answer = await this.#opened.run(serverScript, [this.#box], []).catch(() => undefined);
    if (!Array.isArray(answer)) return;
    const [run, ms] = answer as readonly unknown[];
    this.#server = { run: String(run), ms: Number(ms), at: performance.now() };
  };

  /**
   * Offers a call to the workers.
   * @param leftMs milliseconds until the call times out
   * @returns whether the call is offered. If not, Redis was away for too long or has been replaced,
   * so its record may have been lost.
   */
  async offer(id: string, job: FleetJob, leftMs: number): Promise<boolean> {
    const left = Number.isFinite(leftMs) ? Math.max(1, Math.ceil(leftMs)) : '';
    gatherWrites(this.#opened.client);
    // Redis runs the commands of one connection in order, so the record exists before the job.
    const { run = '', ms = 0, at = 0 } = this.#server ?? {};
    // The time when the record would expire if Redis got it now. This estimate is never later than
    // the true time, since the clock of Redis can only be ahead of it.
    const until = Math.floor(ms + performance.now() - at + this.#ttl);
    const args = [left, this.#ttl, run, until];
    const recorded = this.#opened.run(offerScript, [recordOf(this.#root, id)], args);
    const added = this.#queue.add(job.tool, job, {
      jobId: id,
      removeOnComplete: true,
      removeOnFail: true,
      sizeLimit: maxJobChars * 4,
    });
    const [answer] = await Promise.all([recorded, added]);
    if (answer === 1) return true;
    this.#forget();
    void this.#learn();
    return false;
  }

  /** Returns the state of each call, in the order of `ids`. */
  async watch(ids: readonly string[]): Promise<readonly unknown[]> {
    const args = [this.#root, this.#ttl, this.#ttl * 4, this.#opened.mailbox.next, ...ids];
    return (await this.#opened.run(watchScript, [this.#box], args)) as readonly unknown[];
  }

  /**
   * Sends texts to the worker that has claimed a call.
   * @param first the number of the first text
   */
  async tell(id: string, claim: string, texts: readonly string[], first: number): Promise<void> {
    const keys = [recordOf(this.#root, id), workerBoxOf(this.#root, workerIn(claim))];
    await this.#opened.run(notifyScript, keys, [claim, id, this.#ttl * 4, first, ...texts]);
  }

  /**
   * Ends a call.
   * @param goodbye the last message to its worker. If it is undefined, the call ends only if no
   * worker has claimed it.
   */
  async withdraw(id: string, goodbye: string | undefined): Promise<unknown> {
    const unlessClaimed = goodbye === undefined ? '1' : '0';
    const args = [this.#root, id, unlessClaimed, this.#ttl * 4, goodbye ?? ''];
    const code = await this.#opened.run(withdrawScript, [recordOf(this.#root, id)], args);
    // A worker would skip the job, but there may be no worker that removes it from the queue.
    if (code === withdrawn.unclaimed) void this.#queue.remove(id).catch(() => {});
    return code;
  }

  /** Deletes the letters that were read, and the records of calls whose outcome has arrived. */
  async settle(ids: readonly string[]): Promise<void> {
    await this.#opened.run(
      settleScript,
      [this.#box],
      [this.#root, this.#opened.mailbox.next, ...ids],
    );
  }

  async close(): Promise<void> {
    this.#closed = true;
    const open = this.#isConnected ? this.#open : undefined;
    this.#open?.client.off('close', this.#forget);
    this.#open?.client.off('ready', this.#learn);
    this.#open?.mailbox.close();
    const { backend } = this.#queue;
    // Redis may have stopped without closing its connections. Then no command gets an answer.
    const inTime = (one: Promise<unknown> | undefined): Promise<boolean> =>
      withDeadline(Promise.resolve(one), goodbyeMs, () => false).then(
        (answer) => answer !== false,
        () => false,
      );
    const answers = open !== undefined && (await inTime(open.client.del(this.#box)));
    // Closing without force would wait until Redis comes back.
    if (answers && (await inTime(backend.close(false)))) return;
    await inTime(backend.close(true));
  }
}
