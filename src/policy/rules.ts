/** Rules: decisions as plain data. They are checked and compiled once, at the door. */

import { describe, MisuseError } from '../errors.ts';
import {
  copyJson,
  isJsonObject,
  type JsonObject,
  type JsonPrimitive,
  type JsonValue,
} from '../json.ts';
import { readMembers } from '../options.ts';
import { globTest } from '../text/glob.ts';
import { latinForm } from '../text/names.ts';
import { compilePattern } from '../text/regex.ts';
import type { ToolAnnotations, ToolSummary } from '../tool-summary.ts';
import { type Condition, holds, type Judged } from './conditions.ts';
import { type Effect, isReason } from './decision.ts';

/**
 * Anchored and case-sensitive; `*` is any run of any characters, `?` is exactly one, nothing else
 * is special.
 */
export type Glob = string;

/**
 * One test of the scalars at a path. `equals` and `in` compare with values, `matches` is an
 * unanchored regular expression that runs in linear time, `glob` a {@link Glob}. In an `allow` a
 * value has the type that the rule names, and only strings can match `matches` and `glob`. In a
 * `deny` or `ask` numbers and booleans are also compared by their JSON text, so that `"22"` for
 * `22` changes nothing.
 */
export type WhenTest =
  | { readonly in: readonly JsonPrimitive[] }
  | { readonly equals: JsonPrimitive }
  | { readonly matches: string }
  | { readonly glob: Glob };

/** Plain data, loadable from YAML. What is not given restricts nothing. */
export interface Rule {
  /**
   * Shown as `ruleId` wherever the rule decides. @default the layer and the place, such as
   * `session#0`
   */
  readonly id?: string | undefined;
  /**
   * What it says of the calls that it matches: a deny beats an ask, an ask an allow, wherever they
   * stand.
   */
  readonly effect: Effect;
  /** Tool names. @default every tool */
  readonly tools?: Glob | readonly Glob[] | undefined;
  /** Tools that have any of these tags. */
  readonly tags?: string | readonly string[] | undefined;
  /**
   * Tools whose annotations have all of these values; an annotation that a tool does not give is
   * false.
   */
  readonly annotations?: ToolAnnotations | undefined;
  /** Who brought the tool. */
  readonly source?: Glob | undefined;
  /**
   * Conditions on the input, all of which must hold: paths (`"a.b"`; `*` walks arrays) to a scalar
   * or a test, or a list with paths as lists for keys that hold dots. Both the input as it was sent
   * and the input as the handler gets it are read: a `deny` or `ask` matches if either one does, an
   * `allow` only if both do. A path that only one of them has is judged there; if both lack it, the
   * rule does not match.
   */
  readonly when?:
    | Readonly<Record<string, JsonPrimitive | WhenTest>>
    | readonly ({ readonly path: readonly string[] } & WhenTest)[]
    | undefined;
  /** Of a deny; matches `^[a-z][a-z0-9_]*$`. @default 'denied_by_rule' */
  readonly reason?: string | undefined;
}

/** A rule that was checked. Frozen; what the host does to its own object later changes nothing. */
export interface CompiledRule {
  readonly id: string;
  readonly effect: Effect;
  /** Of a deny only. */
  readonly reason: string | undefined;
  /** Who wrote the rule: `registry`, `profile:<id>`, `session`, … */
  readonly layer: string;
  /** True when the input matters too. A deny without also hides the tool. */
  readonly hasWhen: boolean;
  /** The static part: names, tags, annotations, source. */
  appliesTo(tool: ToolSummary): boolean;
  /**
   * The `when` part, of the input as it was sent and as it was parsed; true without one. @throws
   * `overBudget`.
   */
  matches(judged: Judged): boolean;
}

const ruleKeys = ['id', 'effect', 'tools', 'tags', 'annotations', 'source', 'when', 'reason'];
const annotationKeys = ['readOnly', 'destructive', 'idempotent', 'openWorld'] as const;
const testKeys = ['in', 'equals', 'matches', 'glob'] as const;
const maxTextLength = 1024;
const maxSegments = 64;

/** Where in the rules a value stands; throws when it is not what was expected. */
type Check = (holds: boolean, field: string, expected: string, got: unknown) => asserts holds;

