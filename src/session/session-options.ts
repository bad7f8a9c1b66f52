/** What a session is created with. */
import type { Approver } from '../context.ts';
import { describe, MisuseError } from '../errors.ts';
import type { Hook } from '../hooks.ts';
import { copyJson, deepFreeze, isJsonObject, type JsonObject } from '../json.ts';
import { checkSpelling, readOptions } from '../options.ts';
import { checkLimits, type Limits } from '../policy/limits.ts';
import type { Policy } from '../policy/policy.ts';
import type { Rule } from '../policy/rule.ts';
import { compileRules } from '../policy/rules.ts';
import { checkPolicies } from '../state/registry-options.ts';
import type { RegistryState } from '../state/registry-state.ts';
import type { SessionSetup } from '../state/session-setup.ts';
import type { Overrides } from '../toolset/effective.ts';
import { mergeFacts } from '../toolset/facts.ts';

type ServicesPart<S> = unknown extends S ? { readonly services?: S } : { readonly services: S };

/** `services` is required as soon as the registry's tools need any. */
export type SessionOptions<S = unknown> = ServicesPart<S> & {
  /** An opaque name of 1 to 1024 characters. Two sessions of the same id share nothing. */
  readonly sessionId: string;
  /** @default "" */
  readonly cwd?: string | undefined;
  /** @default {} */
  readonly environment?: Readonly<Record<string, string>> | undefined;
  /** @default {} */
  readonly metadata?: JsonObject | undefined;
  /** Who the session acts for. Needed for `approvalMode: "suspend"`; tokens bind it. */
  readonly principal?: string | undefined;
  /** A profile's id. Without one, every registered tool that models may see is effective. */
  readonly profile?: string | undefined;
  /** Flat facts with dotted keys, for `requires`. @default {} */
  readonly facts?: JsonObject | undefined;
  /** Changes the profile's choice. @default none @throws MisuseError `unknown_tool`. */
  readonly overrides?: Overrides | undefined;
  /** Judged after the registry's and the profile's. */
  readonly rules?: readonly Rule[] | undefined;
  /** Asked after the registry's. @default none */
  readonly policies?: readonly Policy<S>[] | undefined;
  /** Run around every call, in this order; `session.use` adds more. @default none */
  readonly hooks?: readonly Hook[] | undefined;
  /** Asks a person. Without one, an ask is a rejection. */
  readonly approver?: Approver | undefined;
  /**
   * `suspend` ends the call as `approval_pending`, to be resumed by token, also in another process.
   * @default "ask"
   */
  readonly approvalMode?: 'ask' | 'suspend' | undefined;
  /** Milliseconds a person has. Starts when the approver is asked. @default 300_000 */
  readonly approvalTimeoutMs?: number | undefined;
  /** `safe` reads JSON from strings where the schema wants an object or array. @default "off" */
  readonly repair?: 'off' | 'safe' | undefined;
  /** `masked` hides what handlers throw from the model; events keep it. @default "message" */
  readonly exposeErrors?: 'message' | 'masked' | undefined;
  /**
   * Where profile and session both give a limit, the tighter holds. @default those of
   * {@link Limits}
   */
  readonly limits?: Limits | undefined;
  /**
   * Milliseconds without a call, and none in flight, after which the session closes. Off unless
   * set.
   */
  readonly idleTimeoutMs?: number | undefined;
  /** Closes the session. */
  readonly signal?: AbortSignal | undefined;
};

const known = [
  'sessionId',
  'cwd',
  'environment',
  'metadata',
  'principal',
  'services',
  'profile',
  'facts',
  'overrides',
  'rules',
  'policies',
  'hooks',
  'approver',
  'approvalMode',
  'approvalTimeoutMs',
  'repair',
  'exposeErrors',
  'limits',
  'idleTimeoutMs',
  'signal',
];
const none: readonly never[] = Object.freeze([]);
const empty: JsonObject = Object.freeze({});
const noLimits: Limits = Object.freeze(Object.create(null) as Limits);

/**
 * Checks everything, names the field, and copies what the host could change later. @throws
 * MisuseError.
 */
