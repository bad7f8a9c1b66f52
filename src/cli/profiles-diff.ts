/** `profiles diff`: shows what a session can do under one profile but not under another. */

import { stateOf } from '../core/session/session.ts';
import {
  type JsonObject,
  type JsonValue,
  type Limits,
  MisuseError,
  type Quota,
  type Rule,
  type ToolSession,
} from '../core.ts';
import { quotasOf as compiledQuotas } from '../parts/quotas/quota-state.ts';
import { maskingOf } from '../parts/secrets/masking-of.ts';
import { canonicalJson } from '../values/json/index.ts';
import type { CliIo } from './cli-io.ts';
import { type Command, worldOptions } from './command.ts';
import { untilInterrupted } from './fault.ts';
import { jsonText, printable } from './printable.ts';

/** One difference between two profiles. Null if a profile does not set the field. */
interface Difference {
  readonly field: string;
  readonly a: JsonValue;
  readonly b: JsonValue;
}

/** A rule that only one profile has, and the effective tools of that profile that it applies to. */
interface RuleRow {
  readonly id: string;
  readonly effect: string;
  readonly rule: Rule;
  readonly tools: readonly string[];
}

interface ProfileDiff {
  readonly a: string;
  readonly b: string;
  readonly onlyInA: readonly string[];
  readonly onlyInB: readonly string[];
  readonly tools: readonly { readonly name: string; readonly differences: readonly Difference[] }[];
  readonly rules: { readonly onlyInA: readonly RuleRow[]; readonly onlyInB: readonly RuleRow[] };
  /** Absent if neither has a quota that the other one lacks. */
  readonly quotas?: { readonly onlyInA: readonly Quota[]; readonly onlyInB: readonly Quota[] };
  readonly limits: readonly Difference[];
  readonly default: Difference | null;
}

/** A profile in a session of its own. */
interface Side {
  readonly id: string;
  readonly session: ToolSession;
  readonly names: readonly string[];
  readonly rules: readonly (RuleRow & { readonly key: string })[];
}

export const profilesDiff: Command = {
  name: 'profiles diff',
  usage: 'A B',
  summary: 'show what profile A can do that profile B cannot, and the reverse',
  notes: [
    'It compares the effective tools; for tools in both, decisions, knobs, timeouts, budgets and ' +
      'approval; then rules, quotas, limits and defaults.',
    'The exit code is 0.',
  ],
  options: worldOptions.filter((name) => name !== 'profile'),
  operands: ['A', 'B'],
  async run({ io, operands: [first = '', second = ''], world }) {
    const loaded = await world();
    loaded.requireRules();
    const [a, b] = [
      sideOf(first, loaded.session({ profile: first })),
      sideOf(second, loaded.session({ profile: second })),
    ];
    const diff = await compare(a, b, io);
    return { exit: 0, text: textOf(diff), json: diff };
  },
};

function sideOf(id: string, session: ToolSession): Side {
  const state = stateOf(session);
  const { names } = session.effectiveTools();
  const given = givenRules(state.registry.profiles);
  const rules = (state.profile?.rules ?? []).map((compiled) => {
    const rule = given.get(compiled) ?? { effect: compiled.effect };
    // Two rules that differ only in their id are equal.
    const { id: _, ...rest } = rule;
    const tools = names.filter((name) => compiled.appliesTo(entryOf(session, name).summary));
    return {
      id: compiled.id,
      effect: compiled.effect,
      rule,
      tools,
      key: canonicalJson(rest),
    };
  });
  return { id, session, names, rules };
}

type State = ReturnType<typeof stateOf>;
type Compiled = NonNullable<State['profile']>['rules'][number];

/**
 * The rules as written, by their compiled form. A compiled rule names its profile, and a
 * profile's compiled rules have the order of its written ones.
 */
function givenRules(profiles: State['registry']['profiles']): ReadonlyMap<Compiled, Rule> {
  const found = new Map<Compiled, Rule>();
  for (const [id, { given, resolved }] of profiles) {
    const own = resolved.rules.filter(({ layer }) => layer === `profile:${id}`);
    for (const [index, compiled] of own.entries()) {
      const rule = given.rules?.[index];
      if (rule !== undefined) found.set(compiled, rule);
    }
  }
  return found;
}

