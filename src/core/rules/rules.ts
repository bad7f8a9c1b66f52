/** Checks and compiles rules, once, when the host passes them. */

import type { Effect } from '../../api/policy.ts';
import type { Rule } from '../../api/rule.ts';
import type { ToolAnnotations } from '../../api/tool.ts';
import { describe, MisuseError } from '../../values/errors/index.ts';
import {
  copyJson,
  deepFreeze,
  isJsonObject,
  type JsonObject,
  type JsonValue,
} from '../../values/json/index.ts';
import { unknownOption } from '../../values/options/index.ts';
import { globTest, literalsIn } from '../../values/text/glob.ts';
import { latinForm } from '../../values/text/look-alikes.ts';
import { holds, holdsFor } from './conditions.ts';
import { isReason } from './decision.ts';
import type { CompiledRule, Reading } from './rule.ts';
import type { RuleParts } from './rule-check.ts';
import { type Check, checkOf, isText, maxTextLength, placeOf } from './rule-check.ts';
import { compilePlainTest } from './value-test.ts';
import { attributesOf, comparisonOf, compileWhen } from './when.ts';

const scopeKeys = ['tools', 'tags', 'annotations', 'source'];
const conditionKeys = ['principal', 'surface', 'facts', 'when'];
const annotationKeys = [
  'readOnly',
  'destructive',
  'idempotent',
  'openWorld',
  'reversible',
] as const;

/**
 * Checks and compiles the rules of one layer, in order.
 * @param before how many rules the layer already has: a rule without an id is named after its index
 * in the whole layer
 * @throws MisuseError `invalid_rule`, which names the layer, the index, the field, what was
 * expected and what came
 */
export function compileRules(
  rules: readonly Rule[],
  layer: string,
  parts: RuleParts,
  before = 0,
): readonly CompiledRule[] {
  if (!Array.isArray(rules))
    throw new MisuseError(
      'invalid_rule',
      `Expected ${layer} rules to be an array, got ${describe(rules)}`,
    );
  return Object.freeze(
    Array.from(rules, (rule, index) => compileRule(rule, layer, parts, index, before)),
  );
}

/** What was compiled of rules that were tried. They are plain data that no code changes. */
const tried = new WeakMap<
  object,
  { readonly id: string | undefined; readonly rule: CompiledRule; readonly parts: RuleParts }
>();

/**
 * Checks a rule before it is added. Adding it later does not compile it again. Only for rules that
 * no other code can change.
 * @throws MisuseError `invalid_rule`, as {@link compileRules} for a list of this rule
 */
export function tryRule(rule: Rule, layer: string, parts: RuleParts): void {
  const [compiled] = compileRules([rule], layer, parts) as readonly [CompiledRule];
  tried.set(rule, { id: rule.id, rule: compiled, parts });
}

/** The result for a rule that was tried, once; undefined for any other rule. */
function takeTried(
  source: unknown,
  layer: string,
  parts: RuleParts,
  index: number,
  before: number,
): CompiledRule | undefined {
  if (typeof source !== 'object' || source === null) return undefined;
  const known = tried.get(source);
  if (known === undefined || known.rule.layer !== layer || known.parts !== parts) return undefined;
  tried.delete(source);
  const id = known.id ?? `${layer}#${before + index}`;
  return Object.freeze<CompiledRule>({ ...known.rule, id });
}

function compileRule(
  source: unknown,
  layer: string,
  parts: RuleParts,
  index: number,
  before: number,
): CompiledRule {
  const known = takeTried(source, layer, parts, index, before);
  if (known !== undefined) return known;
  const { rule, where } = readRule(source, `${layer} rule ${index}`, parts);
  const check: Check = checkOf(where, parts);
  const { effect, id, reason, shadow } = rule;
  check(
    effect === 'allow' || effect === 'ask' || effect === 'deny',
    'effect',
    '`allow`, `ask` or `deny`',
    effect,
  );
  if (id !== undefined)
    check(
      isText(id) && id.trim() === id && id.length <= 256,
      'id',
      'a non-blank string without white space at its ends, of at most 256 characters',
      id,
    );
  if (reason !== undefined)
    check(isReason(reason), 'reason', 'a string that matches ^[a-z][a-z0-9_]*$', reason);
  if (shadow !== undefined) check(typeof shadow === 'boolean', 'shadow', 'a boolean', shadow);
  if (shadow === true) parts.checkFields('rule', where, { shadow });

  return Object.freeze<CompiledRule>({
    id: id ?? `${layer}#${before + index}`,
    effect,
    reason: effect === 'deny' ? (reason ?? 'denied_by_rule') : undefined,
    layer,
    shadow: shadow === true,
    use: { matched: false },
    details: readDetails(rule, effect, check),
    conditions: writtenOf(rule, [...conditionKeys, ...parts.namesOf('ruleKeys')]),
    about: writtenOf(rule, scopeKeys),
    appliesTo: compileScope(rule, effect, check),
    names: literalsIn(rule.tools),
    ...compileSessionPart(rule, effect, check),
    ...compileCallPart(rule, effect, check),
  });
}

