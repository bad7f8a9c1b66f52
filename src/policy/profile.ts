/**
 * Profiles: named, ordered sets of tools with their knobs, rules and limits; and the limits of a
 * session.
 */

import { describe, MisuseError } from '../errors.ts';
import { copyJson, deepFreeze, isJsonObject, type JsonObject, type JsonValue } from '../json.ts';
import { readMembers } from '../options/index.ts';
import type { Effect } from './decision.ts';
import { type CompiledRule, compileRules, type Rule } from './rules.ts';

/** Limits of one session. Absent: the library's default, or none where it says so. */
export interface Limits {
  /** Calls that are admitted a minute. From 1. @default no limit */
  readonly callsPerMinute?: number | undefined;
  /** Handlers that run at the same time. From 1. @default no limit */
  readonly maxConcurrentCalls?: number | undefined;
  /** Calls that wait for a slot. From 0, which means that nothing waits. @default 1000 */
  readonly maxQueuedCalls?: number | undefined;
  /** Milliseconds that a call waits for a slot. From 1 to 2^31-1. @default 30_000 */
  readonly queueTimeoutMs?: number | undefined;
  /**
   * Approvals that are open at the same time. From 0, which means that nothing is asked. @default
   * 20
   */
  readonly maxPendingApprovals?: number | undefined;
  /** Identical calls in a row that are allowed. From 1; false is off. @default false */
  readonly loopGuard?: number | false | undefined;
  /** Bytes of one input's JSON. From 1. @default 1_048_576 */
  readonly maxInputBytes?: number | undefined;
  /** Characters of one result that the model sees. From 1. @default no limit */
  readonly maxOutputChars?: number | undefined;
}

type LimitName = keyof Limits;
const longestTimerMs = 2 ** 31 - 1;
const limitRanges = new Map<LimitName, readonly [least: number, most: number]>([
  ['callsPerMinute', [1, Number.MAX_SAFE_INTEGER]],
  ['maxConcurrentCalls', [1, Number.MAX_SAFE_INTEGER]],
  ['maxQueuedCalls', [0, Number.MAX_SAFE_INTEGER]],
  ['queueTimeoutMs', [1, longestTimerMs]],
  ['maxPendingApprovals', [0, Number.MAX_SAFE_INTEGER]],
  ['loopGuard', [1, Number.MAX_SAFE_INTEGER]],
  ['maxInputBytes', [1, Number.MAX_SAFE_INTEGER]],
  ['maxOutputChars', [1, Number.MAX_SAFE_INTEGER]],
]);

/**
 * Checks limits and returns a frozen copy of what was given.
 * @param where what the message starts with, such as `session` or ``profile `ci` ``
 * @throws MisuseError `invalid_option`, naming the field.
 */
export function checkLimits(limits: Limits, where: string): Limits {
  const given = readMembers(`${where}: limits`, limits, [...limitRanges.keys()], { noun: 'limit' });
  // What is not given is not inherited either: limits are read member by member at each call.
  const copy = Object.create(null) as { -readonly [K in LimitName]?: number | false };
  for (const [key, value] of Object.entries(given) as [LimitName, unknown][]) {
    const range = limitRanges.get(key) as readonly [number, number];
    if (value === undefined) continue;
    const fits =
      typeof value === 'number' &&
      Number.isInteger(value) &&
      value >= range[0] &&
      value <= range[1];
    if (!fits && !(key === 'loopGuard' && value === false)) {
      const expected =
        `${key === 'loopGuard' ? 'false or ' : ''}a whole number from ${range[0]} to ` +
        `${range[1]}`;
      throw new MisuseError(
        'invalid_option',
        `${where}: Expected \`limits.${key}\` to be ${expected}, got ${describe(value)}`,
      );
    }
    copy[key] = value as number | false;
  }
  return Object.freeze(copy) as Limits;
}

