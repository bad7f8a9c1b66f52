/** The hub that delivers events in order. Listeners cannot affect each other. */
import { EventEmitter } from 'eventemitter3';
import type { Emitter, EventType, ToolEvents } from '../api/events.ts';
import { describe, MisuseError } from '../values/errors/index.ts';
import { deepFreeze } from '../values/json/index.ts';
import { isThenable } from '../values/maybe-promise.ts';

type Listener = (event: never) => unknown;

/** The listeners of one session, or of the registry. */
export class EventHub implements Emitter<ToolEvents> {
  readonly #emitter = new EventEmitter();
  readonly #onListenerError: (error: unknown, type: string) => void;
  readonly #onSubscribe: ((type: string) => void) | undefined;
  readonly #queue: [EventType, object][] = [];
  #delivering = false;
  /**
   * The numbers of listeners of all events, of each type, and in total. Kept here because they are
   * read several times per event.
   */
  #toAll = 0;
  readonly #toOne = new Map<string, number>();
  #listeners = 0;

  constructor(
    onListenerError: (error: unknown, type: string) => void,
    onSubscribe?: (type: string) => void,
  ) {
    this.#onListenerError = onListenerError;
    this.#onSubscribe = onSubscribe;
  }

  on(type: string, listener: Listener): () => void {
    if (typeof listener !== 'function')
      throw new MisuseError(
        'invalid_option',
        `Expected the listener of \`${type}\` to be a function, got ${describe(listener)}.`,
      );
    const guarded = (event: unknown): void => {
      try {
        const answer = listener(event as never);
        if (isThenable(answer))
          void Promise.resolve(answer).then(undefined, (error: unknown) =>
            this.#onListenerError(error, type),
          );
      } catch (error) {
        this.#onListenerError(error, type);
      }
    };
    this.#emitter.on(type, guarded);
    this.#count(type, 1);
    let there = true;
    this.#onSubscribe?.(type);
    return () => {
      if (!there) return;
      there = false;
      this.#count(type, -1);
      this.#emitter.off(type, guarded);
    };
  }

  #count(type: string, change: 1 | -1): void {
    this.#listeners += change;
    if (type === '*') this.#toAll += change;
    else {
      const count = (this.#toOne.get(type) ?? 0) + change;
      // Any name can be subscribed to, so a name without listeners is not kept.
      if (count > 0) this.#toOne.set(type, count);
      else this.#toOne.delete(type);
    }
  }

  /** The number of listeners. */
  get size(): number {
    return this.#listeners;
  }

  /** Whether an event of this type has a listener. */
  hasListener(type: EventType): boolean {
    return this.audience(type) > 0;
  }

  /** The number of listeners that an event of this type has. */
  audience(type: EventType): number {
    return this.#listeners === 0 ? 0 : this.#toAll + (this.#toOne.get(type) ?? 0);
  }

  /**
   * Delivers events in order, even if a listener causes further events. The event contains its
   * type.
   */
  emit(type: EventType, event: object): void {
    if (this.#listeners === 0) return;
    if (this.#delivering) {
      // Frozen, since it may have several listeners by the time it is delivered.
      this.#queue.push([type, deepFreeze(event)]);
      return;
    }
    this.#delivering = true;
    try {
      this.#deliver(type, event);
      for (let next = this.#queue.shift(); next !== undefined; next = this.#queue.shift())
        this.#deliver(next[0], next[1]);
    } finally {
      this.#delivering = false;
    }
  }

  #deliver(type: EventType, event: object): void {
    // Read first, so that a listener that subscribes during delivery does not get this event.
    const all = this.#toAll > 0;
    if (this.#toOne.size > 0) this.#emitter.emit(type, event);
    if (all) this.#emitter.emit('*', event);
  }
}