/**
 * Checks and compiles the rules of one layer, in order.
 * @param before how many rules of the layer came earlier: a rule without an id is named after its
 * place in the whole layer
 * @throws MisuseError `invalid_rule`, naming layer, index, field, what was expected and what came.
 */
export function compileRules(
  rules: readonly Rule[],
  layer: string,
  before = 0,
): readonly CompiledRule[] {
  if (!Array.isArray(rules))
    throw new MisuseError(
      'invalid_rule',
      `Expected ${layer} rules to be an array, got ${describe(rules)}`,
    );
  return Object.freeze(Array.from(rules, (rule, index) => compileRule(rule, layer, index, before)));
}

function compileRule(source: unknown, layer: string, index: number, before: number): CompiledRule {
  const where = `${layer} rule ${index}`;
  const check: Check = (passed, field, expected, got) => {
    if (!passed)
      throw new MisuseError(
        'invalid_rule',
        `${where}: Expected \`${field}\` to be ${expected}, got ${describe(got)}`,
      );
  };
  // One copy first: what is checked is what is kept.
  const copy = copyJson(source, { maxDepth: 8, maxValues: 100_000 });
  if (!copy.ok)
    throw new MisuseError(
      'invalid_rule',
      `${where}: Expected plain data${copy.path === '' ? '' : ` at \`${copy.path}\``}, got ` +
        `what JSON cannot hold: ${copy.message}`,
    );
  if (!isJsonObject(copy.value))
    throw new MisuseError('invalid_rule', `${where}: Expected an object, got ${describe(source)}`);
  const rule: Partial<JsonObject> = readMembers(where, copy.value, ruleKeys, {
    code: 'invalid_rule',
    noun: 'field',
  });

  const { effect, id, reason } = rule;
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

  const strict = effect === 'allow';
  const tools = compileGlobs(rule.tools, 'tools', strict, check);
  const sources =
    rule.source === undefined
      ? undefined
      : compileGlobs(checkedText(rule.source, 'source', check), 'source', strict, check);
  const tags = readTexts(rule.tags, 'tags', check);
  const annotations = readAnnotations(rule.annotations, check);
  const conditions = rule.when === undefined ? undefined : compileWhen(rule.when, effect, check);
  const reading = effect === 'allow' ? 'all' : 'any';

  return Object.freeze<CompiledRule>({
    id: id ?? `${layer}#${before + index}`,
    effect,
    reason: effect === 'deny' ? (reason ?? 'denied_by_rule') : undefined,
    layer,
    hasWhen: conditions !== undefined,
    appliesTo: (tool) =>
      named(tools, tool.name, effect) &&
      named(sources, tool.source, effect) &&
      (tags === undefined || tags.some((tag) => tool.tags.includes(tag))) &&
      (annotations === undefined ||
        annotations.every(([key, value]) => (tool.annotations[key] === true) === value)),
    matches: (judged) =>
      conditions === undefined ||
      conditions.every((condition) => holds(condition, reading, judged)),
  });
}

