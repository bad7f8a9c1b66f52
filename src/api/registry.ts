/** The options of a registry. */

import type { MaybePromise } from '../values/maybe-promise.ts';
import type { Key, SuspendedApproval } from './approval-store.ts';
import type { CredentialResolver } from './credentials.ts';
import type { Gate } from './gate.ts';
import type { OriginOptions } from './origins.ts';
import type { Effect, Policy } from './policy.ts';
import type { Quota } from './quotas.ts';
import type { Rule } from './rule.ts';
import type { Store } from './store.ts';

/**
 * A logger with pino's signatures. It gets messages that the host should know and that no result
 * can report.
 */
export interface Logger {
  /** Something was refused, dropped or ignored. `data` says where. */
  warn(data: object, message?: string): void;
  /**
   * The host's own code threw, such as a handler, policy, hook, listener or store. Or the library
   * itself failed, and the call ended as `internal`. `data.err` is the error, with its stack, and
   * the other members say where.
   */
  error(data: object, message?: string): void;
}

/** Makes the session of a suspended call: a `ToolSession` with the record's id and principal. */
export type SessionFor = (
  record: Omit<SuspendedApproval, 'token'>,
) => MaybePromise<{ readonly sessionId: string }>;

/**
 * Options of a registry. An unknown option, or a value out of its range, throws a MisuseError
 * `invalid_option`.
 */
export interface RegistryOptions<S = unknown> {
  /** Rules for every session, judged first. */
  readonly rules?: readonly Rule[] | undefined;
  /** Throws for a rule or quota that can never match, instead of logging it. @default false */
  readonly strictRules?: boolean | undefined;
  /**
   * Quotas for every session: limits on counts and sums within a window of time.
   * @default none
   */
  readonly quotas?: readonly Quota[] | undefined;
  /**
   * Keeps what must outlive a call or the process: suspended calls, if there is
   * `approvals.secret`; the counts of quotas; and, if they are switched on, such as with `{}`, the
   * outcomes of `idempotency` and the outputs of `offload`. The own store of each of them beats it.
   * A store that nothing uses is refused, as is one that lacks an operation which is needed.
   * @default each has a store of its own in memory
   */
  readonly store?: Store | undefined;
  /**
   * Keeps the counts of the quotas of the registry, its profiles and its sessions.
   * @default `store`, or `memoryStore()` on the registry's clock
   */
  readonly quotaStore?: Store | undefined;
  /**
   * The most agents in a chain of delegations: with 1, no sub-agent has sub-agents. From 1 to 64.
   * @default 4
   */
  readonly maxDelegationDepth?: number | undefined;
  /** Policies for every session, asked after the registry's rules. */
  readonly policies?: readonly Policy<S>[] | undefined;
  /** Gates of your own for every session, made by `defineGate`. @default none */
  readonly gates?: readonly Gate<S>[] | undefined;
  /** The decision if no rule or policy makes one. @default "allow" */
  readonly default?: Effect | undefined;
  /**
   * Milliseconds that a handler may run, unless its definition sets another limit. Above 0, at most
   * 2^31-1.
   * @default 120_000
   */
  readonly defaultTimeoutMs?: number | undefined;
  /**
   * Milliseconds that one policy, one `before` hook or one operation of the stores of approvals,
   * quotas, outcomes and outputs may take. If it takes longer, the call is denied.
   * @default 5_000
   */
  readonly policyTimeoutMs?: number | undefined;
  /**
   * Milliseconds after a timeout for which a handler that has not settled keeps its slots.
   * @default 30_000
   */
  readonly graceMs?: number | undefined;
  /**
   * Where calls with the same `resourceKey` exclude each other: within a session, or in the whole
   * registry.
   * @default "session"
   */
  readonly locks?: 'session' | 'registry' | undefined;
  /** The settings for approvals that outlive a call. @default ttlMs 3_600_000, a store in memory */
  readonly approvals?:
    | {
        /** Signs the tokens. The first key signs, all of them verify. */
        readonly secret: Key | readonly Key[];
        /** Keeps the suspended calls. @default `store` of the registry, or one in memory */
        readonly store?: Store | undefined;
        /** Milliseconds for which a token is valid. @default 3_600_000 */
        readonly ttlMs?: number | undefined;
        /**
         * Milliseconds after which a process that runs an answered call, and has shown no sign of
         * life, counts as dead: the outcome of the approval is `executor_lost` then. It shows one
         * three times within this time. Above 0, at most 2^31-1. @default 10_000
         */
        readonly leaseMs?: number | undefined;
        /**
         * The person that a session acts for cannot answer its own approvals. An answer without
         * `by` counts as that person's. Such an answer is refused (`approval_denied`, reason
         * `four_eyes`), and the record of a suspended call stays. @default false
         */
        readonly fourEyes?: boolean | undefined;
        /**
         * The most bytes, roughly, of the suspended calls of one principal together, in all of its
         * sessions. A call beyond that is refused (`rate_limited`). From 1. @default 268_435_456
         */
        readonly maxBytesPerPrincipal?: number | undefined;
        /**
         * Creates the session of a suspended call again if it is not open in this process, for
         * `registry.approvals.answer`. The session must have the record's session id and principal,
         * be open, and be returned within `policyTimeoutMs`. The library does not close it.
         * @default only open sessions are found
         */
        readonly session?: SessionFor | undefined;
      }
    | undefined;
  /**
   * How much text sessions remember, for rules about origins. A session's own option overrides it.
   * @default maxChars 8_388_608
   */
  readonly origins?: OriginOptions | undefined;
  /**
   * Lets a call with an `idempotencyKey` run at most once for each principal.
   * @default calls run as often as they are made
   */
  readonly idempotency?: IdempotencyOptions | undefined;
  /**
   * Keeps outputs that are over their budget as a whole, for tools with
   * `outputStrategy: "offload"`, and adds the tool `read_tool_output`.
   * @default such outputs are cut
   */
  readonly offload?: OffloadOptions | undefined;
  /**
   * How long, and where, calls of tools with `revert` are kept, so that `session.revert` can take
   * them back.
   * @default in `store`, for a day
   */
  readonly undo?: UndoOptions | undefined;
  /**
   * Gives tools with `credentials` the tokens of the principal. A file's `credentials` are asked
   * first.
   * @default none: such tools are refused with `credentials_unavailable`
   */
  readonly credentials?: CredentialResolver | undefined;
  /**
   * Paths of secret values, which are redacted in events, prompts and errors. A path without a dot
   * names a key at any depth.
   */
  readonly redact?: readonly string[] | undefined;
  /**
   * Returns epoch milliseconds, for timestamps and expiry. Deadlines use a separate monotonic
   * clock.
   * @default Date.now
   */
  readonly now?: (() => number) | undefined;
  /**
   * Makes call ids.
   * @default short ids that are unique in the process and unlikely to repeat in another one
   */
  readonly newId?: (() => string) | undefined;
  /**
   * Gets messages that no result can report: failing listeners, hooks and clean-ups, and dropped
   * events. If it throws, the error is ignored.
   * @default no logging
   */
  readonly logger?: Logger | undefined;
}