/** The smallest of each limit over all that are given. `loopGuard: false` has no opinion. */
export function tightestLimits(...limits: readonly (Limits | undefined)[]): Limits {
  const tightest = Object.create(null) as { -readonly [K in LimitName]?: number };
  for (const given of limits) {
    if (given === undefined) continue;
    for (const key of limitRanges.keys()) {
      const value = given[key];
      if (typeof value === 'number' && !(value >= (tightest[key] ?? Number.POSITIVE_INFINITY)))
        tightest[key] = value;
    }
  }
  return Object.freeze(tightest) as Limits;
}

/** A named, ordered set of tools with their knobs, rules and limits. Plain data. */
export interface Profile {
  /**
   * What sessions choose it by. Non-blank, untrimmed refused, at most 256 characters; an id again
   * replaces the profile.
   */
  readonly id: string;
  /** Profiles that this one starts from, first to last. */
  readonly extends?: string | readonly string[] | undefined;
  /** In the order in which a session lists them. */
  readonly tools: readonly (
    | string
    | {
        /** A tool's registered name. */
        readonly name: string;
        /** Absent tools are left out instead of refused. @default false */
        readonly optional?: boolean | undefined;
        /** Settings of the tool's own policy. Merged key by key over what a parent gives. */
        readonly knobs?: JsonObject | undefined;
        /** A profile can demand approval; it cannot lift it. */
        readonly requiresApproval?: true | undefined;
        /** Milliseconds; above 0 to 2^31-1. */
        readonly timeoutMs?: number | undefined;
        /** Characters; from 1. */
        readonly maxOutputChars?: number | undefined;
      }
  )[];
  /** Judged after the registry's and before the session's. A parent's are kept. @default none */
  readonly rules?: readonly Rule[] | undefined;
  /**
   * Limits of its sessions; where session and profile both give one, the tighter holds. @default
   * the parents' tightest
   */
  readonly limits?: Limits | undefined;
  /** Speaks where no rule or policy does; the strictest of registry and profile holds. */
  readonly default?: Effect | undefined;
}

/** One tool of a resolved profile. */
export interface ProfileTool {
  readonly name: string;
  readonly optional: boolean;
  /** As given, before the tool's knob schema has filled in defaults. */
  readonly knobs: JsonObject | undefined;
  readonly timeoutMs: number | undefined;
  readonly maxOutputChars: number | undefined;
  readonly requiresApproval: boolean;
}

/** A profile with everything that it extends folded in. Frozen. */
export interface ResolvedProfile {
  readonly id: string;
  /** In effective order. */
  readonly tools: ReadonlyMap<string, ProfileTool>;
  /** Parents' rules first; each rule's layer names the profile that wrote it. */
  readonly rules: readonly CompiledRule[];
  readonly limits: Limits;
  readonly default: Effect | undefined;
}

/** What one profile itself says of a tool; undefined where it says nothing. */
interface ToolEntry {
  readonly name: string;
  readonly optional: boolean | undefined;
  readonly knobs: JsonObject | undefined;
  readonly timeoutMs: number | undefined;
  readonly maxOutputChars: number | undefined;
  readonly requiresApproval: boolean;
}

const profileKeys = ['id', 'extends', 'tools', 'rules', 'limits', 'default'];
const toolKeys = ['name', 'optional', 'knobs', 'requiresApproval', 'timeoutMs', 'maxOutputChars'];
const strictness = { allow: 0, ask: 1, deny: 2 } as const satisfies Record<Effect, number>;

/**
 * Checks a profile and folds in what it extends: parents first, in order, then its own. A tool that
 * is named again keeps its place; what the later profile gives stands over the earlier, knobs key
 * by key, and a demanded approval stays demanded. Rules add up. Its own limits stand over its
 * parents', of which the tightest count; its own `default` over the strictest of theirs. Whether
 * tools and knobs exist is the registry's question.
 * @throws MisuseError `unknown_profile` for a parent that `lookup` does not know, `invalid_option`
 * for anything malformed, `invalid_rule` for a bad rule.
 */
