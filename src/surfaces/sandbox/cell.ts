/** One sandbox of a pool. It starts, loads the handler, and runs one call at a time. */
import type { JsonObject, ToolContext } from '../../index.ts';
import type { Stop } from '../../surface-port.ts';
import { shortened } from '../../text/shortened.ts';
import { CallLink } from './call-link.ts';
import { lostFault, unavailableFault, unloadedFault } from './fault.ts';
import { type HostMessage, maxBacklog, type SandboxMessage } from './messages.ts';
import { readMessage } from './read-message.ts';
import { LastContext } from './sent-context.ts';
import type { Death, StartTransport, Transport } from './transport.ts';
import { Unconfirmed } from './unconfirmed.ts';

/** What sandboxes of one executor have in common. */
export interface CellOptions {
  readonly start: StartTransport;
  /** The address of the handler's module, and the name of its export. */
  readonly module: string;
  readonly export: string;
  /** The export to take if there is none of that name. */
  readonly otherwise?: string | undefined;
  /** The whole environment, if what starts a sandbox may change it. */
  readonly env?: Readonly<Record<string, string>> | undefined;
  /** How long a handler may take to stop once its call has ended. */
  readonly killAfterMs: number;
}

/** What the pool is told. Each is called once. */
export interface CellEvents {
  ready(cell: Cell): void;
  /** It cannot be used. Before `ready`, with the fault of the calls that wait for it. */
  gone(cell: Cell, fault: Error | undefined): void;
}

/** The longest time that a sandbox may take until it has loaded the handler. */
const startTimeoutMs = 10_000;
/** The longest time that a sandbox without a call may take to give a sign of life. */
const answerTimeoutMs = 1_000;

export class Cell {
  readonly #options: CellOptions;
  readonly #events: CellEvents;
  readonly #transport: Transport;
  readonly #starting: NodeJS.Timeout;
  #phase: 'starting' | 'loading' | 'ready' | 'dead' = 'starting';
  /** It is being killed. It may still answer until it has ended. */
  #ending = false;
  #fault: Error | undefined;
  #lost: Error | undefined;
  #link: CallLink | undefined;
  readonly #last = new LastContext();
  #crash: Extract<SandboxMessage, { t: 'crashed' }> | undefined;
  readonly #unconfirmed = new Unconfirmed();
  #confirming = false;
  #answered: (() => void) | undefined;
  /** How many calls it has run. */
  calls = 0;

