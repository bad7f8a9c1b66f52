/**
 * The messages between the host and a sandbox: their types and their limits. Both sides use this
 * file. Each message is one JSON text, and `t` is its type.
 */
import type { CopyLimits, JsonObject, JsonValue } from '../../values/json/index.ts';

/** The longest message that a sandbox may send, in characters, or in bytes where bytes are sent. */
export const maxMessage = 4 * 1024 * 1024;
/** The most values in a message of a sandbox, counted as `json-bounds` does. */
export const maxMessageValues = 150_000;
/** The deepest nesting of what a sandbox may send. */
export const maxMessageDepth = 520;
/** The most messages that a sandbox may send before the host has confirmed earlier ones. */
export const maxUnconfirmed = 256;
/** The host sends a `confirm` after this many messages, or after more than this size. */
export const confirmEvery = 64;
export const confirmSize = maxMessage / 4;
/**
 * The largest size of all unconfirmed messages together, unless there is only one. The longest
 * message must be allowed to follow those that the host does not have to confirm yet.
 */
export const maxUnconfirmedSize = maxMessage + confirmSize;
/** The most bytes that the host keeps for a sandbox that does not read, before one more message. */
export const maxBacklog = 64 * 1024 * 1024;
/** The most child calls and questions of one handler that may wait for their answers at once. */
export const maxAsks = 64;
/** The most characters that are sent of an error's message, and of its stack. */
export const maxErrorText = 8_192;

/** Limits of the copies that a sandbox makes of what it sends. */
export const valueLimits: CopyLimits = {
  maxDepth: 512,
  maxValues: 140_000,
  maxChars: maxMessage,
};

/** The members of a context that differ from call to call. */
export interface SentCall {
  readonly callId: string;
  readonly deadline?: number | undefined;
  readonly idempotencyKey: string;
  /** Those that the tool asks for. Nothing of them is in the environment of the sandbox. */
  readonly credentials?: readonly SentCredential[] | undefined;
}

/** A credential as data. */
export interface SentCredential {
  readonly name: string;
  readonly token: string;
  readonly expiresAt?: number | undefined;
}

/** The members of a context that are sent as data. */
export interface SentContext extends SentCall {
  readonly sessionId: string;
  readonly cwd: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly metadata: JsonObject;
  readonly principal?: string | undefined;
  readonly toolName: string;
  readonly knobs: JsonValue;
  /** Whether the agent's client answers such questions. */
  readonly sample: boolean;
  readonly elicit: boolean;
}

/** An error as data. */
export interface SentError {
  readonly name: string;
  readonly message: string;
  readonly stack?: string | undefined;
}

/** What the host sends. */
export type HostMessage =
  | {
      readonly t: 'load';
      readonly module: string;
      readonly export: string;
      /** The export to use if the module has none named `export`. */
      readonly otherwise?: string | undefined;
      /** The whole environment. Given only if the program that starts the sandbox may change it. */
      readonly env?: Readonly<Record<string, string>> | undefined;
    }
  | {
      readonly t: 'run';
      readonly id: number;
      readonly input: JsonObject;
      readonly context: SentContext;
      /**
       * As in a `confirm`: every call begins with everything confirmed, so that what an earlier
       * call has sent does not count against it.
       */
      readonly count: number;
      readonly size: number;
    }
  /** A `run` with the context of the last one, except for the members of {@link SentCall}. */
  | {
      readonly t: 'next';
      readonly id: number;
      readonly input: JsonObject;
      readonly call: SentCall;
      readonly count: number;
      readonly size: number;
    }
  | { readonly t: 'abort'; readonly id: number; readonly reason: SentError }
  | {
      readonly t: 'answer';
      readonly id: number;
      readonly ask: number;
      /** The answer. If there is none, `error` says why. */
      readonly value?: JsonValue | undefined;
      readonly error?: SentError | undefined;
    }
  /** Asks the sandbox to answer with a `pong`, which shows that nothing blocks it. */
  | { readonly t: 'ping' }
  /** The host has read `count` more messages, whose sizes add up to `size`. */
  | { readonly t: 'confirm'; readonly count: number; readonly size: number };

/** The kinds of questions that a handler can ask the host: a child call, or one to the client. */
export type AskKind = 'tool' | 'sample' | 'elicit';

/** What a sandbox sends. `id` is the id of the call, from its `run`. */
export type SandboxMessage =
  /** The sandbox has started, and has not loaded the handler yet. */
  | { readonly t: 'up' }
  /** The handler is loaded. */
  | { readonly t: 'ready' }
  /** The answer to a `ping`. */
  | { readonly t: 'pong' }
  | { readonly t: 'unfit'; readonly why: 'module' | 'export'; readonly message: string }
  | {
      readonly t: 'progress';
      readonly id: number;
      /** Null for a number that JSON cannot represent, such as `NaN`. */
      readonly done: number | null;
      readonly total?: number | undefined;
      readonly message?: string | undefined;
    }
  | {
      readonly t: 'emit';
      readonly id: number;
      readonly name: string;
      readonly data?: JsonValue | undefined;
      /** Set for an event of `context.log`. `data` is then `{ level, data }`. */
      readonly log?: true | undefined;
      /** Why the data could not be sent. The host then drops the event and logs the reason. */
      readonly lost?: 'not_json' | 'too_large' | undefined;
    }
  | {
      readonly t: 'ask';
      readonly id: number;
      readonly ask: number;
      readonly kind: AskKind;
      readonly name: string;
      readonly input: JsonValue;
      /** The options of a child call. */
      readonly options: JsonObject;
    }
  | { readonly t: 'unask'; readonly id: number; readonly ask: number }
  | {
      readonly t: 'returned';
      readonly id: number;
      readonly kind: 'value' | 'ok' | 'fail';
      /** The output, or for `fail` the failure. */
      readonly value: JsonValue;
      readonly metadata?: JsonObject | undefined;
      /** Set if the output was made with `content`. */
      readonly content?: true | undefined;
      /** The class of an object in the output whose content the copy lost. */
      readonly lost?: string | undefined;
    }
  | {
      readonly t: 'unreturnable';
      readonly id: number;
      readonly reason: 'not_json' | 'output_too_large';
      readonly path: string;
      readonly message: string;
    }
  | { readonly t: 'threw'; readonly id: number; readonly error: SentError }
  /** Sent before a sandbox ends because of an uncaught error or an unhandled rejection. */
  | { readonly t: 'crashed'; readonly rejection: boolean; readonly error: SentError };
