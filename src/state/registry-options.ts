/** What a registry is made with, and how it is checked. */
import type { ApprovalStore } from '../approval/store.ts';
import { createTokenSigner, type Key, type TokenSigner } from '../approval/token.ts';
import {
  anything,
  array,
  arrayOf,
  checkOption,
  checkSpelling,
  duration,
  fn,
  kind,
  type OptionValues,
  oneOf,
  readOptions,
  type TableOf,
  text,
  withDefault,
  withMethods,
} from '../options.ts';
import type { Effect } from '../policy/decision.ts';
import type { Policy } from '../policy/policy.ts';
import type { Rule } from '../policy/rule.ts';

/** A pino-shaped sink for what a host should know and no call can tell. */
export interface Logger {
  /** Something failed, was dropped or was ignored, and was survived. `data` says where. */
  warn(data: object, message?: string): void;
  /** A fault of the library itself; the call ended as `internal`. `data` says where. */
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

const where = 'HostToolRegistry';
const none: readonly never[] = Object.freeze([]);
const registryTable = {
  rules: withDefault(anything<readonly Rule[]>(), none),
  policies: withDefault(anything<readonly Policy<unknown>[]>(), none),
  default: withDefault(oneOf('allow', 'ask', 'deny'), 'allow'),
  defaultTimeoutMs: withDefault(duration, 120_000),
  policyTimeoutMs: withDefault(duration, 5_000),
  graceMs: withDefault(duration, 30_000),
  locks: withDefault(oneOf('session', 'registry'), 'session'),
  approvals: anything<NonNullable<RegistryOptions['approvals']>>(),
  redact: withDefault(arrayOf(text(1), 'non-empty paths'), none),
  now: fn<() => number>(),
  newId: fn<() => string>(),
  logger: anything<Logger>(),
} satisfies TableOf<RegistryOptions>;
const approvalsTable = {
  // What signs tokens checks the keys.
  secret: anything<Key | readonly Key[]>(),
  ttlMs: withDefault(duration, 3_600_000),
  store: withMethods<ApprovalStore>(['put', 'take', 'list']),
} satisfies TableOf<NonNullable<RegistryOptions['approvals']>>;

/** The names of a registry's options, for functions that accept them among their own. */
export const registryOptionNames: readonly string[] = Object.keys(registryTable);

type ReadRegistryOptions = Omit<OptionValues<typeof registryTable>, 'approvals'> & {
  readonly approvals: OptionValues<typeof approvalsTable> & {
    /** Undefined: tokens cannot be signed. */
    readonly signer: TokenSigner | undefined;
  };
};

/** @throws MisuseError `invalid_option`, which names the option. */
export function readRegistryOptions(options: RegistryOptions<never>): ReadRegistryOptions {
  const given = readOptions(where, options, registryTable);
  const approvals = readOptions(where, given.approvals, approvalsTable, { path: 'approvals' });
  return {
    ...given,
    policies: checkPolicies(given.policies, where),
    approvals: {
      ...approvals,
      signer:
        given.approvals === undefined ? undefined : createTokenSigner(approvals.secret as Key),
    },
  };
}

/** @throws MisuseError for a policy without an id or a function `check`. */
export function checkPolicies(
  policies: readonly Policy<unknown>[],
  caller: string,
): readonly Policy<unknown>[] {
  checkOption(caller, 'policies', policies, array<Policy<unknown>>());
  for (const [index, policy] of policies.entries()) {
    const name = `policies[${index}]`;
    if (typeof policy === 'object' && policy !== null)
      checkSpelling(`${caller}: \`${name}\``, policy, ['id', 'check']);
    checkOption(caller, name, policy, policyKind);
  }
  return Object.freeze([...policies]);
}

const policyKind = kind<Policy<unknown>>('an object with `id` and `check`', (value) => {
  if (typeof value !== 'object' || value === null) return false;
  const { id, check } = value as Partial<Policy>;
  return typeof id === 'string' && id !== '' && typeof check === 'function';
});

/** A clock for which the machine's stands in when the host's throws or answers nonsense. */
export function safeClock(now: () => number): () => number {
  return () => {
    try {
      const time: unknown = now();
      if (typeof time === 'number' && Number.isFinite(time)) return time;
    } catch {
      // The machine's clock is read below.
    }
    return Date.now();
  };
}