function readDetails(
  rule: Partial<JsonObject>,
  effect: Effect,
  check: Check,
): CompiledRule['details'] {
  const found = check.parts.namesOf('askKeys').flatMap((key) => {
    const value = rule[key];
    if (value === undefined) return [];
    check(effect === 'ask', key, 'left out, since only a rule that asks has it', value);
    return [[key, [check.parts.find('askKeys', key, key)(value, check)]]];
  });
  return found.length === 0 ? undefined : deepFreeze(Object.fromEntries(found));
}

function writtenOf(rule: Partial<JsonObject>, keys: readonly string[]): Partial<JsonObject> {
  const written = keys.flatMap((key) => (rule[key] === undefined ? [] : [[key, rule[key]]]));
  return Object.freeze(Object.fromEntries(written));
}

type SessionPart = Pick<CompiledRule, 'hasPrincipal' | 'appliesIn'>;

/** The part of a rule that no call changes. */
function compileSessionPart(
  { principal, facts }: Partial<JsonObject>,
  effect: Effect,
  check: Check,
): SessionPart {
  const comparison = comparisonOf(effect);
  const reading = readingOf(effect);
  const who =
    principal === undefined
      ? undefined
      : compilePlainTest(principal, 'principal', comparison, check);
  if (facts !== undefined)
    check(
      isJsonObject(facts) && Object.keys(facts).length > 0,
      'facts',
      'left out or a map from at least one fact to a test',
      facts,
    );
  const tests = Object.entries(facts ?? {}).map(
    ([name, test]) =>
      [name, compilePlainTest(test, `facts[${JSON.stringify(name)}]`, comparison, check)] as const,
  );
  return {
    hasPrincipal: who !== undefined,
    appliesIn: (own, known) =>
      (who === undefined || holdsFor(who, reading, own, known)) &&
      tests.every(([name, test]) =>
        holdsFor(test, reading, Object.hasOwn(known, name) ? known[name] : undefined, known),
      ),
  };
}

type CallPart = Pick<CompiledRule, 'hasWhen' | 'when' | 'attributes' | 'matches'>;

/** The part of a rule that depends on the call. */
function compileCallPart(rule: Partial<JsonObject>, effect: Effect, check: Check): CallPart {
  const { surface, when } = rule;
  const conditions = when === undefined ? [] : compileWhen(when, effect, check);
  const via =
    surface === undefined
      ? undefined
      : compilePlainTest(surface, 'surface', comparisonOf(effect), check);
  const reading = readingOf(effect);
  const others = check.parts.namesOf('ruleKeys').flatMap((key) => {
    const value = rule[key];
    if (value === undefined) return [];
    return [check.parts.find('ruleKeys', key, key)(value, reading, check)];
  });
  return {
    hasWhen: when !== undefined || via !== undefined || others.length > 0,
    when: conditions,
    attributes: attributesOf(conditions),
    matches(judged) {
      if (via !== undefined && !holdsFor(via, reading, judged.surface, judged.facts)) return false;
      for (const condition of conditions) if (!holds(condition, reading, judged)) return false;
      for (const other of others) if (!other(judged)) return false;
      return true;
    },
  };
}

function readingOf(effect: Effect): Reading {
  return effect === 'allow' ? 'all' : 'any';
}