export function resolveProfile(
  profile: Profile,
  lookup: (id: string) => ResolvedProfile | undefined,
): ResolvedProfile {
  const copied = copyJson(profile, { maxDepth: 72, maxValues: 500_000 });
  if (!copied.ok)
    throw new MisuseError(
      'invalid_option',
      'Expected a profile to be plain data, got what JSON cannot ' +
        `hold${copied.path === '' ? '' : ` at \`${copied.path}\``}: ${copied.message}`,
    );
  const { value } = copied;
  if (!isJsonObject(value))
    throw new MisuseError(
      'invalid_option',
      `Expected a profile to be an object, got ${describe(profile)}`,
    );
  const id = Object.hasOwn(value, 'id') ? value.id : undefined;
  const where = typeof id === 'string' && id.length <= 256 ? `profile \`${id}\`` : 'defineProfile';
  const source: Partial<JsonObject> = readMembers(where, value, profileKeys, { noun: 'field' });
  if (typeof id !== 'string' || id.trim() === '' || id.trim() !== id || id.length > 256) {
    throw new MisuseError(
      'invalid_option',
      `Expected a profile's \`id\` to be a non-blank string without white space at its ends, ` +
        `of at most 256 characters, got ${describe(id)}`,
    );
  }
  const expect = (passed: boolean, field: string, expected: string, got: unknown): void => {
    if (!passed)
      throw new MisuseError(
        'invalid_option',
        `${where}: Expected \`${field}\` to be ${expected}, got ${describe(got)}`,
      );
  };
  const own = source.default;
  expect(
    own === undefined || own === 'allow' || own === 'ask' || own === 'deny',
    'default',
    '`allow`, `ask` or `deny`',
    own,
  );

  const parents = readParents(source.extends, id, expect).map((parentId) => {
    const parent = lookup(parentId);
    if (parent === undefined)
      throw new MisuseError(
        'unknown_profile',
        `${where}: Expected \`extends\` to name defined profiles, got \`${parentId}\``,
      );
    return parent;
  });
  const tools = new Map<string, ProfileTool>();
  for (const parent of parents)
    for (const tool of parent.tools.values())
      merge(tools, {
        ...tool,
        optional: tool.optional && (tools.get(tool.name)?.optional ?? true),
      });
  for (const entry of readTools(source.tools, where, expect)) merge(tools, entry);

  const rules = compileRules((source.rules ?? []) as unknown as readonly Rule[], `profile:${id}`);
  const limits = source.limits === undefined ? {} : checkLimits(source.limits as Limits, where);
  return Object.freeze<ResolvedProfile>({
    id,
    tools,
    // A rule that arrives through two parents is still one rule.
    rules: Object.freeze([...new Set([...parents.flatMap((parent) => parent.rules), ...rules])]),
    limits: Object.freeze(
      Object.assign(
        Object.create(null) as Limits,
        tightestLimits(...parents.map((parent) => parent.limits)),
        limits,
      ),
    ),
    default: (own as Effect | undefined) ?? strictest(parents.map((parent) => parent.default)),
  });
}

/** A profile as it was given, and with everything that it extends folded in. */
export interface KnownProfile {
  readonly given: Profile;
  readonly resolved: ResolvedProfile;
}

/** The ids that a checked profile extends. */
export function parentsOf(profile: Profile): readonly string[] {
  const parents = Object.hasOwn(profile, 'extends') ? (profile.extends ?? []) : [];
  return typeof parents === 'string' ? [parents] : parents;
}

/**
 * @throws MisuseError `invalid_option` when one of the profiles that a redefined one extends
 * descends from it.
 */
export function checkLineage(profile: Profile, known: ReadonlyMap<string, KnownProfile>): void {
  const seen = new Set<string>();
  const descends = (id: string): boolean => {
    if (id === profile.id) return true;
    if (seen.has(id)) return false;
    seen.add(id);
    const given = known.get(id)?.given;
    return given !== undefined && parentsOf(given).some(descends);
  };
  const heir = parentsOf(profile).find(descends);
  if (heir !== undefined)
    throw new MisuseError(
      'invalid_option',
      `profile \`${profile.id}\`: Expected \`extends\` to name no profile that extends it, ` +
        `got ${describe(heir)}`,
    );
}

type Expect = (passed: boolean, field: string, expected: string, got: unknown) => void;

