/**
 * The messages between the host and a sandbox: their types and their bounds. Both sides use this
 * file. Each message is one JSON text.
 */
import type { CopyLimits, JsonObject, JsonValue } from '../../json/index.ts';

/** The longest message that a sandbox may send, in characters, or in bytes where bytes are sent. */
export const maxMessage = 4 * 1024 * 1024;
/** The most values in a message of a sandbox, counted as `json-bounds` does. */
export const maxMessageValues = 150_000;
/** The deepest nesting of what a sandbox may send. */
export const maxMessageDepth = 520;
/** The most messages that a sandbox may send before the host has confirmed earlier ones. */
export const maxUnconfirmed = 256;
/** The host confirms once this many messages have come, or more than this size. */
export const confirmEvery = 64;
export const confirmSize = maxMessage / 4;
/**
 * The most that unconfirmed messages may have together, unless there is only one: the longest
 * message may follow as many as the host need not confirm.
 */
export const maxUnconfirmedSize = maxMessage + confirmSize;
/** The most that the host keeps for a sandbox that does not read, in bytes, beside one message. */
export const maxBacklog = 64 * 1024 * 1024;
/** The most child calls and questions of one handler that may wait for their answers at once. */
export const maxAsks = 64;
/** The longest text of an error, and of its stack, that crosses. */
export const maxErrorText = 8_192;

/** Limits of the copies that a sandbox makes of what it sends. */
export const valueLimits: CopyLimits = {
  maxDepth: 512,
  maxValues: 140_000,
  maxChars: maxMessage,
};

/** What of a call's context no other call has. */
export interface SentCall {
  readonly callId: string;
  readonly deadline?: number | undefined;
  readonly idempotencyKey: string;
}

/** What of a call's context crosses as data. */
export interface SentContext extends SentCall {
  readonly sessionId: string;
  readonly cwd: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly metadata: JsonObject;
  readonly principal?: string | undefined;
  readonly toolName: string;
  readonly knobs: JsonValue;
  /** Which questions the agent's client takes. */
  readonly sample: boolean;
  readonly elicit: boolean;
}

/** An error that crosses. */
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
      /** The export to take if the module has none of the first name. */
      readonly otherwise?: string | undefined;
      /** The whole environment, if what started the sandbox may have changed it. */
      readonly env?: Readonly<Record<string, string>> | undefined;
    }
  | {
      readonly t: 'run';
      readonly id: number;
      readonly input: JsonObject;
      readonly context: SentContext;
      /** As in a `confirm`, so that no call pays for what an earlier one has sent uncounted. */
      readonly count: number;
      readonly size: number;
    }
  /** A `run` whose context is that of the last one, but for what is the call's own. */
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
      /** The answer, or why there is none. */
      readonly value?: JsonValue | undefined;
      readonly error?: SentError | undefined;
    }
  /** Asks for a sign of life. */
  | { readonly t: 'ping' }
  /** The host has read this many messages more, of this size together. */
  | { readonly t: 'confirm'; readonly count: number; readonly size: number };

/** What a handler asks the host for. */
export type AskKind = 'tool' | 'sample' | 'elicit';

/** What a sandbox sends. `id` is that of the `run`. */
export type SandboxMessage =
  /** The sandbox runs, and nothing is loaded yet. */
  | { readonly t: 'up' }
  /** The handler is loaded. */
  | { readonly t: 'ready' }
  /** The sign of life. */
  | { readonly t: 'pong' }
  | { readonly t: 'unfit'; readonly why: 'module' | 'export'; readonly message: string }
  | {
      readonly t: 'progress';
      readonly id: number;
      /** Null stands for a number that JSON does not have. */
      readonly done: number | null;
      readonly total?: number | undefined;
      readonly message?: string | undefined;
    }
  | {
      readonly t: 'emit';
      readonly id: number;
      readonly name: string;
      readonly data?: JsonValue | undefined;
      /** It comes from `context.log`, and `data` is `{ level, data }`. */
      readonly log?: true | undefined;
      /** The data could not be sent. The host drops the event and logs why. */
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
      /** The output, or the failure. */
      readonly value: JsonValue;
      readonly metadata?: JsonObject | undefined;
      /** The output was made with `content`. */
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
  /** The last words of a sandbox in which something threw that nobody caught. */
  | { readonly t: 'crashed'; readonly rejection: boolean; readonly error: SentError };
