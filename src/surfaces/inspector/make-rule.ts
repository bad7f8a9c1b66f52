/** Makes a rule from a recorded call, and tries it on all recorded calls. Nothing runs. */

import { registryStateOf } from '../../core/registry/state-of.ts';
import { everyRule, scopeOf } from '../../core/rules/rule-use.ts';
import { compileRules } from '../../core/rules/rules.ts';
import type { HostToolRegistry, Rule } from '../../core.ts';
import { everyQuota } from '../../parts/quotas/quota-state.ts';
import { reviewOf } from '../../parts/rule-review/review-of.ts';
import type { JsonPrimitive, JsonValue } from '../../values/json/index.ts';
import { redacted } from '../../values/redaction/spellings.ts';
import type { RuleProposal, RuleRequest, RuleTrial } from '../pages/inspector-make-wire.ts';
import { backtest } from '../policy/index.ts';
import type { CallLog, KeptCall } from './call-log.ts';
import { recordedCalls } from './recorded-calls.ts';
import type { SessionList } from './session-list.ts';
import { fieldsOf, fitsKey, type InputField, shownField, yamlText } from './yaml-text.ts';

type State = ReturnType<typeof registryStateOf>;
type Comparison = { readonly glob?: string; readonly gte?: number; readonly lte?: number };
type Test = JsonPrimitive | Comparison;
/** A rule in the form of files. */
type MadeRule = {
  readonly id: string;
  readonly effect: RuleRequest['effect'];
  readonly tools: string;
  readonly principal?: string;
  readonly when?:
    | { readonly [path: string]: Test }
    | readonly ({
        readonly path: readonly string[];
        readonly equals?: JsonPrimitive;
      } & Comparison)[];
};

/** Most changed calls that the page lists. */
const maxListed = 20;

/** Why nothing can be made, for the person. */
export interface CannotMake {
  readonly cannot: string;
}

/** Makes rules. */
export interface RuleMaker {
  /** What a rule from this call may test. */
  propose(call: KeptCall): RuleProposal | CannotMake;
  /** Writes the rule and tries it. Rejects with the reason of the signal when that aborts. */
  make(request: RuleRequest, call: KeptCall, signal: AbortSignal): Promise<RuleTrial | CannotMake>;
}

export function createRuleMaker(
  registry: HostToolRegistry<never>,
  log: CallLog,
  sessions: SessionList,
): RuleMaker {
  const state = registryStateOf(registry);
  return {
    propose(call) {
      const known = inputFieldsOf(state, call);
      if ('cannot' in known) return known;
      return {
        effect: likelyEffect(call),
        fields: known.fields.map(shownField),
        more: known.more,
      };
    },
    async make(request, call, signal) {
      const known = inputFieldsOf(state, call);
      if ('cannot' in known) return known;
      const rule = ruleOf(state, request, call, known.fields);
      if ('cannot' in rule) return rule;
      const fault = faultOf(state, rule);
      if (fault !== undefined) return { cannot: fault };
      const { records, counts } = recordedCalls(state, log, sessions, signal);
      const { calls, changed, summary, byRule } = await backtest(records, {
        registry,
        after: [...ownRules(state), rule],
        maxChanged: maxListed,
      });
      const { judged, changes, unknown, invalid, redacted: hidden, unasked } = summary;
      return {
        yaml: yamlText({ rules: [rule] }),
        calls: calls + counts.cut,
        judged,
        matched: byRule[rule.id]?.matched ?? 0,
        changed: summary.changed,
        changes,
        first: changed.map(({ callId, before, after }) => ({ n: Number(callId), before, after })),
        unjudged: { cut: counts.cut, unknown, invalid },
        redacted: hidden,
        unasked,
        withoutFacts: counts.withoutFacts,
      };
    },
  };
}

function inputFieldsOf(state: State, call: KeptCall): ReturnType<typeof fieldsOf> | CannotMake {
  const { tool } = call.line;
  if (!state.catalogue.tools.has(tool))
    return { cannot: 'The registry has no tool with this name, so a rule would concern nothing.' };
  // No rule can name it alone. Whoever serves a tool chooses its name.
  if (/[*?]/.test(tool))
    return { cannot: 'Rules read the name of this tool as a pattern, which concerns other tools.' };
  const whole = wholeInputOf(call);
  if ('cannot' in whole) return whole;
  return fieldsOf(whole.input, (path, equals) => {
    const when = [{ path, equals }];
    return faultOf(state, { effect: 'deny', tools: tool, when }) === undefined;
  });
}

