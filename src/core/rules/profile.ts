/** Reads profiles, and merges in what they extend. */

import type { Effect } from '../../api/policy.ts';
import type { Limits, Profile } from '../../api/profile.ts';
import type { Rule } from '../../api/rule.ts';
import { describe, MisuseError } from '../../values/errors/index.ts';
import { copyJson, deepFreeze, isJsonObject, type JsonObject } from '../../values/json/index.ts';
import {
  anything,
  array,
  kind,
  type OptionValues,
  oneOf,
  required,
  type TableOf,
  withDefault,
} from '../../values/options/index.ts';
import type { VersionRange } from '../../values/text/versions.ts';
import type { SlotHolder } from '../slot.ts';
import type { ToolEntry } from '../tool/tool-entry.ts';
import { checkLimits, tightestLimits } from './limits.ts';
import {
  type PartValue,
  type ProfileEntry,
  type ProfileReaders,
  readParents,
  readTools,
} from './profile-entries.ts';
import type { CompiledRule } from './rule.ts';
import type { RuleParts } from './rule-check.ts';
import { compileRules } from './rules.ts';

/** One tool of a resolved profile. */
export interface ProfileTool {
  readonly name: string;
  /** Undefined if no profile names versions. */
  readonly range: VersionRange | undefined;
  readonly optional: boolean;
  /** As given; the tool's knob schema has not filled in its defaults yet. */
  readonly knobs: JsonObject | undefined;
  readonly timeoutMs: number | undefined;
  readonly maxOutputChars: number | undefined;
  readonly requiresApproval: boolean;
  /** Whether calls must be tasks. */
  readonly task: 'required' | undefined;
  /** Keys of parts, each of which is a map or a list; undefined if there are none. */
  readonly more: Readonly<Record<string, PartValue>> | undefined;
}

/** A profile with everything that it extends merged in. Frozen. */
export interface ResolvedProfile extends SlotHolder {
  readonly id: string;
  /** In the order in which a session lists them. */
  readonly tools: ReadonlyMap<string, ProfileTool>;
  /** The ranges of those tools that have one; undefined if none has. */
  readonly ranges: ReadonlyMap<string, VersionRange> | undefined;
  /** Parents' rules first. The layer of each rule names the profile that wrote it. */
  readonly rules: readonly CompiledRule[];
  /** Whether one of the rules tests the principal. */
  readonly testsPrincipal: boolean;
  readonly limits: Limits;
  readonly default: Effect | undefined;
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
} satisfies Partial<TableOf<Profile>>;
const strictness = { allow: 0, ask: 1, deny: 2 } as const satisfies Record<Effect, number>;

/**
 * Checks a profile and merges in what it extends: its parents in order, then its own. A tool that
 * is named again keeps its position; later settings override earlier ones, knobs key by key, but a
 * required approval cannot be removed. Rules add up. Its own limits override those of
 * its parents, of which the tightest count; its own `default` overrides the strictest of theirs.
 * The registry checks that tools and knobs exist.
 * @param registry Has the parts that read keys of their own.
 * @throws MisuseError `unknown_profile` for a parent that `lookup` does not know, `invalid_option`
 * for anything malformed, `invalid_rule` for a bad rule
 */
export function resolveProfile(
  profile: Profile,
  lookup: (id: string) => ResolvedProfile | undefined,
  readers: ProfileReaders,
): ResolvedProfile {
  const { parts, ports } = readers;
  const { where, source } = readProfile(profile, parts);
  const { id } = source;
  const parents = readParents(source.extends, id, where).map((parentId) => {
    const parent = lookup(parentId);
    if (parent === undefined)
      throw new MisuseError(
        'unknown_profile',
        `${where}: expected \`extends\` to name defined profiles, got \`${parentId}\`.`,
      );
    return parent;
  });
  const tools = mergeTools(parents, readTools(source.tools, where, readers));
  const own = compileRules(source.rules, `profile:${id}`, parts);
  // A rule that two parents share is one rule.
  const rules = [...new Set([...parents.flatMap((parent) => parent.rules), ...own])];
  const limits = source.limits === undefined ? {} : checkLimits(source.limits, where);
  const resolved: ResolvedProfile = {
    slots: undefined,
    id,
    tools,
    ranges: rangesOf(tools),
    rules: Object.freeze(rules),
    testsPrincipal: rules.some(({ hasPrincipal }) => hasPrincipal),
    limits: Object.freeze(
      Object.assign(
        Object.create(null) as Limits,
        tightestLimits(...parents.map((parent) => parent.limits)),
        limits,
      ),
    ),
    default: source.default ?? strictest(parents.map((parent) => parent.default)),
  };
  for (const read of ports.profiles.options) read(resolved, source, parents);
  return Object.freeze(resolved);
}

