/** What a rule may hold at most, what it is told when it holds more, and what its tests cost. */
import { describe, expect, test } from 'vitest';
import type { Effect } from '../src/api/policy.ts';
import type { Rule } from '../src/api/rule.ts';
import type { ToolSummary } from '../src/api/tool.ts';
import { compileRules } from '../src/assembly/compile.ts';
import { type CompiledRule, type Judged, maxRuleSteps } from '../src/core/rules/rule.ts';
import { MisuseError } from '../src/values/errors/index.ts';
import { compilePattern } from '../src/values/text/regex.ts';

function compile(rule: object): CompiledRule {
  return compileRules([rule as Rule], 'session')[0] as CompiledRule;
}

function refusal(source: unknown): string {
  try {
    compileRules([source as Rule], 'session');
  } catch (error) {
    expect(error).toMatchObject({ code: 'invalid_rule' });
    expect(error).toBeInstanceOf(MisuseError);
    return (error as Error).message;
  }
  return expect.unreachable();
}

/** A list in so many lists. */
function nested(depth: number): unknown {
  return depth === 0 ? [] : [nested(depth - 1)];
}

const named = (name: string): ToolSummary => ({
  name,
  source: name,
  tags: [name],
  annotations: {},
  fingerprint: 'sha256:0',
});
const path = (length: number): string => Array.from({ length }, () => 'a').join('.');
const segments = (length: number): string[] => Array.from({ length }, () => 'a');

describe('a rule may hold up to', () => {
  test.each<[what: string, most: number, rule: (size: number) => object]>([
    ['an id of 256 characters', 256, (size) => ({ id: 'x'.repeat(size) })],
    ['a glob of 1 024 characters for tools', 1024, (size) => ({ tools: 'x'.repeat(size) })],
    ['globs of 1 024 characters for tools', 1024, (size) => ({ tools: ['x', 'x'.repeat(size)] })],
    ['a tag of 1 024 characters', 1024, (size) => ({ tags: 'x'.repeat(size) })],
    ['a glob of 1 024 characters for the source', 1024, (size) => ({ source: 'x'.repeat(size) })],
    ['a path of 1 024 characters', 1024, (size) => ({ when: { ['x'.repeat(size)]: 1 } })],
    ['a path of 64 names', 64, (size) => ({ when: { [path(size)]: 1 } })],
    ['a list of 64 names', 64, (size) => ({ when: [{ path: segments(size), equals: 1 }] })],
    [
      'a name of 1 024 characters in a list',
      1024,
      (size) => ({ when: [{ path: ['a', 'x'.repeat(size)], equals: 1 }] }),
    ],
    [
      'a glob of 1 024 characters for a value',
      1024,
      (size) => ({ when: { a: { glob: 'x'.repeat(size) } } }),
    ],
    [
      '100 000 values, itself and its parts counted',
      100_000,
      (size) => ({ when: { a: { in: Array.from({ length: size - 5 }, () => 1) } } }),
    ],
  ])('%s, and no more', (_, most, rule) => {
    expect(compile({ effect: 'deny', ...rule(most) }).effect).toBe('deny');
    expect(refusal({ effect: 'deny', ...rule(most + 1) })).toMatch(/^session rule 0: Expected /);
  });

  test('a reason of 128 characters', () => {
    expect(compile({ effect: 'deny', reason: 'x'.repeat(128) }).reason).toBe('x'.repeat(128));
  });

  test('32 levels', () => {
    expect(refusal({ effect: 'deny', when: { a: { in: nested(28) } } })).toBe(
      'session rule 0: Expected `when["a"].in[0]` to be a string, number, boolean or null, ' +
        'got an array of 1',
    );
    expect(refusal({ effect: 'deny', when: { a: { in: nested(29) } } })).toBe(
      'session rule 0: Expected plain data at `/when/a/in' +
        `${'/0'.repeat(29)}\`, got something that JSON cannot hold: nested deeper than 32 levels`,
    );
  });
});

