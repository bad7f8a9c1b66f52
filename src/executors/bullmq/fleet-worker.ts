/** A worker: it takes calls from the queue, runs them, and renews their leases. */
import { hostname } from 'node:os';
import type { ConnectionOptions, Job, Worker } from 'bullmq';
import {
  isJsonObject,
  type JsonObject,
  type JsonValue,
  ownMember,
} from '../../values/json/index.ts';
import { withDeadline } from '../../values/limits/with-deadline.ts';
import { excessOf } from '../../values/text/json-bounds.ts';
import type { HostMessage } from '../sandbox/messages.ts';
import { Claims, claimed } from './claims.ts';
import { type Bullmq, loadBullmq } from './connection.ts';
import type { Around, FleetTool } from './fleet-tool.ts';
import { type FleetJob, readJob } from './job.ts';
import type { Letter } from './mailbox.ts';
import { RunningCall } from './running-call.ts';

// Reads the messages of hosts to workers. They are not trusted, because anyone who can write to
// Redis can send one.

/** Most characters of a message. It is large because an answer contains the result of a call. */
const maxChars = 16 * 1024 * 1024;
const bounds = { maxDepth: 600, maxValues: 1_000_000 };

/** Reads a message. Returns undefined if the text is not one. Never throws. */
function readHostLetter(text: string): HostMessage | undefined {
  if (text.length > maxChars || excessOf(text, bounds) !== undefined) return undefined;
  let value: JsonValue;
  try {
    value = JSON.parse(text) as JsonValue;
  } catch {
    return undefined;
  }
  return isJsonObject(value) && isKnown(value) ? (value as HostMessage) : undefined;
}

function isKnown(message: JsonObject): boolean {
  switch (ownMember(message, 't')) {
    case 'abort':
      return isError(ownMember(message, 'reason'));
    case 'answer': {
      const error = ownMember(message, 'error');
      return isCount(ownMember(message, 'ask')) && (error === undefined || isError(error));
    }
    case 'confirm':
      return isCount(ownMember(message, 'count')) && isCount(ownMember(message, 'size'));
    default:
      return false;
  }
}