/** The input of a call as events have it, if the log has all of it. */
export function wholeInputOf({
  kept,
  isWhole,
}: KeptCall): { readonly input: JsonValue } | CannotMake {
  if (kept === undefined)
    return { cannot: 'This call is so old that its input is no longer kept.' };
  if (!isWhole) return { cannot: 'The inspector has not kept the whole input of this call.' };
  return { input: JSON.parse(kept.input) as JsonValue };
}

/** Why the rule is malformed or can never match, as `validate` says; undefined if it can. */
function faultOf(state: State, rule: Rule): string | undefined {
  const [compiled] = compileRules([rule], 'registry', state.parts);
  if (compiled === undefined) return undefined;
  return reviewOf(state).faultsOf(compiled, false)[0]?.message;
}

/** An allow changes only what the default decides. */
function likelyEffect({ line: { effect, layer } }: KeptCall): RuleProposal['effect'] {
  if (layer === 'default' && effect !== 'allow') return 'allow';
  return effect === 'ask' ? 'deny' : 'ask';
}

function ruleOf(
  state: State,
  { effect, principal: named, fields }: RuleRequest,
  { line: { tool, principal } }: KeptCall,
  offered: readonly InputField[],
): MadeRule | CannotMake {
  if (named && (principal.includes(redacted) || principal.length > 1_000))
    return { cannot: 'The principal is not known completely, so no rule can name it.' };
  const conditions: [path: readonly string[], test: Test][] = [];
  for (const { at, test, value } of fields) {
    const field = offered[at];
    if (field === undefined || !field.tests.includes(test))
      return { cannot: 'The input has no such value that a rule could test.' };
    const operand = value ?? (test === 'glob' ? (field.glob ?? '') : field.value);
    if (test !== 'equals' && typeof operand !== (test === 'glob' ? 'string' : 'number'))
      return { cannot: `Expected ${test === 'glob' ? 'a glob' : 'a number'}.` };
    if (typeof operand === 'string' && operand.includes(redacted))
      return { cannot: 'A secret that is not known cannot be tested.' };
    conditions.push([
      field.path,
      test === 'equals' ? field.value : ({ [test]: operand } as Comparison),
    ]);
  }
  return {
    id: freeId(state, `${effect}-${tool}`.slice(0, 200)),
    effect,
    tools: tool,
    ...(named ? { principal } : {}),
    ...(conditions.length === 0 ? {} : { when: whenOf(conditions) }),
  };
}

/**
 * The map from dotted paths, which people read best, unless a name means something there or a path
 * is too long for a key.
 */
function whenOf(
  conditions: readonly (readonly [path: readonly string[], test: Test])[],
): NonNullable<MadeRule['when']> {
  const paths = conditions.map(([path]) => path.join('.'));
  const isPlain = conditions.every(([path]) => path.every((name) => /^[^.@]+$/.test(name)));
  if (isPlain && paths.every(fitsKey) && new Set(paths).size === paths.length)
    return Object.fromEntries(conditions.map(([, test], at) => [paths[at], test]));
  return conditions.map(([path, test]) => ({
    path,
    ...(typeof test === 'object' && test !== null ? test : { equals: test }),
  }));
}

/** An id that no rule and no quota has, so that records tell them apart. */
function freeId(state: State, wanted: string): string {
  const taken = new Set([...everyRule(state), ...everyQuota(state)].map(({ id }) => id));
  let id = wanted;
  for (let number = 2; taken.has(id); number++) id = `${wanted}-${number}`;
  return id;
}

/** The registry's own rules, as they were written. */
function ownRules(state: State): readonly Rule[] {
  return state
    .allRules()
    .filter((rule) => scopeOf(state.rules, rule) === undefined)
    .map(({ id, effect, reason, shadow, about, conditions }) => ({
      id,
      effect,
      ...(reason === undefined ? {} : { reason }),
      ...(shadow ? { shadow } : {}),
      ...about,
      ...conditions,
    }));
}
