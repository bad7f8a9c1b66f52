/** The test of look-alike texts as a part of a registry, with the table of Unicode. */
import type { Part } from '../../core/part.ts';
import { definePart } from '../../core/registry/define-part.ts';
import {
  type Check,
  type CompilePart,
  isText,
  maxTextLength,
} from '../../core/rules/rule-check.ts';
import { absent, factIn, isScalar, noElement } from '../../core/rules/scalar-tests.ts';
import { withoutAlike } from '../../core/rules/value-test.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../values/json/index.ts';
import { looksOf, seen } from '../../values/text/skeleton.ts';

// The test `alike` of a rule: whether a text looks like another one.

/**
 * `alike` in a test. A text that only looks like an allowed one must not be allowed, so it has no
 * place in an `allow`, and none below `not`.
 */
const compileAlike: CompilePart = (operand, field, comparison, check: Check) => {
  check(comparison === 'loose', field, withoutAlike, operand);
  const { wantedIn, longest } = isJsonObject(operand)
    ? inFact(factIn(operand, field, expected, check))
    : fixed(wantedBy(textsOf(operand, field, check)));
  return {
    judge: (value, _whole, facts) => {
      if (value === noElement) return undefined;
      if (value === absent || !isScalar(value) || value === null) return false;
      const wanted = wantedIn(facts);
      // Without texts to compare with, a deny or ask matches any value.
      return wanted === undefined || isAlike(String(value), wanted);
    },
    cost: seeingCost,
    steps: 1 + readingSteps * longest,
    writesNumbers: true,
    onlyStops: true,
  };
};

const expected = 'a text or a list of at least one text, with characters that can be seen';

function textsOf(operand: JsonValue, field: string, check: Check): string[] {
  const list: readonly JsonValue[] = Array.isArray(operand) ? operand : [operand];
  check(list.length > 0, field, expected, operand);
  return list.map((item, index) => {
    const place = Array.isArray(operand) ? `${field}[${index}]` : field;
    check(isText(item) && item.length <= maxTextLength && seen(item) !== '', place, expected, item);
    return item;
  });
}

/** Steps for dropping a character that no one sees. This was measured. */
const seeingCost = 1 / 2;
/** Steps for reading a value, for each character of the longest text that it is compared with. */
const readingSteps = 40;
/** How long the texts of a fact are assumed to be. */
const factLength = 64;

/** The texts to compare with. */
interface Wanted {
  /** What they look like, for each of the three readings. */
  readonly looks: readonly ReadonlySet<string>[];
  /** Most characters of what one looks like. */
  readonly longest: number;
}

function wantedBy(texts: readonly string[]): Wanted {
  const all = texts.map(looksOf);
  return {
    looks: [0, 1, 2].map((reading) => new Set(all.flatMap((looks) => looks[reading] ?? []))),
    longest: all.flat().reduce((most, { length }) => Math.max(most, length), 0),
  };
}

/** Finds the texts to compare with in the facts of a session; undefined if there are none. */
interface Source {
  readonly wantedIn: (facts: JsonObject) => Wanted | undefined;
  readonly longest: number;
}

function fixed(wanted: Wanted): Source {
  return { wantedIn: () => wanted, longest: wanted.longest };
}

/** Facts are frozen, so a list is read once for all rules and calls. */
const readLists = new WeakMap<object, Wanted>();

function inFact(name: string): Source {
  const wantedIn = (facts: JsonObject): Wanted | undefined => {
    const fact = Object.hasOwn(facts, name) ? facts[name] : undefined;
    if (typeof fact === 'string') return wantedBy([fact]);
    if (!Array.isArray(fact)) return undefined;
    let wanted = readLists.get(fact);
    if (wanted === undefined) {
      const texts = fact.filter((one) => isScalar(one)).map(String);
      wanted = wantedBy(texts.filter((text) => seen(text) !== ''));
      readLists.set(fact, wanted);
    }
    return wanted;
  };
  return { wantedIn, longest: factLength };
}

/** Characters that are looked at before it is decided whether to go on. */
const sliceChars = 4_096;

/**
 * Whether a text looks like one of these. A text in which more characters can be seen than in any
 * of them is not read to its end, so a very long text costs little.
 */
function isAlike(text: string, { looks, longest }: Wanted): boolean {
  let plain = '';
  for (let from = 0; from < text.length; ) {
    let to = from + sliceChars;
    // The two halves of a character stay together.
    if ((text.charCodeAt(to - 1) & 0xfc00) === 0xd800) to++;
    plain += seen(text.slice(from, to));
    // A character may have two code units, and the dot on an `i` is not seen.
    if (plain.length > 4 * longest) return false;
    from = to;
  }
  return looksOf(plain).some((look, reading) => looks[reading]?.has(look));
}

/**
 * The part that adds the test `alike` of rules: a deny or ask that also stops what only looks like
 * a text. It is a part because the table of characters is a sixth of the core's size.
 *
 * @example
 * ```ts
 * import { HostToolRegistry } from 'host-tools/core';
 * import { lookAlikes } from 'host-tools/look-alikes';
 *
 * const registry = new HostToolRegistry({
 *   parts: [lookAlikes()],
 *   rules: [{ effect: 'ask', tools: 'pay', when: { payee: { alike: ['Acme Ltd'] } } }],
 * });
 * ```
 */
export function lookAlikes(): Part {
  return part;
}

const part = definePart({ name: 'lookAlikes', tests: { alike: compileAlike } });
