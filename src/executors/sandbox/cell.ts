/**
 * One sandbox of a pool, called a cell. It starts, loads the handler, and runs one call at a
 * time.
 */
import type { JsonObject, ToolContext } from '../../core.ts';
import type { RunningCall } from '../../extend.ts';
import { shortened } from '../../values/text/characters.ts';
import { CallLink } from './call-link.ts';
import { lostFault, unavailableFault, unloadedFault } from './fault.ts';
import { type HostMessage, maxBacklog, type SandboxMessage } from './messages.ts';
import { readMessage } from './read-message.ts';
import { LastContext } from './sent-context.ts';
import type { Death, StartTransport, Transport } from './transport.ts';
import { Unconfirmed } from './unconfirmed.ts';

/** What all sandboxes of an executor have in common. */
export interface CellOptions {
  readonly start: StartTransport;
  /** The address of the handler's module, and the name of its export. */
  readonly module: string;
  readonly export: string;
  /** The export to use if the module has none named `export`. */
  readonly otherwise?: string | undefined;
  /**
   * The whole environment. Given only if the program that starts the sandbox may change it, so that
   * the sandbox has to set it again.
   */
  readonly env?: Readonly<Record<string, string>> | undefined;
  /**
   * Milliseconds that a handler may run on after its call has ended. Then the sandbox is killed.
   */
  readonly killAfterMs: number;
}

/** The reports of a cell to its pool. Each is called at most once. */
export interface CellEvents {
  /** The handler is loaded, so the cell can take a call. */
  ready(cell: Cell): void;
  /**
   * The cell has ended. If it was never ready, `fault` is the error for a call that waits for it.
   */
  gone(cell: Cell, fault: Error | undefined): void;
}

/** Milliseconds that a sandbox may take to start and to load the handler. */
const startTimeoutMs = 10_000;
/** Milliseconds that a sandbox without a call may take to answer a `ping`. */
const answerTimeoutMs = 1_000;

export class Cell {
  readonly #options: CellOptions;
  readonly #events: CellEvents;
  readonly #transport: Transport;
  readonly #starting: NodeJS.Timeout;
  #phase: 'starting' | 'loading' | 'ready' | 'dead' = 'starting';
  /** It is being killed. Until it has ended, it may still send messages. */
  #ending = false;
  #fault: Error | undefined;
  #lost: Error | undefined;
  #link: CallLink | undefined;
  readonly #last = new LastContext();
  #crash: Extract<SandboxMessage, { t: 'crashed' }> | undefined;
  readonly #unconfirmed = new Unconfirmed();
  #confirming = false;
  #answered: (() => void) | undefined;
  /** The number of calls that it has run, including the present one. */
  calls = 0;

  /** Starts the sandbox. Throws if this system cannot start one. */
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

  /** Runs one call. Must be called only after `ready`, and not while another call runs. */
  async run(input: JsonObject, context: ToolContext, stop: RunningCall): Promise<unknown> {
    // The sandbox may have died between `ready` and this call.
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
      // If the call has ended already, it has that reason, and not the end of the sandbox.
      throw stop.stopped ? stop.reason : error;
    } finally {
      stop.unwatch(stopped);
      clearTimeout(killing);
      link.close();
      this.#link = undefined;
      if (this.#phase !== 'dead') this.#transport.busy(false);
    }
  }

  /**
   * Sends a `ping`, and kills the sandbox if it does not answer in time. Code that an earlier call
   * has left behind may block it. Must not be called while a call runs, because a handler may
   * block the sandbox for as long as it needs.
   * @param answered called when the sandbox has answered
   */
  ask(answered: () => void): void {
    const late = setTimeout(() => {
      // If this process itself was busy for so long, the answer has arrived and was not read yet.
      // One more turn of the event loop reads it.
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

  /** Whether it has ended or is being killed, so that it can take no more calls. */
  get dead(): boolean {
    return this.#ending || this.#phase === 'dead';
  }

  /** While a call waits for a sandbox that starts, that sandbox keeps the process alive. */
  awaited(isAwaited: boolean): void {
    if (this.#phase === 'starting' || this.#phase === 'loading') this.#transport.busy(isAwaited);
  }

  kill(reason: Death['reason'], text: string): void {
    this.#ending = true;
    this.#transport.kill({ reason, text });
  }

  #send(message: HostMessage): void {
    if (this.#phase === 'dead') return undefined;
    // A handler that asks questions and never reads the answers would fill the memory of this
    // process.
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
      // In the next turn of the event loop: otherwise a sandbox that sends many messages could keep
      // this process busy without a break.
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
        // Work that an earlier handler has left running may still send messages about its own call.
        // They are ignored.
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

  /** The reason for its death, with the error that it reported before, if there was one. */
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
