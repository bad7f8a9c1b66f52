/** Runs the calls of one fleet executor: offers them to workers, and processes their reports. */
import type { JsonObject, ToolContext } from '../../core.ts';
import { type RunningCall, runningCall } from '../../extend.ts';
import { nextTurn } from '../../values/limits/stretches.ts';
import { withDeadline } from '../../values/limits/with-deadline.ts';
import { lost, notStarted, refusedOffer, replaced, unreachable } from './faults.ts';
import { FleetLink, withdrawn } from './fleet-link.ts';
import type { FleetPlace } from './fleet-options.ts';
import { FleetRun } from './fleet-run.ts';
import { FleetWatch } from './fleet-watch.ts';
import { type FleetJob, isTooLarge, maxJobChars } from './job.ts';
import type { Letter } from './mailbox.ts';

/** The options of `fleetExecutor` after they were read. */
export interface FleetHostOptions extends Required<Pick<FleetPlace, 'connection' | 'queue'>> {
  readonly prefix: string;
  readonly startTimeoutMs: number;
  readonly leaseMs: number;
}

/** Most runs of one call to an idempotent tool. */
const maxRuns = 3;
/** Most characters of letters that are processed in one turn of the event loop. */
const turnChars = 4 * 1024 * 1024;
/** Milliseconds before a text that could not be sent is sent again. */
const retryMs = 250;
/** Milliseconds between checks of the connection, while it is not ready. */
const lookMs = 20;
/** Milliseconds to wait for Redis when a call that no worker has taken is withdrawn. */
const answerMs = 1_000;

export class FleetHost {
  readonly #options: FleetHostOptions;
  readonly #runs = new Map<string, FleetRun>();
  readonly #watch: FleetWatch;
  #link: FleetLink | undefined;
  /** The number of times that it was closed. Calls that begin later connect again. */
  #closings = 0;
  /** Calls whose outcome has arrived, so that their records can be deleted. */
  #concluded: string[] = [];
  #settling = false;

  constructor(options: FleetHostOptions) {
    this.#options = options;
    this.#watch = new FleetWatch(options.leaseMs, this.#runs, () => this.#link);
  }

  /** Connects, so that a call can be sent as soon as it was judged. */
  take(context: ToolContext) {
    const closings = this.#closings;
    const until = this.#latest();
    const placeOn = (link: FleetLink) => ({
      get lost(): boolean {
        return !link.live;
      },
      run: (input: JsonObject, runContext: ToolContext) => this.execute(input, runContext, until),
      release: () => {},
    });
    if (this.#link?.live === true) return placeOn(this.#link);
    return this.#connected(context.signal, until, closings).then(placeOn);
  }

  /**
   * Runs a call. If it is lost and its tool is idempotent, it runs up to {@link maxRuns} times.
   * @param until when it must have begun, the first time
   */
  async execute(input: JsonObject, context: ToolContext, until = this.#latest()): Promise<unknown> {
    const closings = this.#closings;
    for (let runs = 1; ; runs++) {
      const { remote } = runningCall(context);
      if (remote === undefined)
        throw new TypeError(
          'Expected the executor of a fleet to be called with the context of a call, unchanged.',
        );
      try {
        const latest = runs === 1 ? until : this.#latest();
        return await this.#execute(input, context, remote, closings, latest);
      } catch (error) {
        const again =
          remote.idempotent && runs < maxRuns && isLoss(error) && !context.signal.aborted;
        if (!again) throw error;
      }
    }
  }

  /** When a call that begins now must have been taken by a worker. */
  #latest(): number {
    return performance.now() + this.#options.startTimeoutMs;
  }