test.each<[source: unknown, expected: string]>([
  [() => true, 'plain data, got something that JSON cannot hold: a function is not JSON'],
  [
    { effect: 'deny', id: 'x ' },
    '`id` to be a non-blank string without white space at its ends, of at most 256 ' +
      'characters, got `x ` (string)',
  ],
  [{ effect: 'deny', tools: 7 }, '`tools` to be a string or a list of strings, got `7` (number)'],
  [
    { effect: 'deny', tags: ['a', ' '] },
    '`tags[1]` to be a non-blank string of at most 1024 characters, got ` ` (string)',
  ],
  [
    { effect: 'deny', source: 7 },
    '`source` to be a non-blank string of at most 1024 characters, got `7` (number)',
  ],
  [
    { effect: 'deny', annotations: [] },
    '`annotations` to be left out or an object of readOnly, destructive, idempotent, ' +
      'openWorld, reversible, got an array of 0',
  ],
  [
    { effect: 'deny', when: [] },
    '`when` to be left out or at least one condition, got an array of 0',
  ],
  [
    { effect: 'deny', when: null },
    '`when` to be left out, a map of at least one path, or a list of conditions, got null',
  ],
  [
    { effect: 'deny', when: { a: {} } },
    '`when["a"]` to be a scalar or an object with at least one of equals, in, glob, matches, ' +
      'gt, gte, lt, lte, origin, exists, size, not, any, alike, got an object',
  ],
  [
    { effect: 'deny', when: [7] },
    '`when[0]` to be an object with `path` and at least one test, got `7` (number)',
  ],
  [
    { effect: 'deny', when: [{ equals: 1 }] },
    '`when[0].path` to be a list of 1 to 64 strings, got null',
  ],
])('what is wrong with %j is said in full', (source, expected) => {
  expect(refusal(source)).toBe(`session rule 0: Expected ${expected}`);
});

test(
  'a rule without an id is named after its place in the whole layer, though its layer came in ' +
    'parts',
  () => {
    const rules: Rule[] = [{ effect: 'deny' }, { effect: 'ask' }];
    expect(compileRules(rules, 'session').map(({ id }) => id)).toEqual(['session#0', 'session#1']);
    expect(compileRules(rules, 'session', 3).map(({ id }) => id)).toEqual([
      'session#3',
      'session#4',
    ]);
  },
);

describe('a name that takes too many steps to compare with a glob', () => {
  const glob = `*?${'a'.repeat(500)}b`;
  const name = 'a'.repeat(5_000);
  test.each<[effect: Effect, applies: boolean]>([
    ['deny', true],
    ['ask', true],
    ['allow', false],
  ])('counts against the call: %s', (effect, applies) => {
    expect([
      compile({ effect, tools: glob }).appliesTo(named(name)),
      compile({ effect, source: glob }).appliesTo(named(name)),
    ]).toEqual([applies, applies]);
  });
});

describe('a name with letters of other scripts', () => {
  // The second letter is a Cyrillic one.
  const disguised = 'r\u0435move';
  test.each<[effect: Effect, applies: boolean]>([
    ['deny', true],
    ['ask', true],
    ['allow', false],
  ])(
    'is taken for the one that it looks like by what restricts, and for itself by what permits: %s',
    (effect, applies) => {
      expect(compile({ effect, tools: ['other', 'remove'] }).appliesTo(named(disguised))).toBe(
        applies,
      );
      expect(compile({ effect, source: 'remove' }).appliesTo(named(disguised))).toBe(applies);
      expect(compile({ effect, tools: disguised }).appliesTo(named(disguised))).toBe(true);
      expect(compile({ effect, tools: 'other' }).appliesTo(named(disguised))).toBe(false);
    },
  );
});

describe('a character of a text costs', () => {
  const large = '(password|token).{0,100}=.{0,100}[0-9]{8,}$';
  const sizeOf = (source: string): number => compilePattern(source, { trusted: false }).size;
  test.each<[what: string, test: object, cost: number]>([
    ['a sixteenth of a step for `equals`', { equals: 'x' }, 1 / 16],
    ['a sixteenth for `in`, however many there are', { in: ['x', 'z'] }, 1 / 16],
    ['a quarter of a step for a glob', { glob: '*x' }, 1 / 4],
    ['half a step for a glob with `?`', { glob: '?x' }, 1 / 2],
    ['a quarter of a step for a small pattern', { matches: 'x' }, 1 / 4],
    [
      'a sixteenth for each part of the program of a large one',
      { matches: large },
      sizeOf(large) / 16,
    ],
  ])('%s', (_, condition, cost) => {
    for (const effect of ['deny', 'allow']) {
      const input = { a: 'y'.repeat(800) };
      const judged: Judged = {
        input,
        parsed: input,
        declares: () => true,
        facts: {},
        surface: '',
        call: undefined,
        attributes: undefined,
        left: maxRuleSteps,
      };
      compile({ effect, when: { a: condition } }).matches(judged);
      // Beside the text, its object, its key where it is looked up, and itself are looked at.
      expect(maxRuleSteps - judged.left).toBe((effect === 'deny' ? 3 : 2) + 800 * cost);
    }
  });

  test('where that is more than a quarter of a step', () => {
    expect([sizeOf('x') / 16 < 1 / 4, sizeOf(large) / 16 > 1 / 4]).toEqual([true, true]);
  });
});
