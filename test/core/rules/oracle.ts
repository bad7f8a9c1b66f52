/**
 * What `docs/policies-and-profiles.md` says about rules, written down a second time: slow, plain
 * and without any code of `src`. The property in `rules-oracle.test.ts` compares the two.
 */
import type { Origin, Rule, RuleTest } from '../../../src/index.ts';

/** What a call gives its rules to judge. */
export interface Given {
  readonly input: unknown;
  /** What the handler gets. The same object as `input` if the schema changes nothing. */
  readonly parsed: unknown;
  /** The paths that the schema declares. */
  readonly declared: readonly string[];
  readonly facts: Readonly<Record<string, unknown>>;
  readonly principal: string;
  readonly surface: string;
}

/**
 * How a test reads what is doubtful: `deny` and `ask` in favour of a match, `allow` against it, and
 * `not` turns it round.
 */
type Reading = 'wide' | 'narrow';

/** What one test judges: an element, and the whole value for `size` and `exists`. */
interface Subject {
  readonly whole: unknown;
  readonly element: unknown;
}

const absent: unique symbol = Symbol('a path that leads to no value');
const noElement: unique symbol = Symbol('an empty array has no element');

/** The values that a path leads to. A gap is a branch that leads to none, beside others that do. */
interface Found {
  readonly values: readonly unknown[];
  readonly gaps: number;
}

export function ruleMatches(rule: Rule, given: Given): boolean {
  const reading = rule.effect === 'allow' ? 'narrow' : 'wide';
  const { principal, surface, facts = {}, when = {} } = rule;
  const valueMatches = (value: unknown, test: RuleTest): boolean =>
    passes(value, test, reading, given.facts);
  if (principal !== undefined && !valueMatches(given.principal, principal)) return false;
  if (surface !== undefined && !valueMatches(given.surface, surface)) return false;
  for (const [name, test] of Object.entries(facts))
    if (!valueMatches(Object.hasOwn(given.facts, name) ? given.facts[name] : absent, test))
      return false;
  const conditions = Array.isArray(when)
    ? when.map(({ path, ...test }) => ({ path, test: test as RuleTest }))
    : Object.entries(when).map(([path, test]) => ({
        path: path.split('.'),
        test: test as RuleTest,
      }));
  return conditions.every(({ path, test }) =>
    reading === 'wide' ? denies(path, test, given) : allows(path, test, given),
  );
}

/** One value that matches is enough, in either of the two inputs. */
function denies(path: readonly string[], test: RuleTest, given: Given): boolean {
  const { input, parsed, facts } = given;
  const values = [input, parsed].flatMap((value) => find(value, path, 'wide').values);
  if (values.some((value) => passes(value, test, 'wide', facts))) return true;
  return lacks(path, given, 'plain') && passes(absent, test, 'wide', facts);
}

/**
 * Whether a value is absent, or one of several. What the handler gets decides: a default is there,
 * and a decoy that the schema drops unread is not.
 */
function lacks(path: readonly string[], { input, parsed, declared }: Given, way: Way): boolean {
  const sent = find(input, path, way);
  const kept = find(parsed, path, way);
  if (kept.values.length > 0) return kept.gaps > 0;
  return sent.values.length === 0 || sent.gaps > 0 || !declared.includes(path.join('.'));
}

/** Every value must match, in each input that has the path. */
function allows(path: readonly string[], test: RuleTest, given: Given): boolean {
  const { input, parsed, facts } = given;
  const holds = (value: unknown): boolean => passes(value, test, 'narrow', facts);
  const found = (way: Way): readonly unknown[] =>
    [input, parsed].flatMap((value) => find(value, path, way).values);
  if (![...found('narrow'), ...found('twins')].every(holds)) return false;
  // What counts as absent must be so on every reading of the path.
  return !lacks(path, given, 'narrow') || (holds(absent) && found('wide').every(holds));
}

/**
 * `plain` and `narrow` follow the path as it is written; `plain` also finds what lies in arrays
 * that the path does not name, and `twins` keys that hold several names of the path. `wide` does
 * both, and so does `twins` behind such a key.
 */
type Way = 'narrow' | 'plain' | 'twins' | 'wide';

