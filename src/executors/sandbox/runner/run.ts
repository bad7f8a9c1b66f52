/** One call inside a sandbox, from its input to its result. */

import { type HandlerOutcome, readOutcome } from '../../../core/result.ts';
import { isContentValue } from '../../../values/content.ts';
import { copyJson, isJsonObject, type JsonObject } from '../../../values/json/index.ts';
import { className, losesData } from '../../../values/json/lost-data.ts';
import { excessOf } from '../../../values/text/json-bounds.ts';
import {
  type HostMessage,
  maxErrorText,
  maxMessage,
  maxMessageDepth,
  maxMessageValues,
  type SandboxMessage,
  type SentError,
  valueLimits,
} from '../messages.ts';
import { Asks, receivedError, sentError } from './asks.ts';
import { type ContextPort, SandboxContext, tooLong } from './context.ts';
import type { Outbox } from './outbox.ts';

/** A handler as its module exports it. */
export type SandboxedHandler = (input: JsonObject, context: SandboxContext) => unknown;

type RunMessage = Extract<HostMessage, { t: 'run' }>;
type AnswerMessage = Extract<HostMessage, { t: 'answer' }>;

/** The limits on the data of events. The host has the same ones. */
const eventLimits = { maxDepth: 64, maxValues: 10_000, maxChars: 65_536 };

const messageBounds = { maxDepth: maxMessageDepth, maxValues: maxMessageValues };

/** What a run needs in addition to its message. */
export interface RunExtras {
  readonly services: unknown;
}

export class Run implements ContextPort {
  readonly #message: RunMessage;
  readonly #outbox: Outbox;
  readonly #extras: RunExtras | undefined;
  #asks: Asks | undefined;
  #abort: AbortController | undefined;
  #aborted: Error | undefined;

  constructor(message: RunMessage, outbox: Outbox, extras?: RunExtras) {
    this.#message = message;
    this.#outbox = outbox;
    this.#extras = extras;
  }

  get signal(): AbortSignal {
    this.#abort ??= new AbortController();
    if (this.#aborted !== undefined) this.#abort.abort(this.#aborted);
    return this.#abort.signal;
  }

  abort(reason: SentError): void {
    this.#aborted = receivedError(reason);
    this.#abort?.abort(this.#aborted);
  }

  answered(message: AnswerMessage): void {
    this.#asks?.answered(message);
  }

  get asks(): Asks {
    this.#asks ??= new Asks(this.#message.id, this.#outbox);
    return this.#asks;
  }

  get services(): unknown {
    if (this.#extras !== undefined) return this.#extras.services;
    throw new TypeError(
      'Expected no use of `context.services` in a sandbox: live objects cannot cross its ' +
        'boundary. Pass data as input, or call a tool of the host with `context.tools.call`.',
    );
  }

  progress(done: unknown, total: unknown, message: unknown): void {
    this.#outbox.send({
      t: 'progress',
      id: this.#message.id,
      // JSON writes `NaN` and infinities as null.
      done: typeof done === 'number' ? done : null,
      total: typeof total === 'number' && Number.isFinite(total) ? total : undefined,
      message: typeof message === 'string' ? message.slice(0, eventLimits.maxChars) : undefined,
    });
  }

  emit(name: unknown, data: unknown, log?: true): void {
    if (typeof name !== 'string') return;
    const { id } = this.#message;
    const event = { t: 'emit', id, name: name.slice(0, 1_024), log } as const;
    if (data === undefined) return this.#outbox.send(event);
    const copy = copyJson(data, eventLimits);
    if (copy.ok && !copy.overflow) return this.#outbox.send({ ...event, data: copy.value });
    const tooLarge = copy.ok || copy.fault === 'too_large';
    this.#outbox.send({ ...event, lost: tooLarge ? 'too_large' : 'not_json' });
  }

  /** Runs the handler to its end. Never rejects. */
  async start(handler: SandboxedHandler): Promise<void> {
    const { input, context } = this.#message;
    try {
      const value = await handler(input, new SandboxContext(context, this));
      this.#returned(isGenerator(value) ? await this.#drive(value) : value);
    } catch (error) {
      this.#outbox.send({ t: 'threw', id: this.#message.id, error: sentError(error) });
    }
  }

  /** Runs a generator to its end. Its yielded values are progress, as without a sandbox. */
  async #drive(generator: AsyncGenerator): Promise<unknown> {
    for (;;) {
      const step = await generator.next();
      if (step.done === true) return step.value;
      if (this.#aborted !== undefined) {
        void generator.return(undefined).then(undefined, () => undefined);
        throw this.#aborted;
      }
      const value: unknown = step.value;
      if (typeof value === 'string') this.progress(0, undefined, value);
      else if (isJsonObject(value) && typeof value.done === 'number')
        this.progress(value.done, value.total, value.message);
      else {
        this.progress(Number.NaN, undefined, undefined);
        if (value !== undefined) this.emit('yield', value);
      }
    }
  }

  #returned(value: unknown): void {
    let outcome: HandlerOutcome | undefined;
    try {
      outcome = readOutcome(value);
    } catch {
      // The value is a revoked proxy. The copy reports it.
    }
    const { id } = this.#message;
    if (outcome?.kind === 'fail')
      return this.#finish({ t: 'returned', id, kind: 'fail', value: outcome.failure as never });
    const output = outcome === undefined ? value : outcome.output;
    const copy = copyJson(output, { ...valueLimits, losesData });
    if (!copy.ok) {
      const reason = copy.fault === 'not_json' ? 'not_json' : 'output_too_large';
      return this.#unreturnable(reason, copy.path, copy.message);
    }
    if (copy.overflow) return this.#unreturnable('output_too_large', '', tooLong);
    return this.#finish({
      t: 'returned',
      id,
      kind: outcome === undefined ? 'value' : 'ok',
      value: copy.value,
      metadata: outcome?.metadata,
      content: isContentValue(output) ? true : undefined,
      lost: copy.lost === undefined ? undefined : className(copy.lost),
    });
  }

  #finish(message: SandboxMessage): void {
    const text = JSON.stringify(message);
    if (Buffer.byteLength(text) > maxMessage)
      return this.#unreturnable('output_too_large', '', tooLong);
    if (excessOf(text, messageBounds) !== undefined)
      return this.#unreturnable('output_too_large', '', 'more values than the limit allows');
    return this.#outbox.sendText(text);
  }

  #unreturnable(reason: 'not_json' | 'output_too_large', path: string, message: string): void {
    this.#outbox.send({
      t: 'unreturnable',
      id: this.#message.id,
      reason,
      path: path.slice(0, maxErrorText),
      message: message.slice(0, 1_000),
    });
  }
}

function isGenerator(value: unknown): value is AsyncGenerator {
  if (typeof value !== 'object' || value === null) return false;
  const { next, return: close } = value as { next?: unknown; return?: unknown };
  return (
    typeof next === 'function' &&
    typeof close === 'function' &&
    (Symbol.asyncIterator in value || Symbol.iterator in value)
  );
}
