/** The questions of a handler in a sandbox to the host, and their answers. */
import type { JsonObject, JsonValue } from '../../../values/json/index.ts';
import {
  type AskKind,
  type HostMessage,
  maxAsks,
  maxErrorText,
  type SentError,
} from '../messages.ts';
import type { Outbox } from './outbox.ts';

/** A question before it gets a number. */
export interface Question {
  readonly kind: AskKind;
  readonly name: string;
  readonly input: JsonValue;
  readonly options: JsonObject;
  /** Withdraws the question. */
  readonly signal?: AbortSignal | undefined;
}

interface Waiting {
  resolve(value: JsonValue): void;
  reject(error: Error): void;
}

export class Asks {
  readonly #id: number;
  readonly #outbox: Outbox;
  readonly #waiting = new Map<number, Waiting>();
  /** The questions that wait because the host already has as many as it takes at once. */
  readonly #later: (() => void)[] = [];
  #last = 0;

  constructor(id: number, outbox: Outbox) {
    this.#id = id;
    this.#outbox = outbox;
  }

  ask({ kind, name, input, options, signal }: Question): Promise<JsonValue> {
    return new Promise((resolve, reject) => {
      const send = (): void => {
        const ask = ++this.#last;
        this.#waiting.set(ask, { resolve, reject });
        this.#outbox.send({ t: 'ask', id: this.#id, ask, kind, name, input, options });
        const withdraw = (): void => {
          if (this.#waiting.has(ask)) this.#outbox.send({ t: 'unask', id: this.#id, ask });
        };
        if (signal?.aborted === true) withdraw();
        else signal?.addEventListener('abort', withdraw, { once: true });
      };
      if (this.#waiting.size < maxAsks) send();
      else this.#later.push(send);
    });
  }

  answered({ ask, value, error }: Extract<HostMessage, { t: 'answer' }>): void {
    const waiting = this.#waiting.get(ask);
    if (!this.#waiting.delete(ask)) return;
    this.#later.shift()?.();
    if (error !== undefined) waiting?.reject(receivedError(error));
    else waiting?.resolve(value ?? null);
  }
}

// Errors as data, for the messages between the host and a sandbox.

/** Copies the parts of a thrown value that are sent. Never throws. */
export function sentError(thrown: unknown): SentError {
  const message = read(thrown, 'message');
  const stack = read(thrown, 'stack');
  const isText = typeof thrown === 'string';
  return {
    name: (read(thrown, 'name') ?? (isText ? 'Error' : typeof thrown)).slice(0, 200),
    message: (message ?? (isText ? thrown : '')).slice(0, maxErrorText),
    stack: stack?.slice(0, maxErrorText),
  };
}

/** Makes an error from the parts of one that was sent. */
export function receivedError({ name, message }: SentError): Error {
  if (name === 'AbortError' || name === 'TimeoutError') return new DOMException(message, name);
  const error = new Error(message);
  if (name !== 'Error') Object.defineProperty(error, 'name', { value: name, configurable: true });
  return error;
}

function read(thrown: unknown, name: string): string | undefined {
  try {
    if (typeof thrown !== 'object' || thrown === null) return undefined;
    const value = (thrown as Record<string, unknown>)[name];
    return typeof value === 'string' ? value : undefined;
  } catch {
    return undefined;
  }
}