export function readSessionOptions(
  options: SessionOptions<never>,
  registry: RegistryState,
): SessionSetup {
  if (typeof options !== 'object' || options === null)
    throw new MisuseError(
      'invalid_option',
      `Expected createSession() to be given an object with a \`sessionId\`, got ` +
        `${describe(options)}.`,
    );
  const {
    sessionId,
    cwd = '',
    environment,
    metadata,
    principal,
    services,
    profile,
    facts,
    overrides,
    rules,
    policies,
    hooks,
    approver,
    approvalMode = 'ask',
    approvalTimeoutMs = 300_000,
    repair = 'off',
    exposeErrors,
    limits,
    idleTimeoutMs,
    signal,
  } = readOptions<SessionOptions<unknown>>('createSession', options, known);
  if (typeof sessionId !== 'string' || sessionId === '' || sessionId.length > 1_024)
    throw fault('sessionId', 'a string of 1 to 1024 characters', sessionId);
  if (typeof cwd !== 'string') throw fault('cwd', 'a string', cwd);
  if (
    principal !== undefined &&
    (typeof principal !== 'string' || principal === '' || principal.length > 1_024)
  )
    throw fault('principal', 'a string of 1 to 1024 characters', principal);
  if (approver !== undefined && typeof approver !== 'function')
    throw fault('approver', 'a function', approver);
  if (approvalMode !== 'ask' && approvalMode !== 'suspend')
    throw fault('approvalMode', '"ask" or "suspend"', approvalMode);
  if (repair !== 'off' && repair !== 'safe') throw fault('repair', '"off" or "safe"', repair);
  if (exposeErrors !== undefined && exposeErrors !== 'message' && exposeErrors !== 'masked')
    throw fault('exposeErrors', '"message" or "masked"', exposeErrors);
  checkDuration('approvalTimeoutMs', approvalTimeoutMs);
  if (idleTimeoutMs !== undefined) checkDuration('idleTimeoutMs', idleTimeoutMs);
  if (
    signal !== undefined &&
    !(
      typeof signal === 'object' &&
      signal !== null &&
      typeof signal.addEventListener === 'function'
    )
  )
    throw fault('signal', 'an AbortSignal', signal);
  if (approvalMode === 'suspend') {
    if (registry.signer === undefined)
      throw new MisuseError(
        'invalid_option',
        'createSession: `approvalMode: "suspend"` needs a key to sign tokens with. Give the ' +
          'registry `approvals: { secret }`.',
      );
    if (principal === undefined)
      throw new MisuseError(
        'invalid_option',
        'createSession: `approvalMode: "suspend"` needs a `principal`, to which tokens are bound.',
      );
  }
  if (profile !== undefined && !registry.profiles.has(profile)) {
    throw new MisuseError(
      'unknown_profile',
      `createSession: expected \`profile\` to be one of ` +
        `${[...registry.profiles.keys()].map((id) => `\`${id}\``).join(', ') || '(none is defined)'}, ` +
        `got ${describe(profile)}.`,
    );
  }
  return {
    sessionId,
    cwd,
    environment:
      environment === undefined
        ? (empty as Readonly<Record<string, string>>)
        : readEnvironment(environment),
    metadata: metadata === undefined ? empty : readObject('metadata', metadata),
    principal,
    services,
    profileId: profile,
    facts: facts === undefined ? empty : readObject('facts', facts),
    overrides: overrides === undefined ? undefined : readOverrides(overrides),
    rules: rules === undefined ? none : compileRules(rules, 'session'),
    policies:
      policies === undefined
        ? none
        : checkPolicies(policies as readonly Policy<unknown>[], 'session'),
    hooks: hooks === undefined ? none : readHooks(hooks),
    approver,
    approvalMode,
    approvalTimeoutMs,
    repair,
    exposeErrors,
    limits: limits === undefined ? noLimits : checkLimits(limits, 'session'),
    idleTimeoutMs,
    signal,
  };
}

/** Facts that a host gives, copied and merged over those that are there. */
export function changeFacts(before: JsonObject, facts: JsonObject): JsonObject {
  return mergeFacts(before, readObject('facts', facts));
}

/** Three lists of names, copied. Whether the names are known is the registry's to say. */
export function readOverrides(overrides: Overrides): Overrides {
  if (typeof overrides !== 'object' || overrides === null)
    throw fault('overrides', 'an object with enable, disable and force', overrides);
  const kept = Object.create(null) as { [K in keyof Overrides]?: readonly string[] };
  const read = readOptions('createSession: overrides', overrides, ['enable', 'disable', 'force'], {
    noun: 'list',
  });
  for (const [key, value] of Object.entries(read) as [string, unknown][]) {
    if (value === undefined) continue;
    if (!Array.isArray(value) || value.some((name) => typeof name !== 'string'))
      throw fault(`overrides.${key}`, 'an array of tool names', value);
    (kept as Record<string, readonly string[]>)[key] = [...(value as string[])];
  }
  return deepFreeze(kept);
}

function readEnvironment(
  environment: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> {
  if (typeof environment !== 'object' || environment === null)
    throw fault('environment', 'an object of strings', environment);
  const copy = new Map<string, string>();
  for (const [key, value] of Object.entries(environment) as [string, unknown][]) {
    if (value === undefined) continue;
    if (typeof value !== 'string') throw fault(`environment.${key}`, 'a string', value);
    copy.set(key, value);
  }
  return Object.freeze(Object.fromEntries(copy));
}

function readObject(field: string, value: unknown): JsonObject {
  const copy = copyJson(value, { maxDepth: 64, maxValues: 100_000 });
  if (!copy.ok || !isJsonObject(copy.value))
    throw fault(
      field,
      `a JSON object${copy.ok ? '' : ` (${copy.message} at "${copy.path}")`}`,
      value,
    );
  return deepFreeze(copy.value);
}

/** A hook of our own that calls the host's. @throws MisuseError for what is no hook. */
export function readHook(hook: unknown, where = 'use'): Hook {
  if (typeof hook === 'object' && hook !== null) checkSpelling(where, hook, ['before', 'after']);
  // A hook may be an instance of a class of the host's; what stands on Object.prototype is
  // nobody's.
  const { before, after } = ownOrInherited(hook);
  if (
    (typeof before !== 'function' && typeof after !== 'function') ||
    (before !== undefined && typeof before !== 'function') ||
    (after !== undefined && typeof after !== 'function')
  ) {
    throw new MisuseError(
      'invalid_option',
      `${where}: expected an object with \`before\`, \`after\` or both, got ${describe(hook)}.`,
    );
  }
  return Object.freeze<Hook>({
    ...(before === undefined ? undefined : { before: before.bind(hook) }),
    ...(after === undefined ? undefined : { after: after.bind(hook) }),
    __proto__: null,
  } as Hook);
}

