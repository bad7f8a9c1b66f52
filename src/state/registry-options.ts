/** What a registry is made with, and how it is checked. */
import type { ApprovalStore } from '../approval/store.ts';
import type { Key } from '../approval/token.ts';
import { describe, MisuseError } from '../errors.ts';
import { checkSpelling } from '../options.ts';
import type { Effect } from '../policy/decision.ts';
import type { Policy } from '../policy/policy.ts';
import type { Rule } from '../policy/rules.ts';

/** A pino-shaped sink for what a host should know and no call can tell. */
export interface Logger {
  /** Something was refused, dropped or ignored. `data` says where. */
  warn(data: object, message?: string): void;
  /**
   * The host's own code threw, such as a handler, policy, hook, listener or store; or the library
   * itself failed, and the call ended as `internal`. `data.err` is the error, with its stack, and
   * the other members say where.
   */
  error(data: object, message?: string): void;
}

/**
 * What a registry is made with. An unknown option throws a MisuseError `invalid_option`, as does a
 * value out of its range.
 */
export interface RegistryOptions<S = unknown> {
  /** Rules for every session, judged first. */
  readonly rules?: readonly Rule[] | undefined;
  /** Policies for every session, asked after the registry's rules. */
  readonly policies?: readonly Policy<S>[] | undefined;
  /** Speaks where no rule or policy does. @default "allow" */
  readonly default?: Effect | undefined;
  /**
   * Milliseconds that a handler may run, unless its definition says otherwise. Above 0, at most
   * 2^31-1. @default 120_000
   */
  readonly defaultTimeoutMs?: number | undefined;
  /**
   * Milliseconds that one policy, one before hook or one operation of the approval store may take;
   * afterwards the call is denied. @default 5_000
   */
  readonly policyTimeoutMs?: number | undefined;
  /**
   * Milliseconds that a timed-out handler keeps its slots while it has not settled. Starts with the
   * timeout. @default 30_000
   */
  readonly graceMs?: number | undefined;
  /** How far a `resourceKey` reaches. @default "session" */
  readonly locks?: 'session' | 'registry' | undefined;
  /**
   * What approvals that outlive a call need. The first key signs, all verify. `ttlMs` is how long a
   * token lives. @default ttlMs 3_600_000, a store in memory
   */
  readonly approvals?:
    | {
        /** Signs the tokens. The first key signs, all of them verify. */
        readonly secret: Key | readonly Key[];
        /** Keeps the suspended calls. @default a store in memory */
        readonly store?: ApprovalStore | undefined;
        /** Milliseconds that a token lives. @default 3_600_000 */
        readonly ttlMs?: number | undefined;
      }
    | undefined;
  /**
   * Paths whose values are secret wherever events, prompts and errors are written. A path without a
   * dot names a key at any depth.
   */
  readonly redact?: readonly string[] | undefined;
  /**
   * Epoch milliseconds, for timestamps and expiry; deadlines run on a monotonic clock of their own.
   * @default Date.now
   */
  readonly now?: (() => number) | undefined;
  /** Makes call ids. @default short, unique in the process and unlikely to meet elsewhere */
  readonly newId?: (() => string) | undefined;
  /**
   * Is told what no call can tell: failing listeners, hooks and clean-ups, dropped events. One that
   * throws is ignored. @default nobody is told
   */
  readonly logger?: Logger | undefined;
}

const longestTimeout = 2 ** 31 - 1;
export const knownOptions = [
  'rules',
  'policies',
  'default',
  'defaultTimeoutMs',
  'policyTimeoutMs',
  'graceMs',
  'locks',
  'approvals',
  'redact',
  'now',
  'newId',
  'logger',
];

/** @throws MisuseError when a policy is not `{ id, check }`. */
export function checkPolicies(
  policies: readonly Policy<unknown>[],
  layer: string,
): readonly Policy<unknown>[] {
  if (!Array.isArray(policies)) throw misuse('policies', 'an array', policies);
  for (const [index, policy] of policies.entries()) {
    if (typeof policy === 'object' && policy !== null)
      checkSpelling(`policy ${index} of the ${layer}`, policy, ['id', 'check']);
    if (
      typeof policy !== 'object' ||
      policy === null ||
      typeof policy.id !== 'string' ||
      policy.id === '' ||
      typeof policy.check !== 'function'
    ) {
      throw new MisuseError(
        'invalid_option',
        `Expected policy ${index} of the ${layer} to be { id, check }, got ${describe(policy)}.`,
      );
    }
  }
  return Object.freeze([...policies]);
}

export function checkStore(store: ApprovalStore | undefined): ApprovalStore | undefined {
  if (store === undefined) return undefined;
  for (const method of ['put', 'take', 'list'] as const)
    if (typeof store?.[method] !== 'function')
      throw misuse('approvals.store', 'an object with `put`, `take` and `list`', store);
  return store;
}

/** A host's clock that throws or answers nonsense must not cost a call. */
export function safeClock(now: () => number): () => number {
  return () => {
    try {
      const time: unknown = now();
      if (typeof time === 'number' && Number.isFinite(time)) return time;
    } catch {
      // The machine's own clock is there.
    }
    return Date.now();
  };
}

export function checkDuration(field: string, value: unknown): void {
  if (!(typeof value === 'number' && value > 0 && value <= longestTimeout))
    throw misuse(field, `a number of milliseconds above 0 and at most ${longestTimeout}`, value);
}

export function misuse(field: string, expected: string, got: unknown): MisuseError {
  return new MisuseError(
    'invalid_option',
    `HostToolRegistry: expected \`${field}\` to be ${expected}, got ${describe(got)}.`,
  );
}