  async close(): Promise<void> {
    this.#closings++;
    for (const run of this.#runs.values())
      run.fail(lost('executor_disposed', "The tool's executor was disposed."));
    this.#watch.stop();
    const link = this.#link;
    this.#link = undefined;
    await link?.close();
  }

  async #execute(
    input: JsonObject,
    context: ToolContext,
    remote: NonNullable<RunningCall['remote']>,
    closings: number,
    until: number,
  ): Promise<unknown> {
    const link = await this.#connected(context.signal, until, closings);
    const run = new FleetRun(input, context, (one) => void this.#tell(one));
    const job = jobOf(run, link.name, remote, this.#options.leaseMs, context);
    const { signal } = context;
    const abort = (): void => run.fail(signal.reason);
    this.#runs.set(run.id, run);
    this.#watch.start();
    const leftMs = Math.max(1, until - performance.now());
    const starting = setTimeout(() => void this.#expire(link, run), leftMs);
    try {
      if (signal.aborted) throw signal.reason;
      signal.addEventListener('abort', abort, { once: true });
      link
        .offer(run.id, job, remote.leftMs)
        .then((isOffered) => isOffered || run.fail(replaced('was sent')))
        .catch((error: unknown) => void this.#expire(link, run, refusedOffer(error)));
      return await run.settled;
    } finally {
      signal.removeEventListener('abort', abort);
      clearTimeout(starting);
      this.#runs.delete(run.id);
      if (run.concluded) this.#settleSoon(run.id);
      else void link.withdraw(run.id, run.goodbye).catch(() => {});
    }
  }

  /**
   * Resolves when the connection is ready.
   * @param closings the value of `#closings` when the call began
   */
  async #connected(signal: AbortSignal, until: number, closings: number): Promise<FleetLink> {
    for (;;) {
      if (this.#closings !== closings)
        throw lost('executor_disposed', "The tool's executor was disposed.");
      if (signal.aborted) throw signal.reason;
      const link = this.#opened();
      if (link.live) return link;
      const left = until - performance.now();
      if (left <= 0) throw unreachable(this.#options.startTimeoutMs);
      // `ready` resolves only once, and the connection may have been lost again since then.
      await withDeadline(link.ready, Math.min(left, lookMs), () => {}).catch(() => {});
      if (!link.live) await new Promise((resolve) => setTimeout(resolve, lookMs));
    }
  }

  #opened(): FleetLink {
    if (this.#link !== undefined) return this.#link;
    const link = new FleetLink({ ...this.#options, take: (letters) => this.#take(letters) });
    this.#link = link;
    link.ready.catch(() => {
      // For example, the password is wrong. The next call tries again with a new connection.
      if (this.#link === link) this.#link = undefined;
      void link.close();
    });
    return link;
  }

  async #take(letters: readonly Letter[]): Promise<void> {
    let chars = 0;
    for (const letter of letters) {
      const run = this.#runs.get(letter.call);
      try {
        run?.take(letter);
      } catch (error) {
        // Only this call fails, because the next letters belong to other calls.
        run?.fail(error);
      }
      chars += letter.text.length;
      if (chars < turnChars) continue;
      chars = 0;
      await nextTurn();
    }
    this.#settleSoon();
  }

  #settleSoon(id?: string): void {
    if (id !== undefined) this.#concluded.push(id);
    if (this.#settling) return;
    this.#settling = true;
    setImmediate(() => {
      this.#settling = false;
      const ids = this.#concluded.splice(0);
      // If this fails, the records expire by themselves.
      this.#link?.settle(ids).catch(() => {});
    });
  }

  /**
   * Ends a call that no worker has taken.
   * @param fault the error with which it could not be offered, if that is the reason
   */
  async #expire(link: FleetLink, run: FleetRun, fault?: Error): Promise<void> {
    if (run.over || run.concluded || run.started) return;
    const code = await withDeadline(
      link.withdraw(run.id, undefined),
      answerMs,
      () => undefined,
    ).catch(() => undefined);
    if (code === withdrawn.claimed) run.started = true;
    else if (code === undefined)
      run.fail(lost('fleet_unreachable', 'The queue of the call cannot be reached.'));
    else if (fault !== undefined) run.fail(fault);
    else if (code === withdrawn.unclaimed) run.fail(notStarted(this.#options.startTimeoutMs));
    else run.fail(lost('record_lost', 'Redis has lost the call.'));
  }

  /** Sends the unsent messages of a run to its worker, in their order. */
  async #tell(run: FleetRun): Promise<void> {
    if (run.sending) return;
    run.sending = true;
    while (run.unsent.length > 0 && !run.over && run.claim !== undefined) {
      const texts = run.unsent.splice(0, 64);
      try {
        await this.#link?.tell(run.id, run.claim, texts, run.told + 1);
        run.told += texts.length;
      } catch {
        run.unsent.unshift(...texts);
        await new Promise((resolve) => setTimeout(resolve, retryMs));
      }
    }
    run.sending = false;
  }
}

function isLoss(error: unknown): boolean {
  const reason = (error as { reason?: unknown }).reason;
  return reason === 'worker_lost' || reason === 'worker_closed' || reason === 'record_lost';
}

function jobOf(
  { message }: FleetRun,
  host: string,
  { fingerprint }: Pick<FleetJob, 'fingerprint'>,
  leaseMs: number,
  context: ToolContext,
): FleetJob {
  const { input } = message;
  const job: FleetJob = {
    format: 1,
    tool: context.toolName,
    input,
    context: message.context,
    fingerprint,
    host,
    leaseMs,
    trace: runningCall(context).trace,
  };
  if (isTooLarge(job))
    throw new TypeError(
      'The call is too long for the queue: its arguments, its knobs and the metadata of its ' +
        `session have more than ${maxJobChars} characters together.`,
    );
  return job;
}