  /** Starts it. Throws if that is not possible here. */
  constructor(runner: string, options: CellOptions, events: CellEvents) {
    this.#options = options;
    this.#events = events;
    this.#transport = options.start(runner, {
      message: (text) => this.#message(text),
      died: (death) => this.#died(death),
    });
    this.#transport.busy(false);
    this.#starting = setTimeout(() => {
      this.kill('sandbox_ended', 'took too long to start, and was ended');
    }, startTimeoutMs);
    this.#starting.unref();
    const { module, otherwise, env } = options;
    this.#send({ t: 'load', module, export: options.export, otherwise, env });
  }

  /** Runs one call. Only after `ready`, and one at a time. */
  async run(input: JsonObject, context: ToolContext, stop: Stop): Promise<unknown> {
    // It may have died in the turn in which it was ready, before its call could begin.
    if (this.#lost !== undefined) throw this.#lost;
    this.calls++;
    const link = new CallLink(this.calls, context, {
      send: (message) => this.#send(message),
      violation: (fault) => this.#violation(fault),
    });
    this.#link = link;
    this.#transport.busy(true);
    let killing: NodeJS.Timeout | undefined;
    const stopped = (): void => {
      link.abort(stop.reason);
      killing ??= setTimeout(() => {
        this.kill('sandbox_ended', 'was ended, since the handler did not stop when its call ended');
      }, this.#options.killAfterMs);
    };
    try {
      link.start(input, this.#unconfirmed.take(), this.#last);
      if (stop.stopped) stopped();
      else stop.watch(stopped);
      return await link.settled;
    } catch (error) {
      // The call has already ended, so the end of the sandbox does not concern it.
      throw stop.stopped ? stop.reason : error;
    } finally {
      stop.unwatch(stopped);
      clearTimeout(killing);
      link.close();
      this.#link = undefined;
      if (this.#phase !== 'dead') this.#transport.busy(false);
    }
  }

  /** Asks for a sign of life, and ends it if none comes. Only without a call. */
  ask(answered: () => void): void {
    const late = setTimeout(() => {
      // If the host was busy for so long, the answer is here and not yet read.
      setImmediate(() => {
        if (this.#answered === answer)
          this.kill('sandbox_ended', 'was ended, since what an earlier call left behind blocks it');
      });
    }, answerTimeoutMs);
    late.unref();
    const answer = (): void => {
      clearTimeout(late);
      answered();
    };
    this.#answered = answer;
    this.#send({ t: 'ping' });
  }

  /** Whether it can take no call any more: it has ended, or is being ended. */
  get dead(): boolean {
    return this.#ending || this.#phase === 'dead';
  }

  /** A sandbox that is waited for keeps the host's process alive. */
  awaited(isAwaited: boolean): void {
    if (this.#phase === 'starting' || this.#phase === 'loading') this.#transport.busy(isAwaited);
  }

  kill(reason: Death['reason'], text: string): void {
    this.#ending = true;
    this.#transport.kill({ reason, text });
  }

  #send(message: HostMessage): void {
    if (this.#phase === 'dead') return undefined;
    // Code that asks and never reads the answers would fill this process's memory.
    if (this.#transport.backlog() > maxBacklog)
      return this.kill('sandbox_protocol', 'did not read what was sent to it, and was ended');
    return this.#transport.send(JSON.stringify(message));
  }

  #violation(fault: string): void {
    this.kill('sandbox_protocol', `sent ${fault}, and was ended`);
  }

  #message(text: string): void {
    if (!this.#unconfirmed.add(text))
      return this.#violation('more messages than the host can take');
    const read = readMessage(text);
    if (!read.ok) return this.#violation(read.fault);
    if (!this.#confirming && this.#unconfirmed.due) {
      this.#confirming = true;
      // In the next turn of the event loop, so that one sandbox cannot take up this turn.
      setImmediate(() => this.#confirm());
    }
    return this.#take(read.message);
  }

  #confirm(): void {
    this.#confirming = false;
    this.#send({ t: 'confirm', ...this.#unconfirmed.take() });
  }

  #take(message: SandboxMessage): void {
    switch (message.t) {
      case 'up':
        if (this.#phase !== 'starting') return this.#violation('that it is up, again');
        this.#phase = 'loading';
        return undefined;
      case 'ready':
        if (this.#phase !== 'loading') return this.#violation('that it is ready, again');
        this.#phase = 'ready';
        clearTimeout(this.#starting);
        return this.#ending ? undefined : this.#events.ready(this);
      case 'unfit': {
        if (this.#phase !== 'loading') return this.#violation('that it is unfit, too late');
        const { module, otherwise } = this.#options;
        const name = this.#options.export + (otherwise === undefined ? '' : `\` or \`${otherwise}`);
        const what =
          message.why === 'module'
            ? `could not be imported: ${message.message}`
            : `has no function as its export \`${name}\`: ${message.message}`;
        this.#fault = unloadedFault(
          message.why === 'module' ? 'module_failed' : 'handler_missing',
          `The tool's handler is not available: ${module} ${shortened(what, 1_500)}.`,
        );
        return this.kill('sandbox_ended', 'was ended');
      }
      case 'pong': {
        const answered = this.#answered;
        if (answered === undefined) return this.#violation('an answer to no question');
        this.#answered = undefined;
        return answered();
      }
      case 'crashed':
        this.#crash ??= message;
        return undefined;
      default:
        // Code that an earlier handler has left behind may still send messages about its own call.
        return this.#link?.id === message.id ? this.#link.take(message) : undefined;
    }
  }

  #died(death: Death): void {
    const phase = this.#phase;
    this.#phase = 'dead';
    this.#answered = undefined;
    clearTimeout(this.#starting);
    const told = this.#told(death);
    if (phase === 'starting')
      this.#fault ??= unavailableFault(
        'sandbox_not_started',
        `The tool's sandbox could not be started: it ${told.text}.`,
        told.cause,
      );
    else if (phase === 'loading')
      this.#fault ??= unloadedFault(
        'module_failed',
        `The tool's handler is not available: while ${this.#options.module} was imported, the ` +
          `sandbox ${told.text}.`,
        told.cause,
      );
    this.#lost = lostFault(told);
    this.#link?.died(this.#lost);
    this.#events.gone(this, this.#fault);
  }

  /** Why it died, with its last words. */
  #told(death: Death): Death {
    const crash = this.#crash;
    if (
      crash === undefined ||
      (death.reason !== 'sandbox_exited' && death.reason !== 'sandbox_crashed')
    )
      return death;
    const { name, message, stack } = crash.error;
    const what = crash.rejection
      ? 'a rejection that nobody handled'
      : 'an error that nobody caught';
    return {
      reason: 'sandbox_crashed',
      text: `ended because of ${what}: ${shortened(message === '' ? name : message, 500)}`,
      cause: death.cause ?? Object.assign(new Error(message), { name, stack }),
    };
  }
}