/** What is kept of calls that `session.revert` can take back. */
export interface UndoOptions {
  /** Keeps the calls. @default `store` of the registry, or `memoryStore()` on its clock */
  readonly store?: Store | undefined;
  /**
   * Milliseconds for which a call can be taken back. Above 0, at most 2^31-1 (over 24 days).
   * @default 86_400_000
   */
  readonly ttlMs?: number | undefined;
}

/** What is kept of calls with an idempotency key. */
export interface IdempotencyOptions {
  /**
   * Keeps the outcomes. @default `store` of the registry, or `memoryStore()` on its clock
   */
  readonly store?: Store | undefined;
  /**
   * Milliseconds for which an outcome is kept. Above 0, at most 2^31-1 (over 24 days).
   * @default 86_400_000
   */
  readonly ttlMs?: number | undefined;
  /**
   * Milliseconds after which a process that has not renewed its claim counts as dead. A claim is
   * renewed three times within this time. Above 0, at most 2^31-1.
   * @default 10_000
   */
  readonly leaseMs?: number | undefined;
}

/** How outputs over their budget are kept, for `outputStrategy: "offload"`. */
export interface OffloadOptions {
  /**
   * Keeps the outputs. @default `store` of the registry, or `memoryStore()` on its clock
   */
  readonly store?: Store | undefined;
  /**
   * The most UTF-8 bytes that one session keeps, and that one output may have. The oldest outputs
   * of the session are removed first. A longer output is cut instead. From 1 to 2^26.
   * @default 4_194_304
   */
  readonly maxBytes?: number | undefined;
  /** Milliseconds for which an output is kept. Above 0, at most 2^31-1. @default 3_600_000 */
  readonly ttlMs?: number | undefined;
}