function find(given: unknown, path: readonly string[], way: Way): Found {
  const value = asJson(given);
  const [name, ...rest] = path;
  if (name === undefined) return { values: [value], gaps: 0 };
  const crosses = way === 'wide' || way === 'plain';
  const isIndex = /^(?:0|[1-9]\d*)$/u.test(name);
  if (Array.isArray(value)) {
    if (!isIndex && name !== '*') return crosses ? fork(value, path, way) : nothing;
    const named =
      name === '*'
        ? fork(value, rest, way)
        : Number(name) < value.length
          ? find(value[Number(name)], rest, way)
          : nothing;
    const deeper = crosses ? value.flatMap((item) => find(item, path, way).values) : [];
    return { values: [...named.values, ...deeper], gaps: named.gaps };
  }
  const ways: Found[] = [];
  if (isObject(value)) {
    const most = way === 'wide' || way === 'twins' ? path.length : 1;
    for (let count = 1; count <= most; count++) {
      const key = path.slice(0, count).join('.');
      const starred = key === '*' && !(way === 'wide' || way === 'twins');
      // Behind a key that is another reading of the path, an allow follows every reading.
      const behind = way === 'twins' && (count > 1 || key === '*') ? 'wide' : way;
      if (Object.hasOwn(value, key) && !starred)
        ways.push(find(value[key], path.slice(count), behind));
    }
  }
  // A value that is in no array counts as an array of one.
  const hasKey = isObject(value) && Object.hasOwn(value, name) && name !== '*';
  if (name === '*' || (name === '0' && (crosses || !hasKey))) ways.push(find(value, rest, way));
  return {
    values: ways.flatMap(({ values }) => values),
    gaps: ways.reduce((sum, { values, gaps }) => (values.length > 0 ? sum + gaps : sum), 0),
  };
}

const nothing: Found = { values: [], gaps: 0 };

function fork(items: readonly unknown[], path: readonly string[], way: Way): Found {
  const branches = items.map((item) => find(item, path, way));
  const values = branches.flatMap((branch) => branch.values);
  if (values.length === 0) return nothing;
  const gaps = branches.reduce((sum, one) => sum + (one.values.length === 0 ? 1 : one.gaps), 0);
  return { values, gaps };
}

/** Whether a value, or its elements if it is an array, pass a test. */
function passes(whole: unknown, test: RuleTest, reading: Reading, facts: Given['facts']): boolean {
  const elements = Array.isArray(whole) ? elementsOf(whole) : [whole];
  const verdicts = elements.map((element) => judge({ whole, element }, test, reading, facts));
  return reading === 'wide'
    ? verdicts.some((verdict) => verdict === true)
    : verdicts.every((verdict) => verdict === true);
}

function elementsOf(array: readonly unknown[]): unknown[] {
  if (array.length === 0) return [noElement];
  return array.map(asJson).flatMap((item) => (Array.isArray(item) ? elementsOf(item) : [item]));
}

/** `undefined`: there is no element that could decide it. */
type Verdict = boolean | undefined;

function judge(subject: Subject, test: RuleTest, reading: Reading, facts: Given['facts']): Verdict {
  const tests = isObject(test) ? test : { equals: test };
  const verdicts = Object.entries(tests).map(([name, expected]): Verdict => {
    switch (name) {
      case 'not': {
        const inner = judge(
          subject,
          expected as RuleTest,
          reading === 'wide' ? 'narrow' : 'wide',
          facts,
        );
        return inner === undefined ? undefined : !inner;
      }
      case 'any': {
        const inner = (expected as RuleTest[]).map((one) => judge(subject, one, reading, facts));
        return inner.includes(true) ? true : inner.includes(undefined) ? undefined : false;
      }
      case 'exists':
        return (subject.whole !== absent) === expected;
      case 'size': {
        const size = sizeOf(subject.whole);
        if (size === undefined) return false;
        return judge({ whole: size, element: size }, expected as RuleTest, reading, facts);
      }
      case 'origin': {
        if (subject.element === noElement) return undefined;
        if (subject.element === absent) return false;
        const wanted = Array.isArray(expected) ? expected : [expected];
        const found = leafOrigins(subject.element).map((origin) => wanted.includes(origin));
        return reading === 'wide' ? found.includes(true) : !found.includes(false);
      }
      default:
        if (subject.element === noElement) return undefined;
        if (subject.element === absent) return false;
        return scalarPasses(subject.element, name, expected, reading, facts);
    }
  });
  return verdicts.includes(false) ? false : verdicts.includes(undefined) ? undefined : true;
}

