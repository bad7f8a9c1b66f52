/**
 * How a rule's `when` reads an input: paths and tests. Deny and ask take the widest reading of a
 * path, allow the narrowest.
 */

import type { JsonObject, JsonValue } from '../../values/json/index.ts';
import { type Judged, maxRuleSteps, overBudget, type Reading } from './rule.ts';
import type { Check } from './rule-check.ts';
import type { ValueTest } from './value-test.ts';
import { allOf, allReadings, anyOf, passesAt, type Walk } from './walk.ts';

/** One condition: a path, and a test of the values there. */
export interface Condition {
  readonly path: readonly string[];
  readonly test: ValueTest;
  /** For a path such as `payee@name`: the attribute, and the path inside the host's answer. */
  readonly attribute?: { readonly of: string; readonly path: readonly string[] } | undefined;
}

/** A condition, and how the host wrote it. */
export interface WrittenCondition extends Condition {
  /** The place in the rule, such as `when["amount"]`. */
  readonly field: string;
  /** The test, without its path. */
  readonly written: JsonValue;
  /** Compiles parts of the test again. */
  readonly check: Check;
}

/**
 * Whether the condition holds for the call. Both the input and the parsed value are read, since a
 * schema may turn an input into something that a rule would have stopped. A path that only one of
 * them has is judged there.
 * - `any` (deny, ask): one passing value, in the input or the parsed value, is enough. Arrays along
 *   the path and at its end are searched at every depth, `*` also matches a value outside an array,
 *   and a key that contains dots is found too. Wrapping a value differently does not evade the
 *   rule.
 * - `all` (allow): every value that the path leads to must pass, in the input and in the parsed
 *   value. There must be at least one, and no branch may be empty. Arrays along the path are
 *   entered only by `*` (every element) or by an index; at the end, all elements count.
 *
 * A path without a value counts as one value that only `exists: false` and `not` accept; so does a
 * branch without one, next to branches that have one. What the handler gets decides that: a default
 * is there, and a member that the schema drops unread is not.
 *
 * A value that is nested too deep, has too many digits, or throws when it is read, matches `any`
 * and does not match `all`.
 * @throws overBudget
 */
export function holds(condition: Condition, reading: Reading, judged: Judged): boolean {
  const { attribute } = condition;
  try {
    if (attribute !== undefined && judged.attributes?.has(attribute.of) === true) {
      const answer = judged.attributes.get(attribute.of);
      // The host's answer is not at any path of the input.
      const inside = { ...condition, path: attribute.path };
      return holdsIn(inside, reading, judged, answer, answer, []);
    }
    return holdsIn(condition, reading, judged, judged.input, judged.parsed);
  } catch (error) {
    if (error === overBudget) throw error;
    return reading === 'any';
  }
}

/** Whether a test holds for one value on its own, such as a fact; undefined for an absent value. */
export function holdsFor(
  test: ValueTest,
  reading: Reading,
  value: unknown,
  facts: JsonObject,
): boolean {
  const judged: Judged = {
    input: noInput,
    parsed: undefined,
    declares: () => true,
    facts,
    surface: '',
    call: undefined,
    attributes: undefined,
    left: maxRuleSteps,
  };
  try {
    return holdsIn({ path: [], test }, reading, judged, value, value);
  } catch {
    // The value is too deep, or too large for the budget.
    return reading === 'any';
  }
}

const noInput: JsonObject = Object.freeze({});

function holdsIn(
  condition: Condition,
  reading: Reading,
  judged: Judged,
  input: unknown,
  parsed: unknown,
  inputPath: readonly string[] = condition.path,
): boolean {
  const { path, test } = condition;
  const hasOther = parsed !== input && parsed !== undefined;
  if (reading === 'any' && test.ofArguments === undefined) {
    const { left } = judged;
    const sent = passesAt(input, path, test, judged);
    const answer = sent === false && hasOther ? passesAt(parsed, path, test, judged) : sent;
    if (answer !== undefined) return answer;
    judged.left = left;
  }
  const place =
    test.ofArguments === undefined ? undefined : { path: inputPath, judged, slots: undefined };
  const walk: Walk = { path, test, judged, place, hole: false, found: 0, keys: undefined };
  const other = hasOther ? { value: parsed } : undefined;
  return reading === 'any'
    ? holdsSomewhere(walk, input, other)
    : holdsEverywhere(walk, input, other);
}

/** The parsed value, if it differs from the input. */
type Other = { readonly value: unknown } | undefined;

function holdsSomewhere(walk: Walk, input: unknown, other: Other): boolean {
  const { path, test, judged } = walk;
  if (anyOf(input, 0, walk, 0)) return true;
  const sentLacks = walk.found === 0 || walk.hole;
  if (other === undefined) return sentLacks && test.holdsWhereAbsent;
  walk.found = 0;
  walk.hole = false;
  if (anyOf(other.value, 0, walk, 0)) return true;
  if (!test.holdsWhereAbsent) return false;
  return walk.found > 0 ? walk.hole : sentLacks || !judged.declares(...path);
}

function holdsEverywhere(walk: Walk, input: unknown, other: Other): boolean {
  const { path, test, judged } = walk;
  if (!allOf(input, 0, walk, 0)) return false;
  let lacks = walk.found === 0 || walk.hole;
  if (other !== undefined) {
    const sentHas = walk.found > 0;
    walk.found = 0;
    walk.hole = false;
    if (!allOf(other.value, 0, walk, 0)) return false;
    if (walk.found > 0) lacks = walk.hole;
    else if (sentHas && !judged.declares(...path)) lacks = true;
  }
  if (!lacks) return true;
  // A value that is absent for an allow must not exist in another reading of the path.
  return (
    test.holdsWhereAbsent &&
    allReadings(input, 0, walk, 0) &&
    (other === undefined || allReadings(other.value, 0, walk, 0))
  );
}