function readParents(value: JsonValue | undefined, id: string, expect: Expect): readonly string[] {
  if (value === undefined) return [];
  const list: readonly JsonValue[] = Array.isArray(value) ? value : [value];
  list.forEach((item, index) => {
    const field = Array.isArray(value) ? `extends[${index}]` : 'extends';
    expect(typeof item === 'string' && item.trim() !== '', field, 'the id of a profile', item);
    expect(item !== id, field, 'another profile than itself', item);
    expect(list.indexOf(item) === index, field, 'named once', item);
  });
  return list as readonly string[];
}

function readTools(
  value: JsonValue | undefined,
  where: string,
  expect: Expect,
): readonly ToolEntry[] {
  expect(Array.isArray(value), 'tools', 'a list of names or objects', value);
  const names = new Set<string>();
  return (value as readonly JsonValue[]).map((item, index) => {
    const field = `tools[${index}]`;
    expect(
      typeof item === 'string' || isJsonObject(item),
      field,
      'a name or an object with `name`',
      item,
    );
    const tool: JsonObject = typeof item === 'string' ? { name: item } : (item as JsonObject);
    const { name, optional, knobs, requiresApproval, timeoutMs, maxOutputChars } = readMembers(
      `${where}: ${field}`,
      tool,
      toolKeys,
      { noun: 'field' },
    );
    expect(
      typeof name === 'string' && name.trim() !== '',
      typeof item === 'string' ? field : `${field}.name`,
      'a non-blank string',
      name,
    );
    expect(!names.has(name as string), field, 'a tool that the list names once', name);
    names.add(name as string);
    expect(
      optional === undefined || typeof optional === 'boolean',
      `${field}.optional`,
      'a boolean',
      optional,
    );
    expect(knobs === undefined || isJsonObject(knobs), `${field}.knobs`, 'an object', knobs);
    expect(
      requiresApproval === undefined || typeof requiresApproval === 'boolean',
      `${field}.requiresApproval`,
      'true',
      requiresApproval,
    );
    expect(
      timeoutMs === undefined ||
        (typeof timeoutMs === 'number' && timeoutMs > 0 && timeoutMs <= longestTimerMs),
      `${field}.timeoutMs`,
      'a number above 0 and at most 2^31-1',
      timeoutMs,
    );
    expect(
      maxOutputChars === undefined ||
        (Number.isSafeInteger(maxOutputChars) && (maxOutputChars as number) > 0),
      `${field}.maxOutputChars`,
      'a whole number from 1',
      maxOutputChars,
    );
    return {
      name,
      optional,
      knobs,
      timeoutMs,
      maxOutputChars,
      requiresApproval: requiresApproval === true,
    } as ToolEntry;
  });
}

/**
 * Sets a tool or lays what is given over what is there; a Map keeps the place of a key that is set
 * again.
 */
function merge(tools: Map<string, ProfileTool>, entry: ToolEntry): void {
  const before = tools.get(entry.name);
  const knobs =
    entry.knobs !== undefined && before?.knobs !== undefined
      ? mergeKnobs(before.knobs, entry.knobs)
      : (entry.knobs ?? before?.knobs);
  tools.set(
    entry.name,
    Object.freeze<ProfileTool>({
      name: entry.name,
      optional: entry.optional ?? before?.optional ?? false,
      knobs: deepFreeze(knobs),
      timeoutMs: entry.timeoutMs ?? before?.timeoutMs,
      maxOutputChars: entry.maxOutputChars ?? before?.maxOutputChars,
      requiresApproval: entry.requiresApproval || before?.requiresApproval === true,
    }),
  );
}

function mergeKnobs(parent: JsonObject, child: JsonObject): JsonObject {
  return Object.fromEntries([...Object.entries(parent), ...Object.entries(child)]);
}

function strictest(effects: readonly (Effect | undefined)[]): Effect | undefined {
  return effects.reduce<Effect | undefined>(
    (strict, effect) =>
      effect !== undefined && (strict === undefined || strictness[effect] > strictness[strict])
        ? effect
        : strict,
    undefined,
  );
}
