/** Reads the options of a session. */

import type { Approver } from '../../api/context.ts';
import type { Gate } from '../../api/gate.ts';
import type { Hook, Policy } from '../../api/policy.ts';
import type { Limits } from '../../api/profile.ts';
import type { Rule } from '../../api/rule.ts';
import type { Overrides, SessionOptions } from '../../api/session-options.ts';
import { copyJson, deepFreeze, isJsonObject, type JsonObject } from '../../values/json/index.ts';
import {
  abortSignal,
  anything,
  array,
  arrayOf,
  checkOption,
  duration,
  fn,
  object,
  oneOf,
  reading,
  readOptions,
  required,
  type TableOf,
  text,
  withDefault,
  wrongOption,
} from '../../values/options/index.ts';
import { readLabels } from '../call/actor.ts';
import type { PartSet } from '../part.ts';
import { checkLimits } from '../rules/limits.ts';
import { checkPolicies } from '../rules/policies.ts';
import { compileRules } from '../rules/rules.ts';
import { mergeFacts } from '../toolset/facts.ts';
import { unknownProfile } from '../toolset/unknown-profile.ts';
import { readHook } from './read-hook.ts';
import type { SessionPorts } from './session-ports.ts';
import type { SessionSetup } from './session-setup.ts';

const where = 'createSession';
/** What a session takes without parts. */
export const sessionTable = {
  sessionId: required(text(1, 1_024)),
  cwd: withDefault(text(), ''),
  environment: anything<Readonly<Record<string, string>>>(),
  metadata: anything<JsonObject>(),
  principal: text(1, 1_024),
  labels: anything<Readonly<Record<string, string>>>(),
  services: anything(),
  profile: anything<string>(),
  facts: anything<JsonObject>(),
  overrides: anything<Overrides>(),
  rules: anything<readonly Rule[]>(),
  policies: anything<readonly Policy<unknown>[]>(),
  gates: anything<readonly Gate<unknown>[]>(),
  hooks: array<Hook>(),
  approver: fn<Approver>(),
  approvalMode: withDefault(oneOf('ask', 'suspend'), 'ask'),
  approvalTimeoutMs: withDefault(duration, 300_000),
  repair: withDefault(oneOf('off', 'safe'), 'off'),
  exposeErrors: oneOf('message', 'masked'),
  limits: anything<Limits>(),
  idleTimeoutMs: duration,
  signal: abortSignal,
} satisfies Partial<TableOf<SessionOptions>>;

const none: readonly never[] = Object.freeze([]);
const empty: JsonObject = Object.freeze({});
const noEnvironment: Readonly<Record<string, string>> = Object.freeze({});
const noLimits: Limits = Object.freeze(Object.create(null) as Limits);

/** What a registry knows about the options of its sessions. */
interface OptionReaders {
  readonly parts: PartSet;
  readonly ports: {
    readonly calls: { readonly answers: object | undefined; readonly repair: object | undefined };
    readonly sessions: Pick<SessionPorts, 'options'>;
  };
  readonly profiles: ReadonlyMap<string, unknown>;
}

/**
 * Checks all options, and copies what the host could change later.
 * @throws MisuseError that names the option.
 */
export function readSessionOptions(
  options: SessionOptions<never>,
  registry: OptionReaders,
): SessionSetup {
  const { parts } = registry;
  const given = parts.readOptions('session', where, options, sessionTable);
  const { environment, metadata, profile, facts, overrides, rules, policies, hooks, limits } =
    given;
  const { answers, repair } = registry.ports.calls;
  for (const [value, isMissing] of [
    ['approvalMode: "suspend"', given.approvalMode === 'suspend' && answers === undefined],
    ['repair: "safe"', given.repair === 'safe' && repair === undefined],
  ] as const)
    if (isMissing) throw parts.missing('sessionValues', value, `${where}: \`${value}\``);
  if (profile !== undefined && !registry.profiles.has(profile))
    throw unknownProfile('createSession: expected `profile`', profile, [
      ...registry.profiles.keys(),
    ]);
  // Copied member by member, because rest and spread make creating a session many times slower.
  const setup: SessionSetup = {
    slots: undefined,
    sessionId: given.sessionId,
    cwd: given.cwd,
    environment:
      environment === undefined
        ? noEnvironment
        : reading(where, 'environment', () => readEnvironment(environment)),
    metadata: metadata === undefined ? empty : readObject('metadata', metadata),
    principal: given.principal,
    labels:
      given.labels === undefined
        ? undefined
        : reading(where, 'labels', () => readLabels(given.labels)),
    services: given.services,
    profileId: profile,
    facts: facts === undefined ? empty : readObject('facts', facts),
    overrides: overrides === undefined ? undefined : readOverrides(overrides),
    rules:
      rules === undefined
        ? none
        : reading(where, 'rules', () => compileRules(rules, 'session', registry.parts)),
    policies: policies === undefined ? none : checkPolicies(policies, where),
    hooks: hooks === undefined ? none : reading(where, 'hooks', () => readHooks(hooks)),
    approver: given.approver,
    approvalMode: given.approvalMode,
    approvalTimeoutMs: given.approvalTimeoutMs,
    repair: given.repair,
    exposeErrors: given.exposeErrors,
    limits: limits === undefined ? noLimits : checkLimits(limits, where),
    idleTimeoutMs: given.idleTimeoutMs,
    signal: given.signal,
  };
  for (const read of registry.ports.sessions.options) read(setup, given, where);
  return setup;
}

/** Copies the facts that a host sets, and merges them over the existing ones. */
export function changeFacts(before: JsonObject, facts: JsonObject): JsonObject {
  return mergeFacts(before, readObject('facts', facts));
}

const toolNames = arrayOf(text(), 'tool names');
const overridesTable = {
  enable: toolNames,
  disable: toolNames,
  force: toolNames,
} satisfies TableOf<Overrides>;

/** Copies three lists of names. The registry checks whether it has tools of these names. */
export function readOverrides(overrides: Overrides): Overrides {
  reading(where, 'overrides', () =>
    checkOption(where, 'overrides', overrides, object<Overrides>()),
  );
  const kept = Object.create(null) as {
    -readonly [K in keyof Overrides]: Overrides[K];
  };
  const read = readOptions(where, overrides, overridesTable, { path: 'overrides' });
  for (const key of ['enable', 'disable', 'force'] as const)
    if (read[key] !== undefined) kept[key] = [...read[key]];
  return deepFreeze(kept);
}

function readEnvironment(
  environment: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> {
  if (typeof environment !== 'object' || environment === null)
    throw wrongOption(where, 'environment', 'an object of strings', environment);
  const copy = new Map<string, string>();
  for (const [key, value] of Object.entries(environment) as [string, unknown][]) {
    if (value === undefined) continue;
    checkOption(where, `environment.${key}`, value, text());
    copy.set(key, value);
  }
  return Object.freeze(Object.fromEntries(copy));
}

function readObject(field: string, value: unknown): JsonObject {
  const copy = copyJson(value, { maxDepth: 64, maxValues: 100_000 });
  if (!copy.ok || !isJsonObject(copy.value))
    throw wrongOption(
      where,
      field,
      `a JSON object${copy.ok ? '' : ` (${copy.message} at "${copy.path}")`}`,
      value,
    );
  return deepFreeze(copy.value);
}

function readHooks(hooks: readonly Hook[]): readonly Hook[] {
  return Object.freeze(hooks.map((hook, index) => readHook(hook, `${where}: hooks[${index}]`)));
}
