/**
 * The host's end of one call in a sandbox: it forwards the handler's reports, and answers what the
 * handler asks for.
 */

import {
  type CallOptions,
  fail,
  type JsonObject,
  type JsonValue,
  type LogLevel,
  ok,
  type ToolContext,
} from '../../core.ts';
import { type RunningCall, runningCall } from '../../extend.ts';
import { makePart } from '../../values/content.ts';
import type { ContentPart } from '../../values/content-parts.ts';
import { errorName, messageOf } from '../../values/errors/index.ts';
import { isJsonObject, ownMember } from '../../values/json/index.ts';
import { lostInSandbox } from '../../values/json/lost-data.ts';
import { shortened } from '../../values/text/characters.ts';
import { unreturnableFault } from './fault.ts';
import {
  type HostMessage,
  maxAsks,
  maxErrorText,
  type SandboxMessage,
  type SentError,
} from './messages.ts';
import { type LastContext, sentCall, sentContext } from './sent-context.ts';
import type { Confirmation } from './unconfirmed.ts';

/** The part of a sandbox that a call uses. */
export interface LinkOwner {
  send(message: HostMessage): void;
  /** Reports a breach of the protocol. `fault` completes the sentence "The sandbox sent …". */
  violation(fault: string): void;
}

/** A message of a sandbox that belongs to a call. */
export type CallMessage = Extract<SandboxMessage, { id: number }>;
type Ask = Extract<SandboxMessage, { t: 'ask' }>;
type Returned = Extract<SandboxMessage, { t: 'returned' }>;

const textOptions = ['callId', 'idempotencyKey', 'resourceKey'] as const;

export class CallLink {
  readonly id: number;
  /** Settles with the outcome of the handler. Rejects if the sandbox dies first. */
  readonly settled: Promise<unknown>;
  readonly #context: ToolContext;
  readonly #stop: RunningCall;
  readonly #owner: LinkOwner;
  /** The open questions of the handler. Undefined for most calls, because they ask none. */
  #asks: Map<number, AbortController> | undefined;
  #resolve!: (value: unknown) => void;
  #reject!: (error: unknown) => void;
  #done = false;

  constructor(id: number, context: ToolContext, owner: LinkOwner) {
    this.id = id;
    this.#context = context;
    this.#stop = runningCall(context);
    this.#owner = owner;
    this.settled = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
  }

  /**
   * Sends the call. Throws if its knobs cannot be sent.
   * @param read what the host has read and not confirmed yet
   * @param last the context that the receiver got last, if the receiver keeps it
   */
  start(input: JsonObject, read: Confirmation, last?: LastContext): void {
    const { id } = this;
    const context = this.#context;
    if (last?.fits(context) === true)
      return this.#owner.send({ t: 'next', id, input, call: sentCall(context), ...read });
    this.#owner.send({ t: 'run', id, input, context: sentContext(context), ...read });
    return last?.keep(context);
  }

  /** Aborts the signal of the handler, because its call has ended. */
  abort(reason: unknown): void {
    this.#owner.send({ t: 'abort', id: this.id, reason: sentError(reason) });
  }

  died(fault: Error): void {
    this.#reject(fault);
  }

  /** Withdraws the questions that the handler has not got answers to. */
  close(): void {
    this.#done = true;
    const asks = this.#asks;
    this.#asks = undefined;
    if (asks !== undefined) for (const ask of asks.values()) ask.abort();
  }

  take(message: CallMessage): void {
    // Only the first outcome counts. Later messages are ignored.
    if (this.#done) return undefined;
    const context = this.#context;
    switch (message.t) {
      case 'progress':
        return this.#stop.within(() =>
          context.progress(message.done ?? Number.NaN, message.total, message.message),
        );
      case 'emit':
        return this.#stop.within(() => this.#emit(message));
      case 'ask':
        return this.#stop.within(() => this.#ask(message));
      case 'unask':
        return this.#asks?.get(message.ask)?.abort();
      case 'returned':
        this.#done = true;
        try {
          return this.#resolve(returnedValue(message));
        } catch (error) {
          return this.#reject(error);
        }
      case 'unreturnable': {
        this.#done = true;
        const { reason, path } = message;
        const text = shortened(message.message, 1_000);
        return this.#reject(unreturnableFault(reason, shortened(path, maxErrorText), text));
      }
      case 'threw':
        this.#done = true;
        return this.#reject(receivedError(message.error));
    }
  }