async function compare(a: Side, b: Side, io: CliIo): Promise<ProfileDiff> {
  const shared = a.names.filter((name) => b.names.includes(name));
  const tools: { name: string; differences: readonly Difference[] }[] = [];
  for (const name of shared) {
    const differences = differ(
      await factsOf(a.session, name, io),
      await factsOf(b.session, name, io),
    );
    if (differences.length > 0) tools.push({ name, differences });
  }
  const [profileA, profileB] = [stateOf(a.session).profile, stateOf(b.session).profile];
  const defaults = differ(
    { default: profileA?.default ?? null },
    { default: profileB?.default ?? null },
  );
  const quotas = { onlyInA: quotasOnlyIn(a, b), onlyInB: quotasOnlyIn(b, a) };
  return {
    a: a.id,
    b: b.id,
    onlyInA: a.names.filter((name) => !shared.includes(name)),
    onlyInB: b.names.filter((name) => !shared.includes(name)),
    tools,
    rules: { onlyInA: rulesOnlyIn(a, b), onlyInB: rulesOnlyIn(b, a) },
    ...(quotas.onlyInA.length + quotas.onlyInB.length === 0 ? {} : { quotas }),
    limits: differ(limitsOf(profileA?.limits), limitsOf(profileB?.limits)),
    default: defaults[0] ?? null,
  };
}

/** A tool's settings under a profile, as flat fields. The decision is the one without an input. */
async function factsOf(session: ToolSession, name: string, io: CliIo): Promise<JsonObject> {
  const { registry } = stateOf(session);
  const entry = entryOf(session, name);
  const { knobs, timeoutMs, maxOutputChars, profileAsks, rulesAsk, defaultAsks } =
    registry.toolStatusOf(stateOf(session), entry);
  const { decision } = await untilInterrupted(session.explain(name), io.signal);
  const flat: Record<string, JsonValue> = {
    decision: decision?.effect ?? null,
    requiresApproval:
      profileAsks || rulesAsk || defaultAsks || entry.internals.requiresApproval !== false,
    timeoutMs,
    maxOutputChars: Number.isFinite(maxOutputChars) ? maxOutputChars : null,
  };
  const shown = typeof knobs === 'object' && knobs !== null ? (knobs as JsonObject) : {};
  const safe = maskingOf(registry)?.of(entry).knobs?.redact(shown) ?? shown;
  for (const [knob, value] of Object.entries(safe as JsonObject)) flat[`knobs.${knob}`] = value;
  const tool = stateOf(session).profile?.tools.get(name);
  for (const [key, labels] of Object.entries(tool?.more ?? {}))
    for (const [path, label] of Object.entries(labels)) flat[`${key}.${path}`] = label as JsonValue;
  return flat;
}

function entryOf(session: ToolSession, name: string): NonNullable<ReturnType<State['entryOf']>> {
  const entry = stateOf(session).entryOf(name);
  if (entry === undefined)
    throw new MisuseError('unknown_tool', `The tool \`${name}\` was unregistered.`);
  return entry;
}

function limitsOf(limits: Limits | undefined): JsonObject {
  return Object.fromEntries(
    Object.entries(limits ?? {}).filter(
      (pair): pair is [string, number] => typeof pair[1] === 'number',
    ),
  );
}

function rulesOnlyIn(one: Side, other: Side): RuleRow[] {
  const keys = new Set(other.rules.map(({ key }) => key));
  return one.rules
    .filter(({ key }) => !keys.has(key))
    .map(({ id, effect, rule, tools }) => ({ id, effect, rule, tools }));
}

/** The quotas of a profile and its parents, as written, that the other one lacks. */
function quotasOnlyIn(one: Side, other: Side): Quota[] {
  const keyOf = (quota: Quota): string => canonicalJson(quota);
  const known = new Set(quotasOf(other).map(keyOf));
  return quotasOf(one).filter((quota) => !known.has(keyOf(quota)));
}

