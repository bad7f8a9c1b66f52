/** The questions of a handler in a sandbox to the host, and their answers. */
import type { JsonObject, JsonValue } from '../../../values/json/index.ts';
import { type AskKind, type HostMessage, maxAsks } from '../messages.ts';
import type { Outbox } from './outbox.ts';
import { receivedError } from './sent-error.ts';

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
