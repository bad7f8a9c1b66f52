/** One run of a call, as its host sees it: it is offered, a worker claims it, and it ends. */
import type { JsonObject, ToolContext } from '../../core.ts';
import { CallLink } from '../sandbox/call-link.ts';
import type { HostMessage } from '../sandbox/messages.ts';
import { readMessage } from '../sandbox/read-message.ts';
import { Unconfirmed } from '../sandbox/unconfirmed.ts';
import { lost, readRefusal, refused } from './faults.ts';
import { newJobId } from './job.ts';
import type { Letter } from './mailbox.ts';

type RunMessage = Extract<HostMessage, { t: 'run' }>;

/** The number in all messages. Each run has its own record, so no other number is needed. */
const only = 1;

export class FleetRun {
  readonly id: string;
  /** Settles with the outcome of the handler, or rejects with the reason why there is none. */
  readonly settled: Promise<unknown>;
  readonly message: RunMessage;
  /** The claim of the worker that runs it, once that worker has reported. */
  claim: string | undefined;
  /** A worker has claimed it. */
  started = false;
  /** Its outcome has arrived. */
  concluded = false;
  /** It has ended, with an outcome or without one. */
  over = false;
  /** The message to the worker when the run is withdrawn. */
  goodbye = '';
  /** Messages that have not been sent to the worker yet. */
  readonly unsent: string[] = [];
  /** The number of messages that were sent to the worker. */
  told = 0;
  sending = false;
  /** The number of checks in a row that found the worker's lease expired. */
  lapsed = 0;
  /** When its record was first missing, or first had an outcome that has not arrived. */
  strangeSince: number | undefined;
  readonly #link: CallLink;
  readonly #tell: (run: FleetRun) => void;
  #reject!: (error: unknown) => void;
  readonly #unconfirmed = new Unconfirmed();

  /** @param tell sends the unsent messages of the run */
  constructor(input: JsonObject, context: ToolContext, tell: (run: FleetRun) => void) {
    this.id = newJobId(context.idempotencyKey);
    this.#tell = tell;
    let begun: RunMessage | undefined;
    this.#link = new CallLink(only, context, {
      send: (message) => {
        if (message.t === 'run') begun = message;
        else if (message.t === 'abort') this.goodbye = JSON.stringify(message);
        else this.#send(message);
      },
      violation: (fault) => this.#violation(fault),
    });
    this.#link.start(input, { count: 0, size: 0 });
    this.message = begun as RunMessage;
    const failed = new Promise<never>((_resolve, reject) => {
      this.#reject = reject;
    });
    this.settled = Promise.race([this.#link.settled, failed]).finally(() => {
      this.over = true;
      this.#link.close();
    });
    // No one may be waiting for it any more, and then it must not count as an unhandled rejection.
    this.settled.catch(() => {});
  }

  /** Ends the run without an outcome, unless it has already ended. */
  fail(error: unknown): void {
    if (this.over || this.concluded) return;
    this.over = true;
    this.#link.abort(error);
    this.#reject(error);
  }

  /** Processes a message of a worker. */
  take({ claim, text }: Letter): void {
    if (this.over || this.concluded) return;
    this.claim ??= claim;
    // Only one worker can have claimed the run, so a letter with another claim is not for it.
    if (this.claim !== claim) return;
    this.started = true;
    this.strangeSince = undefined;
    const refusal = readRefusal(text);
    if (refusal !== undefined)
      return this.#conclude(() =>
        this.#reject(
          refusal === 'worker_closed'
            ? lost(refusal, 'The worker that ran the call was closed.')
            : refused(refusal),
        ),
      );
    if (!this.#unconfirmed.add(text))
      return this.#violation('more messages than the host can take');
    const read = readMessage(text);
    if (!read.ok) return this.#violation(read.fault);
    const { message } = read;
    if (!('id' in message) || message.id !== only)
      return this.#violation('a message that is not about its call');
    const isEnd = message.t === 'returned' || message.t === 'threw' || message.t === 'unreturnable';
    if (isEnd) return this.#conclude(() => this.#link.take(message));
    this.#link.take(message);
    if (this.#unconfirmed.due) this.#send({ t: 'confirm', ...this.#unconfirmed.take() });
    return undefined;
  }

  #conclude(end: () => void): void {
    this.concluded = true;
    end();
  }

  #send(message: HostMessage): void {
    if (this.over || this.concluded) return;
    this.unsent.push(JSON.stringify(message));
    this.#tell(this);
  }

  #violation(fault: string): void {
    this.fail(lost('fleet_protocol', `The tool's worker sent ${fault}.`));
  }
}