function quotasOf({ session }: Side): Quota[] {
  const { profile, registry } = stateOf(session);
  return (profile === undefined ? [] : compiledQuotas(profile)).flatMap(({ id, layer }) => {
    const given = registry.profiles.get(layer.slice('profile:'.length))?.given;
    return given?.quotas?.filter((quota) => quota.id === id) ?? [];
  });
}

function differ(a: JsonObject, b: JsonObject): Difference[] {
  const fields = new Set([...Object.keys(a), ...Object.keys(b)]);
  return [...fields]
    .map((field) => ({ field, a: a[field] ?? null, b: b[field] ?? null }))
    .filter((one) => canonicalJson(one.a) !== canonicalJson(one.b));
}

function textOf({
  a,
  b,
  onlyInA,
  onlyInB,
  tools,
  rules,
  quotas,
  limits,
  default: fallback,
}: ProfileDiff): string {
  const [nameA, nameB] = [printable(a), printable(b)];
  const lines: string[] = [];
  const section = (title: string, rows: readonly string[]): void => {
    if (rows.length > 0) lines.push(`${title}:`, ...rows.map((row) => `  ${row}`));
  };
  const between = ({ field, a: left, b: right }: Difference): string =>
    `${printable(field)}: ${worded(left)} in ${nameA}, ${worded(right)} in ${nameB}`;
  section(`Tools only in ${nameA}`, onlyInA.map(printable));
  section(`Tools only in ${nameB}`, onlyInB.map(printable));
  for (const { name, differences } of tools) section(printable(name), differences.map(between));
  section(`Rules only in ${nameA}`, rules.onlyInA.map(ruleLine));
  section(`Rules only in ${nameB}`, rules.onlyInB.map(ruleLine));
  section(`Quotas only in ${nameA}`, (quotas?.onlyInA ?? []).map(quotaLine));
  section(`Quotas only in ${nameB}`, (quotas?.onlyInB ?? []).map(quotaLine));
  section('Limits', limits.map(between));
  if (fallback !== null) lines.push(`If no rule matches, the ${between(fallback)}`);
  return lines.length === 0 ? `${nameA} and ${nameB} are the same.` : lines.join('\n');
}

function ruleLine({ id, effect, rule, tools }: RuleRow): string {
  const { when, origins, reason, shadow, principal, surface, facts } = rule;
  const touched =
    tools.length === 0
      ? `${subjectOf(rule)}, which is not an effective tool,`
      : tools.map(printable).join(', ');
  const rest =
    (principal === undefined ? '' : ` for the principal ${jsonText(principal)}`) +
    (surface === undefined ? '' : ` by way of ${jsonText(surface)}`) +
    (facts === undefined ? '' : ` with the facts ${jsonText(facts)}`) +
    (when === undefined ? '' : ` when ${jsonText(when)}`) +
    (origins === undefined ? '' : ` with values of the origins ${jsonText(origins)}`) +
    (reason === undefined ? '' : ` as ${printable(reason)}`);
  const what = shadow === true ? `shadow ${effect}` : effect;
  return `${what} ${rest === '' ? touched.replace(/,$/, '') : touched}${rest} (${printable(id)})`;
}

function quotaLine({ id, ...quota }: Quota): string {
  return `${printable(id)}: ${jsonText(quota)}`;
}

/** The tools that a rule names, as written. */
function subjectOf({ tools, tags, annotations, source }: Rule): string {
  const parts = [tools === undefined ? 'every tool' : [tools].flat().map(printable).join(' or ')];
  if (tags !== undefined) parts.push(`tagged ${[tags].flat().map(printable).join(' or ')}`);
  if (annotations !== undefined) parts.push(`annotated ${jsonText(annotations)}`);
  if (source !== undefined) parts.push(`from ${printable(source)}`);
  return parts.join(' ');
}

function worded(value: JsonValue): string {
  return value === null
    ? 'not set'
    : typeof value === 'string'
      ? printable(value)
      : jsonText(value);
}
