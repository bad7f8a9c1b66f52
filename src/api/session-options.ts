/** The options of a session. */

import type { JsonObject } from '../values/json/index.ts';
import type { CodeOptions } from './code.ts';
import type { Approver } from './context.ts';
import type { Gate } from './gate.ts';
import type { OriginOptions } from './origins.ts';
import type { Hook, Policy } from './policy.ts';
import type { Limits } from './profile.ts';
import type { Quota } from './quotas.ts';
import type { Rule } from './rule.ts';

type ServicesPart<S> = unknown extends S ? { readonly services?: S } : { readonly services: S };

/** Options of a session. `services` is required if the registry's tools need any. */
export type SessionOptions<S = unknown> = ServicesPart<S> & {
  /**
   * An opaque name of 1 to 1024 characters. Give each conversation its own. Two sessions with the
   * same id share nothing but what is kept under it: what they have spent of quotas that count by
   * session and, with the same principal, suspended calls and offloaded outputs. Without a
   * principal, the outcomes of idempotency keys are kept under it too.
   */
  readonly sessionId: string;
  /** The working directory; handlers get it as `context.cwd`. @default "" */
  readonly cwd?: string | undefined;
  /** Environment variables; handlers get them as `context.environment`. @default {} */
  readonly environment?: Readonly<Record<string, string>> | undefined;
  /** Your own data; handlers get it as `context.metadata`. @default {} */
  readonly metadata?: JsonObject | undefined;
  /**
   * The user or account that the session acts for. Required for `approvalMode: "suspend"`; tokens
   * are bound to it.
   */
  readonly principal?: string | undefined;
  /**
   * What records shall say about the person, such as `{ email: 'ann@example.com' }`: `actor.labels`
   * of events, audit lines, approval requests and spans. At most 16, with names of 1 to 64
   * characters from `A-Z a-z 0-9 _ . -` and values of at most 256. They are written as they are, so
   * they must not be secrets. Rules do not read them. @default none
   */
  readonly labels?: Readonly<Record<string, string>> | undefined;
  /** The id of a profile. Without one, every registered tool that models may see is effective. */
  readonly profile?: string | undefined;
  /** Flat facts with dotted keys, for `requires`. No client's claim replaces them. @default {} */
  readonly facts?: JsonObject | undefined;
  /**
   * Changes to the profile's choice of tools.
   * @default none
   * @throws MisuseError `unknown_tool`.
   */
  readonly overrides?: Overrides | undefined;
  /** Rules of this session, judged after those of the registry and the profile. @default none */
  readonly rules?: readonly Rule[] | undefined;
  /** Quotas of this session, in addition to those of the registry and the profile. @default none */
  readonly quotas?: readonly Quota[] | undefined;
  /** Policies of this session, asked after those of the registry. @default none */
  readonly policies?: readonly Policy<S>[] | undefined;
  /** Gates of this session, made by `defineGate`, after those of the registry. @default none */
  readonly gates?: readonly Gate<S>[] | undefined;
  /** Hooks that run around every call, in this order. `session.use` adds more. @default none */
  readonly hooks?: readonly Hook[] | undefined;
  /** Asks a person. Without an approver, a call that needs an approval is rejected. */
  readonly approver?: Approver | undefined;
  /**
   * `suspend` ends a call that needs an approval as `approval_pending`. It can be resumed by its
   * token, also in another process.
   * @default "ask"
   */
  readonly approvalMode?: 'ask' | 'suspend' | undefined;
  /**
   * Milliseconds that a person has to answer, from the moment when the approver is asked.
   * @default 300_000
   */
  readonly approvalTimeoutMs?: number | undefined;
  /** `safe` parses JSON in strings if the schema expects an object or array. @default "off" */
  readonly repair?: 'off' | 'safe' | undefined;
  /**
   * `masked` hides the messages of errors that handlers throw from the model. Events still contain
   * them.
   * @default "message"
   */
  readonly exposeErrors?: 'message' | 'masked' | undefined;
  /**
   * Limits of this session. If the profile sets the same limit, the tighter one applies.
   * @default those of {@link Limits}
   */
  readonly limits?: Limits | undefined;
  /**
   * How much text the session remembers, for rules about origins.
   * @default the registry's option
   */
  readonly origins?: OriginOptions | undefined;
  /**
   * Lists only a few tools and `find_tools`, with which a model finds the others. See
   * `docs/many-tools.md`.
   * @default every tool is listed
   */
  readonly discovery?: DiscoveryOptions | undefined;
  /**
   * Shows the model one tool that runs programs, in which each call of a tool passes the gates of
   * the session. Needs the package `run`. See `docs/code.md`. `createSession` throws a MisuseError
   * `invalid_option` for a wrong option, or if a tool has a name that programs need. `true` is all
   * defaults; `false` is no programs, also if a file has `code`.
   * @default what a file that the registry has loaded says, otherwise no programs
   */
  readonly code?: CodeOptions | boolean | undefined;
  /**
   * The scopes that the session's caller has been granted. Tools may need some, and rules test them
   * as facts `scope.<name>`. A surface that knows the scopes of a request uses those instead.
   * @default none
   */
  readonly scopes?: readonly string[] | undefined;
  /**
   * The session closes after this many milliseconds without a new call or a call in flight.
   * @default the session is not closed when idle
   */
  readonly idleTimeoutMs?: number | undefined;
  /** Closes the session when it aborts. @default none */
  readonly signal?: AbortSignal | undefined;
};

/**
 * Changes to the profile's choice of tools, for a session or a run. `force` is the same as
 * `enable`. `disable` overrides both, and the gates override everything.
 */
export interface Overrides {
  /** Tools to add to the profile's choice. */
  readonly enable?: readonly string[] | undefined;
  /** Tools to hide and refuse (`disabled`). */
  readonly disable?: readonly string[] | undefined;
  /** Tools to add; the same as `enable`. */
  readonly force?: readonly string[] | undefined;
}

/** What a session lists from the start, and how much it may find. */
export interface DiscoveryOptions {
  /** Names or globs of tools that are always listed. @default none */
  readonly keep?: string | readonly string[] | undefined;
  /**
   * The most tokens of the tools that were found, counted as one token for every four characters of
   * their names, descriptions and schemas. When more are found, those that have not been called for
   * the longest time are removed. From 1.
   * @default 8_000
   */
  readonly maxTokens?: number | undefined;
  /** The most tools that one call to `find_tools` returns. From 1 to 100. @default 8 */
  readonly limit?: number | undefined;
  /**
   * The host's own embedding model. Its ranking is merged with the ranking by words. Each tool is
   * embedded once. If it fails, only words count, and the error is logged.
   * @default words alone
   */
  readonly embed?: Embed | undefined;
}

/** Computes the meaning of each text, as a list of numbers. All lists have the same length. */
export type Embed = (
  texts: readonly string[],
) => Promise<readonly (readonly number[] | Float32Array | Float64Array)[]>;
