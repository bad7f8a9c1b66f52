/**
 * Profiles: named, ordered sets of tools with their knobs, rules and limits; and the limits of a
 * session.
 */

import { describe, MisuseError } from '../errors.ts';
import { copyJson, deepFreeze, isJsonObject, type JsonObject } from '../json.ts';
import {
  anything,
  array,
  duration,
  flag,
  kind,
  longestTimerMs,
  object,
  oneOf,
  readOptions,
  required,
  type TableOf,
  wholeNumber,
  withDefault,
  wrongOption,
} from '../options.ts';
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
const least1 = wholeNumber(1);
const limitTable = {
  callsPerMinute: least1,
  maxConcurrentCalls: least1,
  maxQueuedCalls: wholeNumber(0),
  queueTimeoutMs: wholeNumber(1, longestTimerMs),
  maxPendingApprovals: wholeNumber(0),
  loopGuard: kind<number | false>(
    `false or ${least1.expected}`,
    (value) => value === false || least1.accepts(value),
  ),
  maxInputBytes: least1,
  maxOutputChars: least1,
} satisfies TableOf<Limits>;
const limitNames = Object.keys(limitTable) as readonly LimitName[];

/**
 * Checks limits and returns a frozen copy of those that are given.
 * @param where What messages start with, such as `createSession` or ``profile `ci` ``.
 * @throws MisuseError `invalid_option`, naming the limit.
 */
export function checkLimits(limits: Limits, where: string): Limits {
  const given = readOptions(where, limits, limitTable, { path: 'limits' });
  // Without a prototype and without absent ones: limits are merged, and read one by one at each
  // call.
  const copy = Object.create(null) as { -readonly [K in LimitName]?: number | false };
  for (const name of limitNames) if (given[name] !== undefined) copy[name] = given[name];
  return Object.freeze(copy) as Limits;
}

/** The smallest of each limit over all that are given. `loopGuard: false` has no opinion. */
export function tightestLimits(...limits: readonly (Limits | undefined)[]): Limits {
  const tightest = Object.create(null) as { -readonly [K in LimitName]?: number };
  for (const given of limits) {
    if (given === undefined) continue;
    for (const key of limitNames) {
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

const profileTable = {
  id: required(
    kind<string>(
      'a non-blank string without white space at its ends, of at most 256 characters',
      (id) => typeof id === 'string' && id !== '' && id.trim() === id && id.length <= 256,
    ),
  ),
  extends: anything(),
  tools: required(array('a list of names or objects')),
  rules: withDefault(anything<readonly Rule[]>(), Object.freeze([])),
  limits: anything<Limits>(),
  default: oneOf('allow', 'ask', 'deny'),
} satisfies TableOf<Profile>;
const asField = { noun: 'field' };
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
      'defineProfile: expected a profile to be plain data, got a value that JSON cannot ' +
        `hold${copied.path === '' ? '' : ` at \`${copied.path}\``}: ${copied.message}.`,
    );
  const { value } = copied;
  if (!isJsonObject(value))
    throw new MisuseError(
      'invalid_option',
      `defineProfile: expected an object, got ${describe(profile)}.`,
    );
  const given = Object.hasOwn(value, 'id') ? value.id : undefined;
  const where =
    typeof given === 'string' && given.length <= 256 ? `profile \`${given}\`` : 'defineProfile';
  const source = readOptions(where, value, profileTable, asField);
  const { id, default: own } = source;
  const parents = readParents(source.extends, id, where).map((parentId) => {
    const parent = lookup(parentId);
    if (parent === undefined)
      throw new MisuseError(
        'unknown_profile',
        `${where}: expected \`extends\` to name defined profiles, got \`${parentId}\`.`,
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
  for (const entry of readTools(source.tools, where)) merge(tools, entry);

  const rules = compileRules(source.rules, `profile:${id}`);
  const limits = source.limits === undefined ? {} : checkLimits(source.limits, where);
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
    default: own ?? strictest(parents.map((parent) => parent.default)),
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
      `profile \`${profile.id}\`: expected \`extends\` to name no profile that extends it, ` +
        `got ${describe(heir)}.`,
    );
}

function readParents(value: unknown, id: string, where: string): readonly string[] {
  if (value === undefined) return [];
  const list: readonly unknown[] = Array.isArray(value) ? value : [value];
  list.forEach((item, index) => {
    const field = Array.isArray(value) ? `extends[${index}]` : 'extends';
    if (typeof item !== 'string' || item.trim() === '')
      throw wrongOption(where, field, 'the id of a profile', item);
    if (item === id) throw wrongOption(where, field, 'the id of another profile', item);
    if (list.indexOf(item) !== index)
      throw wrongOption(where, field, 'a profile that the list names once', item);
  });
  return list as readonly string[];
}

const toolTable = {
  name: anything<string>(),
  optional: flag,
  knobs: object<JsonObject>(),
  requiresApproval: withDefault(flag, false),
  timeoutMs: duration,
  maxOutputChars: least1,
};

function readTools(value: readonly unknown[], where: string): readonly ToolEntry[] {
  const names = new Set<string>();
  return value.map((item, index) => {
    const path = `tools[${index}]`;
    if (typeof item !== 'string' && !isJsonObject(item))
      throw wrongOption(where, path, 'a name or an object with `name`', item);
    const tool = typeof item === 'string' ? { name: item } : item;
    const read = readOptions(where, tool, toolTable, { ...asField, path });
    const { name } = read;
    if (typeof name !== 'string' || name.trim() === '') {
      const field = typeof item === 'string' ? path : `${path}.name`;
      throw wrongOption(where, field, 'a non-blank string', name);
    }
    if (names.has(name)) throw wrongOption(where, path, 'a tool that the list names once', name);
    names.add(name);
    return { ...read, name };
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