function ownOrInherited(hook: unknown): Partial<Hook> {
  if (typeof hook !== 'object' || hook === null) return {};
  const read = (name: 'before' | 'after'): unknown => {
    for (
      let at: object | null = hook;
      at !== null && at !== Object.prototype;
      at = Object.getPrototypeOf(at) as object | null
    )
      if (Object.hasOwn(at, name)) return (hook as Record<string, unknown>)[name];
    return undefined;
  };
  return { before: read('before'), after: read('after') } as Partial<Hook>;
}

function readHooks(hooks: readonly Hook[]): readonly Hook[] {
  if (!Array.isArray(hooks)) throw fault('hooks', 'an array', hooks);
  return Object.freeze(
    hooks.map((hook, index) => readHook(hook, `createSession: hooks[${index}]`)),
  );
}

function checkDuration(field: string, value: unknown): void {
  if (!(typeof value === 'number' && value > 0 && value <= 2 ** 31 - 1))
    throw fault(field, 'a number of milliseconds above 0 and at most 2147483647', value);
}

function fault(field: string, expected: string, got: unknown): MisuseError {
  return new MisuseError(
    'invalid_option',
    `createSession: expected \`${field}\` to be ${expected}, got ${describe(got)}.`,
  );
}

/** The names of a session's options, for what takes them among its own. */
export const sessionOptionNames: readonly string[] = [...known];