function isCount(value: JsonValue | undefined): boolean {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

function isError(value: JsonValue | undefined): boolean {
  return (
    isJsonObject(value) &&
    typeof ownMember(value, 'name') === 'string' &&
    typeof ownMember(value, 'message') === 'string'
  );
}

/** The options of `serveFleet` after they were read. */
export interface FleetWorkerOptions {
  readonly connection: ConnectionOptions;
  readonly queue: string;
  readonly prefix: string;
  readonly tools: ReadonlyMap<string, FleetTool>;
  readonly concurrency: number;
  readonly services: unknown;
  readonly around: Around | undefined;
  readonly onError: (error: Error) => void;
  /**
   * Milliseconds that Redis has to answer at the start. The default is longer than the limits that
   * clients of Redis have for connecting, so that their errors come first.
   * @default 20000
   */
  readonly startMs?: number | undefined;
}

/** Milliseconds that a closing worker has for its last messages. */
const lastWordsMs = 2_000;
/** The part of `leaseMs` between two renewals of a lease. */
const renewPart = 0.2;
/** Milliseconds that BullMQ's own lock on a job lasts. */
const lockMs = 10_000;
/** Milliseconds between BullMQ's checks for jobs whose lock is lost. */
const stalledMs = 5_000;
/** How often a job may lose its lock before BullMQ fails it. */
const maxStalls = 2;
/** Jobs that are not calls fail. The last ones are kept, so that people can inspect them. */
const keptFailures = { count: 100 };

export class FleetWorker {
  readonly #options: FleetWorkerOptions;
  readonly #bullmq: Bullmq;
  readonly #worker: Worker;
  /** The running calls, by the ids of their jobs. */
  readonly #calls = new Map<string, RunningCall>();
  #claims: Claims | undefined;
  #renewal: { readonly timer: NodeJS.Timeout; readonly at: number } | undefined;
  #renewing = false;
  #closing: Promise<void> | undefined;

  constructor(options: FleetWorkerOptions) {
    this.#options = options;
    const { connection, prefix, concurrency, queue } = options;
    this.#bullmq = loadBullmq();
    this.#worker = new this.#bullmq.Worker(
      queue,
      (job: Job, token?: string) => this.#process(job, token),
      {
        connection,
        prefix,
        concurrency,
        name: `${hostname()}-${process.pid}`,
        autorun: false,
        lockDuration: lockMs,
        stalledInterval: stalledMs,
        maxStalledCount: maxStalls,
        removeOnFail: keptFailures,
        // The default is 15 seconds, which is too long to wait for jobs after Redis was away.
        runRetryDelay: 1_000,
      },
    );
    this.#worker.on('error', (error) => {
      // An error before the start has finished rejects `start`.
      if (this.#claims !== undefined) options.onError(error);
    });
  }

  get running(): number {
    return this.#calls.size;
  }

  /** Starts to take calls. Rejects if Redis cannot be reached now, or does not answer. */
  async start(): Promise<void> {
    const { startMs = 20_000 } = this.#options;
    let fail = (_error: Error): void => {};
    const failed = new Promise<never>((_resolve, reject) => {
      fail = reject;
    });
    this.#worker.once('error', fail);
    try {
      const ready = Promise.race([this.#worker.waitUntilReady(), failed]);
      await withDeadline(ready, startMs, () => {
        throw new Error(
          `serveFleet: expected Redis to answer within ${startMs} ms, got no answer. Check that ` +
            '`connection` leads to Redis and that it is not overloaded, then start again.',
        );
      });
      const client = await this.#worker.backend.client;
      const { prefix, queue } = this.#options;
      this.#claims = new Claims(client, prefix, queue, (letters) => this.#take(letters));
      this.#worker.run().catch((error: Error) => this.#options.onError(error));
    } catch (error) {
      const closed = this.#worker.backend.close(true);
      await withDeadline(closed, lastWordsMs, () => {}).catch(() => {});
      throw error;
    } finally {
      this.#worker.off('error', fail);
    }
  }

  close(graceMs: number): Promise<void> {
    this.#closing ??= this.#close(graceMs);
    return this.#closing;
  }

  async #close(graceMs: number): Promise<void> {
    const closed = this.#worker.close();
    const force = (): Promise<void> => this.#worker.backend.close(true);
    try {
      const inPeace = await withDeadline(
        closed.then(
          () => true,
          () => false,
        ),
        Math.max(1, graceMs),
        () => false,
      );
      if (inPeace) return;
      const left = [...this.#calls.values()].map((call) => call.leave());
      await withDeadline(Promise.all(left), lastWordsMs, () => {});
      await withDeadline(closed, lastWordsMs, force).catch(async (error: unknown) => {
        await force();
        throw error;
      });
    } finally {
      // The connection is closed, so messages that are still unsent cannot be sent any more.
      for (const call of [...this.#calls.values()])
        call.drop('AbortError', 'The worker is closed.');
      clearTimeout(this.#renewal?.timer);
      this.#claims?.close();
    }
  }

  async #process(job: Job, token: string | undefined): Promise<void> {
    if (this.#closing !== undefined) {
      // The job arrived while the worker was closing. Another worker may take it.
      await job.moveToWait(token);
      throw new this.#bullmq.WaitingError();
    }
    const { id = '' } = job;
    const call = readJob(job.data);
    if (call === undefined || !id.startsWith('call-'))
      throw new this.#bullmq.UnrecoverableError(
        'This is not a call that a `fleetExecutor` has sent.',
      );
    const claims = this.#claims as Claims;
    const claim = claims.newClaim();
    const lease = { id, claim, leaseMs: call.leaseMs };
    const asked = performance.now();
    const [code, leftMs] = await claims.claim(lease);
    // The call has ended, another worker has taken it, or its time is up.
    if (code !== claimed.yes) return;
    // If this process was suspended in the meantime, the host may have given the call up.
    const isLate = performance.now() - asked > call.leaseMs / 4;
    if (isLate && !(await claims.renew([lease]))[0]) return;
    const running = new RunningCall({
      job: call,
      claim,
      leftMs,
      services: this.#options.services,
      report: (texts, first, isEnd) => {
        // A single call is reported without delay. With several, throughput matters more.
        if (isEnd && this.#calls.size > 1) claims.gather();
        return claims.report(lease, call.host, texts, first, isEnd);
      },
      onError: this.#options.onError,
    });
    this.#calls.set(id, running);
    void running.ended.then(() => this.#calls.delete(id));
    this.#renewWithin(call.leaseMs);
    await this.#run(call, running);
  }

  #run(call: FleetJob, running: RunningCall): Promise<void> {
    const { tools, around } = this.#options;
    const tool = tools.get(call.tool);
    if (tool === undefined || tool.fingerprint !== call.fingerprint) {
      running.refuse(tool === undefined ? 'handler_missing' : 'definition_changed');
      return running.posted;
    }
    return running.start((input, context) => {
      const run = (): Promise<unknown> => Promise.resolve(tool.run(input, context));
      if (around === undefined) return run();
      const { toolName, callId, sessionId, principal } = context;
      return around({ toolName, callId, sessionId, principal, traceContext: call.trace }, run);
    });
  }

  async #take(letters: readonly Letter[]): Promise<void> {
    for (const { call, claim, text } of letters) {
      const running = this.#calls.get(call);
      if (running === undefined || running.claim !== claim) continue;
      const message = readHostLetter(text);
      if (message !== undefined) running.take(message);
    }
    this.#claims?.settle().catch(() => {});
  }

  /** Schedules the next renewal, early enough for a call with this lease. */
  #renewWithin(leaseMs: number): void {
    const at = performance.now() + leaseMs * renewPart;
    if (this.#renewal !== undefined && this.#renewal.at <= at) return;
    clearTimeout(this.#renewal?.timer);
    const timer = setTimeout(() => void this.#renew(), leaseMs * renewPart);
    this.#renewal = { timer, at };
  }

  async #renew(): Promise<void> {
    this.#renewal = undefined;
    const calls = [...this.#calls];
    const [first] = calls;
    if (first === undefined) return;
    this.#renewWithin(Math.min(...calls.map(([, { leaseMs }]) => leaseMs)));
    if (this.#renewing) return;
    this.#renewing = true;
    try {
      const leases = calls.map(([id, { claim, leaseMs }]) => ({ id, claim, leaseMs }));
      const kept = await (this.#claims as Claims).renew(leases);
      for (const [index, [, call]] of calls.entries())
        if (kept[index] !== true) call.drop('AbortError', 'The call has ended.');
    } catch (error) {
      this.#options.onError(error as Error);
    } finally {
      this.#renewing = false;
    }
  }
}
