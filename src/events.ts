/**
 * The one typed map of events, and the hub that delivers them: in order, isolated, built only when
 * somebody listens.
 */
import { EventEmitter } from 'eventemitter3';
import type { ApprovalRequest } from './approval/request.ts';
import { describe, MisuseError, type ToolError } from './errors.ts';
import { deepFreeze, type JsonValue } from './json.ts';
import type { Effect } from './policy/decision.ts';

/** What every event of a session carries. */
export interface EventBase {
  /** The session that it happened in. */
  readonly sessionId: string;
  /** Epoch milliseconds by the registry's `now`. */
  readonly at: number;
  /** Grows by one with each event of the session. */
  readonly seq: number;
}
/**
 * What was changed when a listing changed: the registry's tools, a session's own tools, its profile
 * (or what that profile says), its overrides, its facts, or rules.
 */
export type ChangeReason = 'registry' | 'session' | 'profile' | 'overrides' | 'facts' | 'rules';

interface CallEvent extends EventBase {
  readonly toolName: string;
  readonly callId: string;
}

/**
 * Every event and its payload. Payloads are JSON-safe copies, frozen to the bottom where several
 * listeners hear the event, so that none changes what another reads. Secrets are redacted.
 */
export interface ToolEvents {
  /** A call came in; `input` is what was sent. */
  'tool:pre': CallEvent & {
    /** What was sent, with its secrets redacted. */
    readonly input: JsonValue;
    /** 1 for the first attempt of this call. */
    readonly attempt: number;
    /** The call whose handler made this one. */
    readonly parentCallId?: string;
    /** The surface that the call came through, such as `mcp`. */
    readonly surface?: string;
  };
  /** A call succeeded. */
  'tool:post': CallEvent & { readonly result: JsonValue; readonly durationMs: number };
  /** A call ended in any other way, a suspension too. */
  'tool:error': CallEvent & {
    /** Why the call ended. */
    readonly error: ToolError;
    /** The status that the record of the call has. */
    readonly status: string;
    /** Milliseconds since the call came in. */
    readonly durationMs: number;
  };
  /** What `context.progress` reported, and what a generator yielded as progress. */
  'tool:progress': CallEvent & {
    /** How much is done, in the unit of the tool. */
    readonly done: number;
    /** How much there is in all, where the tool knows it. */
    readonly total?: number;
    /** What the tool says about it. */
    readonly message?: string;
  };
  /** What `context.emit` sent. */
  'tool:event': CallEvent & { readonly name: string; readonly data?: JsonValue };
  /** A handler settled after its call had ended. */
  'tool:late': CallEvent & { readonly settled: 'returned' | 'threw'; readonly afterMs: number };
  /** The verdict of all gates together. */
  'policy:check': CallEvent & {
    /** What the gates decided. */
    readonly effect: Effect;
    /** The rule that decided it. */
    readonly ruleId?: string;
    /** The layer that decided it, such as `rule` or `profile`. */
    readonly source?: string;
    /** Why, for a person. */
    readonly reason?: string;
  };
  /** A denial; `tool:error` follows. */
  'policy:violation': CallEvent & {
    /** Why, for a person. */
    readonly reason: string;
    /** The rule that denied it. */
    readonly ruleId?: string;
    /** The layer that denied it. */
    readonly source?: string;
  };
  /** A person is asked, or the call is suspended until one answers. */
  'approval:required': EventBase & { readonly request: ApprovalRequest };
  /** The answer was yes, by a person or by a standing grant; the call goes on. */
  'approval:granted': CallEvent & { readonly approvalId: string; readonly by?: string };
  /** The answer was no, or none came in time; `tool:error` follows. */
  'approval:denied': CallEvent & {
    /** The approval that was asked for. */
    readonly approvalId: string;
    /** A stable word: who or what said no. */
    readonly reason: string;
    /** Who answered. */
    readonly by?: string;
    /** What that person wrote. */
    readonly message?: string;
  };
  /**
   * A session was made. Heard on the registry: nobody can listen on a session before it is made.
   */
  'session:start': EventBase;
  /** A session closed, once everything in it has ended. */
  'session:end': EventBase;
  /**
   * On the registry: what changed there. On a session: what it sees change. `reason` says what was
   * changed to bring it about.
   */
  'tools:changed': {
    /** Epoch milliseconds by the registry's `now`. */
    readonly at: number;
    /** Names that are there now and were not. */
    readonly added: readonly string[];
    /** Names that were there and are no more. */
    readonly removed: readonly string[];
    /** Names whose definition is another one. */
    readonly modified: readonly string[];
    /** What was changed to bring it about. */
    readonly reason: ChangeReason;
  };
}
/** The name of an event, without `*`. */
export type EventType = keyof ToolEvents;
/** Any event with its type, as `on("*", …)` gets it. */
export type AnyEvent = { [K in EventType]: { readonly type: K } & ToolEvents[K] }[EventType];

/** How events are heard. A listener that throws or rejects affects nothing; it is logged. */
export interface Emitter<M> {
  /**
   * Returns the unsubscribe function. @throws MisuseError `invalid_option` for a listener that is
   * no function.
   */
  on<K extends keyof M>(type: K, listener: (event: M[K]) => void): () => void;
  on(
    type: '*',
    listener: (event: { [K in keyof M]: { readonly type: K } & M[K] }[keyof M]) => void,
  ): () => void;
}

type Listener = (event: never) => unknown;

/** One session's or the registry's listeners. */
export class EventHub implements Emitter<ToolEvents> {
  readonly #emitter = new EventEmitter();
  readonly #onListenerError: (error: unknown, type: string) => void;
  readonly #onSubscribe: ((type: string) => void) | undefined;
  readonly #queue: [EventType, object][] = [];
  #delivering = false;
  /**
   * How many listen to all events, to each type, and altogether: asked several times for each
   * event, so counted here.
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
        if (
          typeof answer === 'object' &&
          answer !== null &&
          typeof (answer as { then?: unknown }).then === 'function'
        ) {
          void Promise.resolve(answer as PromiseLike<unknown>).then(undefined, (error: unknown) =>
            this.#onListenerError(error, type),
          );
        }
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
      // Any name may be listened to; none is kept longer than its listeners.
      if (count > 0) this.#toOne.set(type, count);
      else this.#toOne.delete(type);
    }
  }

  /** How many listen, whatever to. */
  get size(): number {
    return this.#listeners;
  }

  /** Whether an event of this type would be heard. */
  hears(type: EventType): boolean {
    return this.audience(type) > 0;
  }

  /** How many listeners would hear an event of this type. */
  audience(type: EventType): number {
    return this.#listeners === 0 ? 0 : this.#toAll + (this.#toOne.get(type) ?? 0);
  }

  /** Delivers in order, also when a listener causes further events. The event carries its type. */
  emit(type: EventType, event: object): void {
    if (this.#listeners === 0) return;
    if (this.#delivering) {
      // By the time it is told, others may listen.
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
    // Counted first: who subscribes while an event is told does not hear that one.
    const all = this.#toAll > 0;
    if (this.#toOne.size > 0) this.#emitter.emit(type, event);
    if (all) this.#emitter.emit('*', event);
  }
}
