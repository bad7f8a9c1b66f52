/** A call that a worker has claimed: it runs the handler and reports to the host. */
import type { JsonObject, ToolContext } from '../../core.ts';
import { longestTimerMs } from '../../values/options/index.ts';
import type { HostMessage, SandboxMessage } from '../sandbox/messages.ts';
import { createOutbox, type Outbox } from '../sandbox/runner/outbox.ts';
import { Run } from '../sandbox/runner/run.ts';
import { type Refusal, refusalText } from './faults.ts';
import type { FleetJob } from './job.ts';

/** The number in all messages; see `FleetRun`. */
const only = 1;
/** Most texts, and about the most characters, that are sent at once. */
const most = { texts: 64, chars: 1024 * 1024 };
/** Milliseconds before texts that could not be sent are sent again. */
const retryMs = 250;
/**
 * A call is given up when its texts could not be sent for so many of its leases, and for at least
 * so many milliseconds. A host that cannot reach Redis gives its calls up sooner.
 */
const giveUpAfter = { leases: 2, leastMs: 10_000 };

/** Sends texts to the host. Resolves to whether the worker still has the call. */
export type Report = (texts: readonly string[], first: number, isEnd: boolean) => Promise<boolean>;

export interface RunningCallOptions {
  readonly job: FleetJob;
  readonly claim: string;
  /** Milliseconds until the call times out; -1 for never. */
  readonly leftMs: number;
  readonly services: unknown;
  readonly report: Report;
  /** Called when the call is given up because its texts could not be sent. */
  readonly onError: (error: Error) => void;
}