interface ReadProfile {
  /** Names the profile in messages. */
  readonly where: string;
  readonly source: OptionValues<typeof profileTable>;
}

/** Copies a profile and checks its fields. */
function readProfile(profile: Profile, parts: RuleParts): ReadProfile {
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
  const id = Object.hasOwn(value, 'id') ? value.id : undefined;
  const where = typeof id === 'string' && id.length <= 256 ? `profile \`${id}\`` : 'defineProfile';
  return {
    where,
    source: parts.readOptions('profile', where, value, profileTable, { noun: 'field' }),
  };
}

function mergeTools(
  parents: readonly ResolvedProfile[],
  own: readonly ProfileEntry[],
): Map<string, ProfileTool> {
  const tools = new Map<string, ProfileTool>();
  for (const parent of parents)
    for (const tool of parent.tools.values())
      merge(tools, {
        ...tool,
        optional: tool.optional && (tools.get(tool.name)?.optional ?? true),
      });
  for (const entry of own) merge(tools, entry);
  return tools;
}

/**
 * Adds a tool, or overrides what an earlier profile set. A Map keeps the position of a key that is
 * set again.
 */
function merge(tools: Map<string, ProfileTool>, entry: ProfileEntry): void {
  const before = tools.get(entry.name);
  tools.set(
    entry.name,
    Object.freeze<ProfileTool>({
      name: entry.name,
      range: entry.range ?? before?.range,
      optional: entry.optional ?? before?.optional ?? false,
      knobs: deepFreeze(mergeMaps(before?.knobs, entry.knobs)),
      timeoutMs: entry.timeoutMs ?? before?.timeoutMs,
      maxOutputChars: entry.maxOutputChars ?? before?.maxOutputChars,
      requiresApproval: entry.requiresApproval || before?.requiresApproval === true,
      task: entry.task ?? before?.task,
      more: deepFreeze(mergeMore(before?.more, entry.more)),
    }),
  );
}

function rangesOf(tools: Map<string, ProfileTool>): Map<string, VersionRange> | undefined {
  const ranges = new Map<string, VersionRange>();
  for (const [name, { range }] of tools)
    if (range !== undefined && !range.any) ranges.set(name, range);
  return ranges.size === 0 ? undefined : ranges;
}

function mergeMore(parent: ProfileTool['more'], child: ProfileTool['more']): ProfileTool['more'] {
  if (parent === undefined || child === undefined) return child ?? parent;
  const more = Object.assign(Object.create(null) as Record<string, PartValue>, parent);
  for (const [key, own] of Object.entries(child)) {
    const before = more[key];
    more[key] =
      Array.isArray(own) && Array.isArray(before)
        ? [...new Set([...before, ...own])]
        : mergeMaps(before as JsonObject | undefined, own as JsonObject);
  }
  return more;
}

/** A map of a parent, overridden key by key. */
function mergeMaps<M extends JsonObject | undefined>(
  parent: JsonObject | undefined,
  child: M,
): JsonObject | M {
  if (parent === undefined || child === undefined) return child ?? parent ?? child;
  // Kept as entries, so that a key such as `__proto__` is one like any other.
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

/** What a part has to do with the tools that profiles name. */
export interface ProfileTools {
  /** Checks its keys of a tool in a profile. @throws MisuseError for a wrong one. */
  read(keys: Readonly<Record<string, PartValue>>, where: string, path: string): void;
  /** Compares them with the registered tool. @throws MisuseError */
  check(profileId: string, entry: ToolEntry, tool: ProfileTool): void;
}