/** Where the samples' values come from: of an object or array, where its leaves do. */
export function leafOrigins(given: unknown): Origin[] {
  const value = asJson(given);
  if (Array.isArray(value)) return value.flatMap(leafOrigins);
  if (isObject(value)) return Object.values(value).flatMap(leafOrigins);
  if (value === null || value === undefined) return [];
  return [new Map<unknown, Origin>(known).get(value) ?? 'unknown'];
}

const known: readonly (readonly [unknown, Origin])[] = [
  ['x', 'user'],
  ['xy', 'user'],
  ['y', 'trusted'],
  [true, 'trusted'],
  [7, 'untrusted'],
  ['7', 'untrusted'],
];

function sizeOf(value: unknown): number | undefined {
  if (Array.isArray(value)) return value.length;
  return typeof value === 'string' ? Array.from(value).length : undefined;
}

function scalarPasses(
  value: unknown,
  name: string,
  expected: unknown,
  reading: Reading,
  facts: Given['facts'],
): boolean {
  switch (name) {
    case 'equals':
      return equal(value, expected, reading);
    case 'in': {
      if (Array.isArray(expected)) return expected.some((one) => equal(value, one, reading));
      const { fact } = expected as { fact: string };
      const list = Object.hasOwn(facts, fact) ? facts[fact] : undefined;
      if (!Array.isArray(list)) return reading === 'wide';
      return list.some((one) => equal(value, one, reading));
    }
    case 'glob': {
      const text = textOf(value, reading);
      return text !== undefined && globPattern(expected as string).test(text);
    }
    case 'matches': {
      const text = textOf(value, reading);
      return text !== undefined && new RegExp(expected as string, 'u').test(text);
    }
    default: {
      const number = numberOf(value, reading);
      if (number === undefined) return false;
      if (Number.isNaN(number)) return reading === 'wide';
      const bound = expected as number;
      if (name === 'gt') return number > bound;
      if (name === 'gte') return number >= bound;
      if (name === 'lt') return number < bound;
      return number <= bound;
    }
  }
}

/**
 * The wide reading also compares numbers and booleans by their text, and reads texts as numbers.
 */
function equal(value: unknown, expected: unknown, reading: Reading): boolean {
  if (isObject(value) || isObject(expected) || Array.isArray(expected)) return false;
  if (value === expected) return true;
  if (reading === 'narrow' || value === null || expected === null) return false;
  return (
    String(value) === String(expected) ||
    (typeof expected === 'number' && numberOf(value, reading) === expected)
  );
}

function textOf(value: unknown, reading: Reading): string | undefined {
  if (typeof value === 'string') return value;
  const converts = typeof value === 'number' || typeof value === 'boolean';
  return converts && reading === 'wide' ? String(value) : undefined;
}

function numberOf(value: unknown, reading: Reading): number | undefined {
  if (typeof value === 'number') return value;
  if (typeof value !== 'string' || reading === 'narrow') return undefined;
  return /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/u.test(value) ? Number(value) : undefined;
}

function globPattern(glob: string): RegExp {
  const source = Array.from(glob, (character) => {
    if (character === '*') return '[^]*';
    return character === '?' ? '[^]' : character.replace(/[\\^$.*+?()[\]{}|/]/u, '\\$&');
  });
  return new RegExp(`^${source.join('')}$`, 'u');
}

/** What a parse may hold beside JSON, as the JSON that represents it. */
function asJson(value: unknown): unknown {
  if (value instanceof Set) return [...value].map(asJson);
  if (value instanceof Map) return Object.fromEntries([...value].map(([key, one]) => [key, one]));
  if (value instanceof Date || value instanceof URL) return value.toJSON();
  return typeof value === 'bigint' ? Number(value) : value;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
