/** A host's connection to its queue, and what it tells Redis about its calls. */
import type { IRedisClient, Queue } from 'bullmq';
import { withDeadline } from '../../limits/with-deadline.ts';
import { gatherWrites, isLive, type RunScript, scriptsOn } from './connection.ts';
import type { FleetPlace } from './fleet-options.ts';
import { type FleetJob, maxJobChars } from './job.ts';
import { loadBullmq } from './load-bullmq.ts';
import { type Letter, type Mailbox, openMailbox } from './mailbox.ts';
import { hostBoxOf, newName, recordOf, rootOf, workerBoxOf, workerIn } from './names.ts';
import {
  offerScript,
  serverScript,
  settleScript,
  tellScript,
  watchScript,
  withdrawScript,
} from './scripts.ts';

/** What Redis says of a call; see `watchScript`. */
export const states = { gone: 0, offered: 1, claimed: 2, lapsed: 3, done: 4, stale: 5 } as const;

/** What came of a withdrawal: the call had ended, was not claimed and never will be, or was claimed. */
export const withdrawn = { ended: 0, unclaimed: 1, claimed: 2 } as const;

/** A host that is busy for this long does not lose its calls. */
const leastTtlMs = 20_000;
/** How long each answer is waited for when the connection is closed. */
const goodbyeMs = 1_000;

export interface LinkOptions extends Required<Pick<FleetPlace, 'connection' | 'queue'>> {
  readonly prefix: string;
  readonly leaseMs: number;
  readonly take: (letters: readonly Letter[]) => Promise<void>;
}

/** What there is once Redis has answered. */
interface Open {
  readonly client: IRedisClient;
  readonly run: RunScript;
  readonly mailbox: Mailbox;
}

export class FleetLink {
  /** The host's name, which nobody can guess. */
  readonly name = newName();
  /** Resolves once Redis has answered, however long that takes. Rejects if it refuses. */
  readonly ready: Promise<void>;
  readonly #options: LinkOptions;
  readonly #root: string;
  readonly #queue: Queue;
  #open: Open | undefined;
  /** The run of Redis to which this connection leads, and its time at some time of ours. */
  #server: { readonly run: string; readonly ms: number; readonly at: number } | undefined;
  #closed = false;

  constructor(options: LinkOptions) {
    this.#options = options;
    const { connection, queue, prefix, take } = options;
    this.#root = rootOf(prefix, queue);
    const { Queue } = loadBullmq();
    this.#queue = new Queue(queue, { connection, prefix });
    // Each call that is affected says so itself.
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

  /** Whether commands go out at once. */
  get live(): boolean {
    return this.#isConnected && this.#server !== undefined;
  }

  get #isConnected(): boolean {
    return this.#open !== undefined && isLive(this.#open.client);
  }

  /** What workers sent before this time has been taken. */
  get readUntil(): number {
    return this.#opened.mailbox.readUntil;
  }

  /** Only once it has been ready. */
  get #opened(): Open {
    return this.#open as Open;
  }

  get #box(): string {
    return hostBoxOf(this.#root, this.name);
  }

  /** How long what is left behind stays. */
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
   * @param leftMs Until it times out.
   * @returns Whether it is offered. Otherwise Redis was away for long or is another one since, and
   * may have forgotten that it was.
   */
  async offer(id: string, job: FleetJob, leftMs: number): Promise<boolean> {
    const left = Number.isFinite(leftMs) ? Math.max(1, Math.ceil(leftMs)) : '';
    gatherWrites(this.#opened.client);
    // Commands of one connection are carried out in their order, so the record is there first.
    const { run = '', ms = 0, at = 0 } = this.#server ?? {};
    // Not later than the record goes if it gets there at once. Redis is ahead of this, if anything.
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

  /** How calls are, in their order. */
  async watch(ids: readonly string[]): Promise<readonly unknown[]> {
    const args = [this.#root, this.#ttl, this.#ttl * 4, this.#opened.mailbox.next, ...ids];
    return (await this.#opened.run(watchScript, [this.#box], args)) as readonly unknown[];
  }

  /** Sends texts to the worker that has claimed a call. @param first The number of the first one. */
  async tell(id: string, claim: string, texts: readonly string[], first: number): Promise<void> {
    const keys = [recordOf(this.#root, id), workerBoxOf(this.#root, workerIn(claim))];
    await this.#opened.run(tellScript, keys, [claim, id, this.#ttl * 4, first, ...texts]);
  }

  /** Ends a call here. @param goodbye What its worker is told. Undefined: only if it has none. */
  async withdraw(id: string, goodbye: string | undefined): Promise<unknown> {
    const unlessClaimed = goodbye === undefined ? '1' : '0';
    const args = [this.#root, id, unlessClaimed, this.#ttl * 4, goodbye ?? ''];
    const code = await this.#opened.run(withdrawScript, [recordOf(this.#root, id)], args);
    // Workers would skip the job. But there may be no worker.
    if (code === withdrawn.unclaimed) void this.#queue.remove(id).catch(() => {});
    return code;
  }

  /** Forgets letters that were read, and calls that have their outcome. */
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
    // Redis may have stopped without its connections being lost. Then nothing answers.
    const inTime = (one: Promise<unknown> | undefined): Promise<boolean> =>
      withDeadline(Promise.resolve(one), goodbyeMs, () => false).then(
        (answer) => answer !== false,
        () => false,
      );
    const answers = open !== undefined && (await inTime(open.client.del(this.#box)));
    // Closing it in peace would wait for Redis to come back.
    if (answers && (await inTime(backend.close(false)))) return;
    await inTime(backend.close(true));
  }
}