/** Copied first, so that the checked value is the one that is kept. */
function readRule(
  source: unknown,
  where: string,
  parts: RuleParts,
): { readonly rule: Partial<JsonObject>; readonly where: string } {
  const copy = copyJson(source, { maxDepth: 32, maxValues: 100_000 });
  if (!copy.ok)
    throw new MisuseError(
      'invalid_rule',
      `${where}: Expected plain data${copy.path === '' ? '' : ` at \`${copy.path}\``}, got ` +
        `something that JSON cannot hold: ${copy.message}`,
    );
  if (!isJsonObject(copy.value))
    throw new MisuseError('invalid_rule', `${where}: Expected an object, got ${describe(source)}`);
  const place = placeOf(where, copy.value);
  const wording = { code: 'invalid_rule', noun: 'field' } as const;
  const known = ['id', 'effect', ...scopeKeys, ...conditionKeys, ...parts.namesOf('ruleKeys')];
  known.push('reason', 'shadow', ...parts.namesOf('askKeys'));
  for (const key of Object.keys(copy.value)) {
    if (known.includes(key)) continue;
    for (const of of ['ruleKeys', 'askKeys'] as const)
      if (parts.knows(of, key)) parts.find(of, key, `${place}: \`${key}\``);
    throw unknownOption(place, key, known, wording);
  }
  // Without a prototype, so that no member of `Object.prototype` is a condition.
  return { rule: Object.assign(Object.create(null), copy.value), where: place };
}

/** The part of a rule that no input changes. */
function compileScope(
  rule: Partial<JsonObject>,
  effect: Effect,
  check: Check,
): CompiledRule['appliesTo'] {
  const strict = effect === 'allow';
  const tools = compileGlobs(rule.tools, 'tools', strict, check);
  const sources =
    rule.source === undefined
      ? undefined
      : compileGlobs(checkedText(rule.source, 'source', check), 'source', strict, check);
  const tags = readTexts(rule.tags, 'tags', check);
  const annotations = readAnnotations(rule.annotations, check);
  return (tool) =>
    named(tools, tool.name, effect) &&
    named(sources, tool.source, effect) &&
    (tags === undefined || tags.some((tag) => tool.tags.includes(tag))) &&
    (annotations === undefined ||
      annotations.every(([key, value]) => (tool.annotations[key] === true) === value));
}

/** A deny or ask also matches a name that only looks like the one it means. */
function named(
  globs: readonly ((text: string) => boolean)[] | undefined,
  name: string,
  effect: Effect,
): boolean {
  if (globs === undefined || globs.some((matches) => matches(name))) return true;
  const form = effect === 'allow' ? undefined : latinForm(name);
  return form !== undefined && globs.some((matches) => matches(form));
}

function checkedText(value: JsonValue, field: string, check: Check): string {
  check(
    isText(value) && value.length <= maxTextLength,
    field,
    `a non-blank string of at most ${maxTextLength} characters`,
    value,
  );
  return value;
}

/** A string or a list of them. An empty list is refused, since it would silently match nothing. */
function readTexts(
  value: JsonValue | undefined,
  field: string,
  check: Check,
): readonly string[] | undefined {
  if (value === undefined) return undefined;
  if (!Array.isArray(value)) {
    check(typeof value === 'string', field, 'a string or a list of strings', value);
    return [checkedText(value, field, check)];
  }
  check(value.length > 0, field, 'left out or a list of at least one', value);
  return value.map((item: JsonValue, index) => checkedText(item, `${field}[${index}]`, check));
}

function compileGlobs(
  value: JsonValue | undefined,
  field: string,
  strict: boolean,
  check: Check,
): readonly ((text: string) => boolean)[] | undefined {
  return readTexts(value, field, check)?.map((glob) => globTest(glob, !strict));
}

function readAnnotations(
  value: JsonValue | undefined,
  check: Check,
): readonly (readonly [keyof ToolAnnotations, boolean])[] | undefined {
  if (value === undefined) return undefined;
  check(
    isJsonObject(value) && Object.keys(value).length > 0,
    'annotations',
    `left out or an object of ${annotationKeys.join(', ')}`,
    value,
  );
  return Object.entries(value).map(([key, wanted]) => {
    const known = annotationKeys.find((name) => name === key);
    check(known !== undefined, 'annotations key', `one of ${annotationKeys.join(', ')}`, key);
    check(typeof wanted === 'boolean', `annotations.${key}`, 'a boolean', wanted);
    return [known, wanted] as const;
  });
}
