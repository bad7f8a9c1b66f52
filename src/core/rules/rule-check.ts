/**
 * How a malformed rule is refused: the layer, the index, the id, the field, what was expected, what
 * came. Parts use it for lists of their own. And what parts add to rules.
 */
import { describe, type MisuseCode, MisuseError } from '../../values/errors/index.ts';
import type { JsonObject, JsonValue } from '../../values/json/index.ts';
import type { OptionsWording, OptionTable, OptionValues } from '../../values/options/index.ts';
import type { SlotHolder } from '../slot.ts';
import type { Judged, Reading } from './rule.ts';

/** The words that parts add to rules, by where they stand. */
export interface RuleWords {
  readonly tests: CompilePart;
  readonly ruleKeys: CompileKey;
  readonly askKeys: ReadAskKey;
}

/** What rules and profiles ask of the parts of a registry. */
export interface RuleParts {
  /** What a part has for a word. @throws MisuseError `missing_part` */
  find<P extends keyof RuleWords>(place: P, name: string, what: string): RuleWords[P];
  /** The words that the parts have. */
  namesOf(place: keyof RuleWords): readonly string[];
  /** Whether some part has a word, also an absent one. */
  knows(place: keyof RuleWords, name: string): boolean;
  /** Reads options by the core's table and those of the parts. @throws MisuseError */
  readOptions<T extends OptionTable>(
    place: 'profile' | 'profileTool',
    where: string,
    options: object,
    core: T,
    wording?: OptionsWording,
  ): OptionValues<T> & Readonly<Record<string, unknown>>;
  /** Refuses what only absent parts do with a rule. @throws MisuseError `missing_part` */
  checkFields(place: 'rule', where: string, fields: object): void;
}

/**
 * How a value is compared. A `deny` or `ask` compares loosely: numbers and booleans also by their
 * JSON text, and a text that is a number also as that number. An `allow` compares strictly. Inside
 * `not`, it is the reverse, so that a doubtful value never helps a call to pass.
 */
export type Comparison = 'loose' | 'strict';

/** A place of the input whose values are tested, with what parts find out about it. */
export interface TestedPlace extends SlotHolder {
  readonly path: readonly string[];
  readonly judged: Judged;
}

/** One compiled test. */
export interface Part {
  /**
   * Whether the test holds for a value. Undefined if that depends on an element of an empty array.
   * @param value a scalar, an object, `absent` or `noElement`
   * @param whole the array that the value is an element of; otherwise the value itself
   * @param facts the facts of the session
   * @param place where the value is, for tests that only arguments can pass
   */
  readonly judge: (
    value: unknown,
    whole: unknown,
    facts: JsonObject,
    place?: TestedPlace,
  ) => boolean | undefined;
  /** Steps that the test takes for each character of a text. */
  readonly cost: number;
  /** Steps that the test takes for each value, in addition to those for its characters. */
  readonly steps: number;
  /** Whether the test writes numbers as texts, which costs more than looking at them. */
  readonly writesNumbers: boolean;
  /** The names of tests in it that only arguments can pass; undefined if there are none. */
  readonly ofArguments?: readonly string[] | undefined;
  /** Whether the test may only stop calls, so that it has no place in an `allow` or below `not`. */
  readonly onlyStops?: boolean;
}

export type CompilePart = (
  operand: JsonValue,
  field: string,
  comparison: Comparison,
  check: Check,
) => Part;

/** Reads one rule, or one entry of a part's list. */
export interface Check {
  /** Throws unless `holds`. */
  (holds: boolean, field: string, expected: string, got: unknown): asserts holds;
  /** Compiles a test of a part. @throws MisuseError `missing_part` */
  readonly testOf: (name: string, field: string) => CompilePart;
  /** The parts that know further words of a rule. */
  readonly parts: RuleParts;
}

/**
 * Compiles a condition of a rule that a part knows, into whether it holds for a call.
 * @throws MisuseError `invalid_rule`, which names the field
 */
export type CompileKey = (
  value: JsonValue,
  reading: Reading,
  check: Check,
) => (judged: Judged) => boolean;

/**
 * Reads what the question of a rule that asks shows besides.
 * @throws MisuseError `invalid_rule`, which names the field
 */
export type ReadAskKey = (value: JsonValue, check: Check) => object;

/** Most characters of a name, a path or a glob in a rule. */
export const maxTextLength = 1024;

/** @throws MisuseError */
export function checkOf(where: string, parts: RuleParts, code: MisuseCode = 'invalid_rule'): Check {
  const check = (passed: boolean, field: string, expected: string, got: unknown): void => {
    if (!passed)
      throw new MisuseError(
        code,
        `${where}: Expected \`${field}\` to be ${expected}, got ${describe(got)}`,
      );
  };
  return Object.assign(check as Check, {
    testOf: (name: string, field: string) => parts.find('tests', name, `${where}: \`${field}\``),
    parts,
  });
}

export function isText(value: unknown): value is string {
  return typeof value === 'string' && value.trim() !== '';
}

/** Adds the id of a rule or an entry to its place, if it has one that can be shown. */
export function placeOf(where: string, source: JsonObject): string {
  const id = Object.hasOwn(source, 'id') ? source.id : undefined;
  return isText(id) && id.trim() === id && id.length <= longestId ? `${where} (\`${id}\`)` : where;
}

const longestId = 256;