/** A name that only looks like one that a rule restricts is restricted as well. */
function named(
  globs: readonly ((text: string) => boolean)[] | undefined,
  name: string,
  effect: Effect,
): boolean {
  if (globs === undefined || globs.some((matches) => matches(name))) return true;
  const form = effect === 'allow' ? undefined : latinForm(name);
  return form !== undefined && globs.some((matches) => matches(form));
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value.trim() !== '';
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

/** A string or a list of them; an empty list would silently match nothing. */
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

function compileWhen(when: JsonValue, effect: Effect, check: Check): readonly Condition[] {
  if (Array.isArray(when)) {
    check(when.length > 0, 'when', 'left out or at least one condition', when);
    return when.map((entry: JsonValue, index) => {
      const field = `when[${index}]`;
      check(isJsonObject(entry), field, 'an object with `path` and one test', entry);
      const { path, ...test } = { path: null, ...entry } as JsonObject;
      check(
        Array.isArray(path) && path.length > 0 && path.length <= maxSegments,
        `${field}.path`,
        `a list of 1 to ${maxSegments} strings`,
        path,
      );
      const segments = path.map((segment: JsonValue, at) => {
        check(
          typeof segment === 'string' && segment.length <= maxTextLength,
          `${field}.path[${at}]`,
          `a string of at most ${maxTextLength} characters`,
          segment,
        );
        return segment;
      });
      return { path: segments, ...compileTest(test, field, effect, check) };
    });
  }
  check(
    isJsonObject(when) && Object.keys(when).length > 0,
    'when',
    'left out, a map of at least one path, or a list of conditions',
    when,
  );
  return Object.entries(when).map(([text, test]) => {
    const field = `when[${JSON.stringify(text)}]`;
    const path = text.split('.');
    const wellFormed =
      text.length <= maxTextLength &&
      path.length <= maxSegments &&
      path.every((segment) => segment !== '');
    check(
      wellFormed,
      field,
      `keyed by a path of 1 to ${maxSegments} names joined by dots (the list form takes any key)`,
      text,
    );
    return { path, ...compileTest(isScalar(test) ? { equals: test } : test, field, effect, check) };
  });
}

function isScalar(value: JsonValue): value is JsonPrimitive {
  return typeof value !== 'object' || value === null;
}

/**
 * What a test of one character costs, against looking at one value. Measured; a comparison of texts
 * stops early, a large program of a pattern does not.
 */
const compareCost = 1 / 8;
const globCost = 1 / 2;
const patternCost = 1 / 8;

function compileTest(
  test: JsonValue,
  field: string,
  effect: Effect,
  check: Check,
): Pick<Condition, 'test' | 'cost'> {
  const oneTest = `a scalar or exactly one of ${testKeys.join(', ')}`;
  check(isJsonObject(test), field, oneTest, test);
  const keys = Object.keys(test);
  check(keys.length === 1, field, oneTest, keys.length === 0 ? 'none' : keys.join(', '));
  const key = testKeys.find((name) => name === keys[0]);
  check(key !== undefined, `${field} test`, `one of ${testKeys.join(', ')}`, keys[0]);
  const operand = test[key] as JsonValue;
  const strict = effect === 'allow';
  switch (key) {
    case 'equals':
      check(isScalar(operand), `${field}.equals`, 'a string, number, boolean or null', operand);
      return { test: equalTo([operand], strict), cost: compareCost };
    case 'in':
      check(
        Array.isArray(operand) && operand.length > 0,
        `${field}.in`,
        'a list of at least one scalar',
        operand,
      );
      return {
        cost: compareCost,
        test: equalTo(
          operand.map((item: JsonValue, index) => {
            check(
              isScalar(item),
              `${field}.in[${index}]`,
              'a string, number, boolean or null',
              item,
            );
            return item;
          }),
          strict,
        ),
      };
    case 'glob':
      check(
        typeof operand === 'string' && operand.length <= maxTextLength,
        `${field}.glob`,
        `a string of at most ${maxTextLength} characters`,
        operand,
      );
      return {
        test: onText(globTest(operand, !strict), strict),
        cost: operand.includes('?') ? 2 * globCost : globCost,
      };
    case 'matches': {
      check(
        isText(operand),
        `${field}.matches`,
        'a regular expression as a non-empty string',
        operand,
      );
      const { matcher, size } = patternOf(operand, `${field}.matches`, check);
      return {
        test: onText((text) => matcher.test(text), strict),
        cost: Math.max(globCost, size * patternCost),
      };
    }
  }
}

/** Also a host's own rule runs on the linear engine: its texts come from the model. */
function patternOf(source: string, field: string, check: Check): ReturnType<typeof compilePattern> {
  try {
    return compilePattern(source, { trusted: false });
  } catch (error) {
    check(
      false,
      field,
      'a regular expression that runs in linear time ' +
        `(${error instanceof Error ? error.message : 'refused'})`,
      source,
    );
  }
}

/**
 * The text by which a restricting rule compares: null and strings stay apart, numbers and booleans
 * are their JSON text.
 */
function textOf(value: JsonPrimitive): string | undefined {
  return value === null ? undefined : String(value);
}

function equalTo(
  values: readonly JsonPrimitive[],
  strict: boolean,
): (value: JsonPrimitive) => boolean {
  const exact = new Set(values);
  if (strict) return (value) => exact.has(value);
  const texts = new Set(values.map(textOf).filter((text) => text !== undefined));
  return (value) => exact.has(value) || texts.has(textOf(value) as string);
}

function onText(
  matches: (text: string) => boolean,
  strict: boolean,
): (value: JsonPrimitive) => boolean {
  if (strict) return (value) => typeof value === 'string' && matches(value);
  return (value) => {
    const text = textOf(value);
    return text !== undefined && matches(text);
  };
}