export class RunningCall implements Outbox {
  readonly claim: string;
  readonly leaseMs: number;
  /** Resolves when the outcome has been delivered, or when the host no longer wants it. */
  readonly ended: Promise<void>;
  /**
   * Resolves when the outcome has been sent. Redis processes later commands after it, so the job
   * can be finished without waiting for an answer.
   */
  readonly posted: Promise<void>;
  readonly #options: RunningCallOptions;
  readonly #run: Run;
  readonly #outbox: Outbox;
  #unsent: string[] = [];
  #sent = 0;
  #sending = false;
  /** The outcome as a text. */
  #end: string | undefined;
  #over = false;
  #resolve!: () => void;
  #hasPosted!: () => void;
  #leave!: () => void;
  readonly #left = new Promise<void>((resolve) => {
    this.#leave = resolve;
  });
  #timer: NodeJS.Timeout | undefined;

  constructor(options: RunningCallOptions) {
    const { job, claim, leftMs, services } = options;
    this.#options = options;
    this.claim = claim;
    this.leaseMs = job.leaseMs;
    this.ended = new Promise((resolve) => {
      this.#resolve = resolve;
    });
    this.posted = new Promise((resolve) => {
      this.#hasPosted = resolve;
    });
    this.#outbox = createOutbox({ send: (text) => this.#post(text), onMessage: () => {} });
    const { deadline: _deadline, ...context } = job.context;
    const message = {
      t: 'run',
      id: only,
      input: job.input,
      // The deadline by the clock of this machine, which may differ from the host's.
      context: leftMs < 0 ? context : { ...context, deadline: Date.now() + leftMs },
      count: 0,
      size: 0,
    } as const;
    this.#run = new Run(message, this, { services });
    if (leftMs >= 0) this.#timeOutAt(performance.now() + leftMs);
  }

  /** Runs the handler. Resolves when it has settled and its outcome is posted. */
  async start(handler: (input: JsonObject, context: ToolContext) => unknown): Promise<void> {
    const settled = this.#run.start(handler);
    // A handler that does not stop still counts towards the worker's `concurrency`.
    await Promise.race([Promise.all([settled, this.posted]), this.#left]);
  }

  /** Gives the call up, even if its handler still runs. Resolves when the host has the message. */
  async leave(): Promise<void> {
    this.refuse('worker_closed');
    this.#run.abort({ name: 'AbortError', message: 'The worker is closing.' });
    await this.ended;
    this.#leave();
  }

  /** Reports why the handler does not run, or does not finish. */
  refuse(reason: Refusal): void {
    if (this.#end !== undefined || this.#over) return;
    this.#end = refusalText(reason);
    this.#post(this.#end);
  }

  /** Processes a message of the host. */
  take(message: HostMessage): void {
    if (message.t === 'abort') {
      this.#forget();
      this.#run.abort(message.reason);
    } else if (message.t === 'answer') this.#run.answered(message);
    else if (message.t === 'confirm') this.#outbox.confirmed(message.count, message.size);
  }

  /** Aborts the call and discards its outcome, because the host no longer wants it. */
  drop(name: string, message: string): void {
    this.#forget();
    this.#run.abort({ name, message });
  }

  send(message: SandboxMessage): void {
    const isEnd = message.t === 'threw' || message.t === 'unreturnable';
    this.#pass(JSON.stringify(message), isEnd);
  }

  /** Sends the output of the handler. Nothing else is sent as a text. */
  sendText(text: string): void {
    this.#pass(text, true);
  }

  sendNow(message: SandboxMessage): void {
    this.send(message);
  }

  confirmed(count: number, size: number): void {
    this.#outbox.confirmed(count, size);
  }

  #pass(text: string, isEnd: boolean): void {
    // Work that the handler has left running may still report, but the outcome was already sent.
    if (this.#end !== undefined || this.#over) return;
    if (isEnd) this.#end = text;
    this.#outbox.sendText(text);
  }

  /** @param end a time of `performance.now()`, which may be further away than a timer can wait */
  #timeOutAt(end: number): void {
    const leftMs = end - performance.now();
    this.#timer = setTimeout(
      () => (leftMs > longestTimerMs ? this.#timeOutAt(end) : this.#timeOut()),
      Math.min(leftMs, longestTimerMs),
    );
  }

  #timeOut(): void {
    // Usually the host ends the call and sends an abort. This timer is for a host that cannot. It
    // discards the outcome, since whatever the handler does after the abort must not reach the host
    // before the host's own timer ends the call.
    this.drop('TimeoutError', 'The call has timed out.');
  }

  #forget(): void {
    this.#over = true;
    this.#unsent = [];
    clearTimeout(this.#timer);
    this.#hasPosted();
    this.#resolve();
  }

  #post(text: string): void {
    if (this.#over) return;
    this.#unsent.push(text);
    if (!this.#sending) void this.#flush();
  }

  async #flush(): Promise<void> {
    this.#sending = true;
    let failingSince: number | undefined;
    while (this.#unsent.length > 0) {
      const texts = this.#next();
      const isEnd = texts.at(-1) === this.#end;
      try {
        const reported = this.#options.report(texts, this.#sent + 1, isEnd);
        if (isEnd) this.#hasPosted();
        const has = await reported;
        if (!has) this.drop('AbortError', 'The call has ended.');
        this.#sent += texts.length;
        this.#unsent = this.#unsent.slice(texts.length);
        if (isEnd) this.#forget();
        failingSince = undefined;
      } catch (error) {
        const now = performance.now();
        failingSince ??= now;
        if (now - failingSince >= Math.max(giveUpAfter.leastMs, giveUpAfter.leases * this.leaseMs))
          this.#giveUp(error);
        else await new Promise((resolve) => setTimeout(resolve, retryMs));
      }
    }
    this.#sending = false;
  }

  /** Gives the call up. Its lease is not renewed any more, so the host ends it as `worker_lost`. */
  #giveUp(cause: unknown): void {
    const { tool } = this.#options.job;
    this.drop('AbortError', 'The call cannot be reported to its host.');
    this.#options.onError(
      new Error(
        `A call to \`${tool}\` was given up, because Redis did not take its outcome or its ` +
          'messages. Check that Redis has memory left, and that the worker may write to it.',
        { cause },
      ),
    );
  }

  /** The texts to send next: at least one. */
  #next(): string[] {
    let chars = 0;
    let count = 0;
    for (const text of this.#unsent) {
      chars += text.length;
      if (count > 0 && (count >= most.texts || chars > most.chars)) break;
      count++;
    }
    return this.#unsent.slice(0, count);
  }
}
