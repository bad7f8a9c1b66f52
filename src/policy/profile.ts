/** Profiles: named, ordered sets of tools with their knobs, rules and limits. */
import { describe, MisuseError } from '../errors.ts';
import { copyJson, deepFreeze, isJsonObject, type JsonObject } from '../json.ts';
import { readOptions } from '../options.ts';
import type { Effect } from './decision.ts';
import { checkLimits, type Limits, tightestLimits } from './limits.ts';
import { type Expect, readParents, readTools, type ToolEntry } from './profile-entries.ts';
import type { CompiledRule, Rule } from './rule.ts';
import { compileRules } from './rules.ts';

/** A named, ordered set of tools with their knobs, rules and limits. Plain data. */
export interface Profile {
  /**
   * The name by which sessions choose the profile. Non-blank, without white space at its ends, at
   * most 256 characters. Defining an id again replaces the profile.
   */
  readonly id: string;
  /** Profiles that this one starts from, in order. */
  readonly extends?: string | readonly string[] | undefined;
  /** The tools, in the order in which a session lists them. */
  readonly tools: readonly (
    | string
    | {
        /** The registered name of the tool. */
        readonly name: string;
        /** Leaves the tool out if it is not registered, instead of refusing. @default false */
        readonly optional?: boolean | undefined;
        /** Settings for the tool's own policy. Merged key by key over those of a parent. */
        readonly knobs?: JsonObject | undefined;
        /** Requires approval. A profile cannot remove an approval that is required elsewhere. */
        readonly requiresApproval?: true | undefined;
        /** Milliseconds. Above 0 and at most 2^31-1. */
        readonly timeoutMs?: number | undefined;
        /** Characters. From 1. */
        readonly maxOutputChars?: number | undefined;
      }
  )[];
  /**
   * Rules that are judged after the registry's and before the session's. Those of parents are kept.
   * @default none
   */
  readonly rules?: readonly Rule[] | undefined;
  /**
   * Limits of the profile's sessions. Where a session sets the same limit, the tighter one applies.
   * @default the parents' tightest
   */
  readonly limits?: Limits | undefined;
  /**
   * The decision when no rule or policy matched. The stricter of the registry's and the profile's
   * applies.
   */
  readonly default?: Effect | undefined;
}

/** One tool of a resolved profile. */
export interface ProfileTool {
  readonly name: string;
  readonly optional: boolean;
  /** As given; the tool's knob schema has not filled in its defaults yet. */
  readonly knobs: JsonObject | undefined;
  readonly timeoutMs: number | undefined;
  readonly maxOutputChars: number | undefined;
  readonly requiresApproval: boolean;
}

/** A profile with everything that it extends merged in. Frozen. */
export interface ResolvedProfile {
  readonly id: string;
  /** In the order in which a session lists them. */
  readonly tools: ReadonlyMap<string, ProfileTool>;
  /** Parents' rules first. The layer of each rule names the profile that wrote it. */
  readonly rules: readonly CompiledRule[];
  readonly limits: Limits;
  readonly default: Effect | undefined;
}

const profileKeys = ['id', 'extends', 'tools', 'rules', 'limits', 'default'];
const strictness = { allow: 0, ask: 1, deny: 2 } as const satisfies Record<Effect, number>;

/**
 * Checks a profile and merges in what it extends: its parents in order, then its own. A tool that is
 * named again keeps its position; later settings override earlier ones, knobs key by key, but a
 * required approval cannot be removed. Rules add up. Its own limits override those of its parents,
 * of which the tightest count; its own `default` overrides the strictest of theirs. The registry
 * checks that tools and knobs exist.
 * @throws MisuseError `unknown_profile` for a parent that `lookup` does not know, `invalid_option`
 * for anything malformed, `invalid_rule` for a bad rule
 */
export function resolveProfile(
  profile: Profile,
  lookup: (id: string) => ResolvedProfile | undefined,
): ResolvedProfile {
  const { id, where, source } = readProfile(profile);
  const expect: Expect = (passed, field, expected, got) => {
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
  const tools = mergeTools(parents, readTools(source.tools, where, expect));
  const rules = compileRules((source.rules ?? []) as unknown as readonly Rule[], `profile:${id}`);
  const limits = source.limits === undefined ? {} : checkLimits(source.limits as Limits, where);
  return Object.freeze<ResolvedProfile>({
    id,
    tools,
    // A rule that two parents share is one rule.
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

interface ReadProfile {
  readonly id: string;
  /** Names the profile in messages. */
  readonly where: string;
  readonly source: Partial<JsonObject>;
}

/** Copies a profile and checks its id and the names of its fields. */
function readProfile(profile: Profile): ReadProfile {
  const copied = copyJson(profile, { maxDepth: 72, maxValues: 500_000 });
  if (!copied.ok)
    throw new MisuseError(
      'invalid_option',
      'Expected a profile to be plain data, got something that JSON cannot ' +
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
  const source: Partial<JsonObject> = readOptions(where, value, profileKeys, { noun: 'field' });
  if (typeof id !== 'string' || id.trim() === '' || id.trim() !== id || id.length > 256) {
    throw new MisuseError(
      'invalid_option',
      `Expected a profile's \`id\` to be a non-blank string without white space at its ends, ` +
        `of at most 256 characters, got ${describe(id)}`,
    );
  }
  return { id, where, source };
}

function mergeTools(
  parents: readonly ResolvedProfile[],
  own: readonly ToolEntry[],
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