  #emit({ name, data, log, lost }: Extract<SandboxMessage, { t: 'emit' }>): void {
    // The context drops data that is not JSON or is too long, and logs it. The sandbox could not
    // send such data, so something with the same fault is passed on in its place.
    const sent: unknown =
      lost === 'not_json' ? () => {} : lost === 'too_large' ? ' '.repeat(65_537) : data;
    if (log !== true) return this.#context.emit(name, sent as JsonValue);
    const line = isJsonObject(sent) ? sent : {};
    return this.#context.log(
      ownMember(line, 'level') as LogLevel,
      (ownMember(line, 'data') ?? null) as never,
    );
  }

  #ask(message: Ask): void {
    const { ask } = message;
    this.#asks ??= new Map();
    const asks = this.#asks;
    if (asks.has(ask)) return this.#owner.violation('a question twice');
    if (asks.size >= maxAsks) return this.#owner.violation('too many questions at once');
    const controller = new AbortController();
    asks.set(ask, controller);
    const answer = (value: JsonValue | undefined, error: SentError | undefined): void => {
      if (this.#asks?.delete(ask) === true)
        this.#owner.send({ t: 'answer', id: this.id, ask, value, error });
    };
    // `#answerOf` is async, so an error that is thrown at once becomes an answer too.
    void this.#answerOf(message, controller.signal).then(
      (value) => answer(value as JsonValue, undefined),
      (error: unknown) => answer(undefined, sentError(error)),
    );
  }

  async #answerOf({ kind, name, input, options }: Ask, signal: AbortSignal): Promise<unknown> {
    const { client, tools } = this.#context;
    if (kind === 'tool') return tools.call(name, input, callOptions(options, signal));
    const question = client?.[kind] as ((request: JsonValue) => Promise<unknown>) | undefined;
    if (question === undefined) throw new TypeError(`The agent's client has no \`${kind}\`.`);
    return question.call(client, input);
  }
}

/** Reads the options of a child call. A sandbox may not set others, such as the surface. */
function callOptions(given: JsonObject, signal: AbortSignal): CallOptions {
  const options: { -readonly [K in keyof CallOptions]: CallOptions[K] } = { signal };
  for (const name of textOptions) {
    const value = ownMember(given, name);
    if (typeof value === 'string') options[name] = value;
  }
  const timeoutMs = ownMember(given, 'timeoutMs');
  if (typeof timeoutMs === 'number') options.timeoutMs = timeoutMs;
  return options;
}

function returnedValue({ kind, value, metadata, content, lost }: Returned): unknown {
  if (kind === 'fail') {
    const failure = isJsonObject(value) ? value : {};
    return fail({
      message: textOf(ownMember(failure, 'message')) ?? '',
      ...pick(failure, 'reason', textOf),
      ...pick(failure, 'details', (details) => details),
      ...pick(failure, 'retryable', (is) => (typeof is === 'boolean' ? is : undefined)),
    });
  }
  const output = content === true ? asContent(value) : value;
  if (lost !== undefined && typeof output === 'object' && output !== null)
    Object.defineProperty(output, lostInSandbox, { value: shortened(lost, 100) });
  return kind === 'ok' ? ok(output, metadata) : output;
}

function pick<T>(
  from: JsonObject,
  name: string,
  read: (value: JsonValue | undefined) => T | undefined,
): Record<string, T> {
  const value = read(ownMember(from, name));
  return value === undefined ? {} : { [name]: value };
}

function textOf(value: JsonValue | undefined): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

/** Content parts, as `content` makes them. A value without their form stays plain JSON. */
function asContent(value: JsonValue): unknown {
  const partOf = (one: JsonValue): unknown =>
    isJsonObject(one) ? makePart(one as ContentPart) : one;
  return Array.isArray(value) ? value.map(partOf) : partOf(value);
}

function sentError(thrown: unknown): SentError {
  return {
    name: shortened(errorName(thrown), 200),
    message: shortened(messageOf(thrown), maxErrorText),
  };
}

/**
 * Makes an error like the one that the handler threw, with the stack that it had in the sandbox.
 */
function receivedError({ name, message, stack }: SentError): Error {
  const error = new Error(message);
  const define = (member: string, value: string): void => {
    Object.defineProperty(error, member, { value, configurable: true, writable: true });
  };
  if (name !== 'Error') define('name', name);
  define('stack', stack ?? `${name}: ${message}`);
  return error;
}
