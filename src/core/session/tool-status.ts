/**
 * The status of a tool: its rules, its knobs, and whether it is dropped. Sessions that see the same
 * tools share it, so it is computed once for all of them.
 */

import type { Effect } from '../../api/policy.ts';
import { cloneJson, deepFreeze, type JsonObject, type JsonValue } from '../../values/json/index.ts';
import type { ToolStatus } from '../call/binding.ts';
import type { ToolGates } from '../call/ports.ts';
import type { CompiledRule } from '../rules/rule.ts';
import type { ToolEntry } from '../tool/tool-entry.ts';
import { dropCode } from '../toolset/effective.ts';
import type { Block } from '../toolset/tool-spec.ts';
import type { SessionState } from './session-state.ts';

/** Longer than 60 lines, since each value of the status is one expression over the same rules. */
export function toolStatusOf(session: SessionState, entry: ToolEntry): ToolStatus {
  const { registry, profile } = session;
  const { summary, internals, name } = entry;
  const profileTool = profile?.tools.get(name);
  const who = session.actor.principal;
  const touches = (rule: CompiledRule): boolean =>
    rule.appliesTo(summary) && rule.appliesIn(who, session.facts);
  const registryRules = registry.rulesFor(entry.owner).filter(touches);
  const sessionRules =
    profile === undefined && session.rules.length === 0
      ? session.rules
      : [...(profile?.rules ?? []), ...session.rules].filter(touches);
  const gates = gatesFor(session, entry);
  const knobs = parseKnobs(session, entry, profileTool?.knobs);
  const blocked: Block[] = [];
  if (!entry.enabled || internals.outside?.withdrawn() !== undefined) blocked.push('disabled');
  const rules = [...registryRules, ...sessionRules];
  const enforced = rules.some(isShadow) ? rules.filter((rule) => !isShadow(rule)) : rules;
  if (hidden(enforced)) blocked.push('denied');
  if (knobs === undefined) blocked.push('knobs_missing');
  if (internals.runsIn === 'external') blocked.push('external');
  if (internals.ui?.only === 'app') blocked.push('app_only');
  const drop = dropCode(
    { requires: internals.requires, blocked },
    {
      disabledByOverride: session.overrides?.disable?.includes(name) === true,
      inProfile: isChosen(session, entry),
      facts: session.facts,
    },
  );
  const effect = strictest(registry.settings.default, profile?.default ?? 'allow');
  const profileAsks = profileTool?.requiresApproval === true;
  const mayAllow =
    enforced.some((rule) => rule.effect === 'allow') ||
    registry.settings.policies.length > 0 ||
    internals.check !== undefined;
  const unjudged =
    rules.length === 0 && registry.settings.policies.length === 0 && effect === 'allow';
  const status: ToolStatus = {
    drop,
    registryRules,
    sessionRules,
    gates,
    default: effect,
    profileAsks,
    rulesAsk: enforced.some((rule) => rule.effect === 'ask' && !rule.hasWhen),
    defaultAsks: effect === 'ask' && !mayAllow,
    knobs,
    open:
      unjudged &&
      !profileAsks &&
      gates.every(
        ({ judges = none, attributes = none }) => judges.length + attributes.length === 0,
      ) &&
      internals.check === undefined &&
      internals.requiresApproval === false,
    timeoutMs:
      profileTool?.timeoutMs ?? internals.execution.timeoutMs ?? registry.settings.defaultTimeoutMs,
    maxOutputChars: Math.min(
      internals.execution.maxOutputChars ?? Number.POSITIVE_INFINITY,
      profileTool?.maxOutputChars ?? Number.POSITIVE_INFINITY,
    ),
    masking:
      registry.ports.calls.masking?.concerns(entry) === true
        ? registry.ports.calls.masking
        : undefined,
  };
  const { outer } = session;
  const { acting } = registry.ports.sessions;
  return outer === undefined || acting === undefined
    ? status
    : acting.narrow(session, outer, entry, status);
}

const none: readonly never[] = Object.freeze([]);

function gatesFor(session: SessionState, entry: ToolEntry): readonly ToolGates[] {
  let found: ToolGates[] | undefined;
  for (const gatesOf of session.registry.ports.tools.gates) {
    const gates = gatesOf(session, entry);
    if (gates === undefined) continue;
    found ??= [];
    // Own members only: a `start` on `Object.prototype` is no gate.
    found.push({ __proto__: null, ...gates } as ToolGates);
  }
  return found ?? none;
}

/**
 * Whether the profile, an override or the session itself includes a tool. Without a profile, all
 * tools are included.
 */
function isChosen(
  { profile, overrides, tools: { own, brought } }: SessionState,
  entry: ToolEntry,
): boolean {
  const { name } = entry;
  return (
    profile === undefined ||
    profile.tools.has(name) ||
    own?.has(name) === true ||
    brought?.get(name) === entry ||
    overrides?.enable?.includes(name) === true ||
    overrides?.force?.includes(name) === true
  );
}

function isShadow({ shadow }: CompiledRule): boolean {
  return shadow;
}

/**
 * Whether some rule hides the tool. Such a rule counts as one that has matched, because it has an
 * effect although calls to a hidden tool are rare.
 */
function hidden(rules: readonly CompiledRule[]): boolean {
  let found = false;
  for (const { effect, hasWhen, use } of rules) {
    if (effect !== 'deny' || hasWhen) continue;
    use.matched = true;
    found = true;
  }
  return found;
}

const noKnobs: JsonObject = Object.freeze({});
const order: readonly Effect[] = ['allow', 'ask', 'deny'];

/** The stricter of two effects, in the order deny, ask, allow. */
function strictest(left: Effect, right: Effect): Effect {
  return order.indexOf(left) >= order.indexOf(right) ? left : right;
}

/** The tool's knobs in a profile, frozen; undefined if they are missing. */
function parseKnobs(
  session: SessionState,
  entry: ToolEntry,
  given: JsonObject | undefined,
): unknown {
  const schema = entry.internals.knobs;
  if (schema === undefined) return noKnobs;
  const parsed = schema.validate(given === undefined ? {} : cloneJson(given as JsonValue));
  // Knobs must be available synchronously, so a schema with asynchronous validation cannot parse
  // them.
  if (parsed instanceof Promise) return undefined;
  if (parsed.issues === undefined) return deepFreeze(parsed.value);
  const { sessionId, registry } = session;
  if (parsed.fault !== undefined)
    registry.hostFault(
      parsed.fault.thrown,
      { sessionId, toolName: entry.name, source: 'knobs' },
      'the schema `policy.knobs` threw; the tool is not available',
    );
  return undefined;
}
