/** What a condition finds in a value, how far it looks, and what looking costs. */
import { describe, expect, test } from 'vitest';
import type { Effect } from '../../../src/api/policy.ts';
import type { Rule } from '../../../src/api/rule.ts';
import { compileRules } from '../../../src/assembly/compile.ts';
import { type Condition, holds } from '../../../src/core/rules/conditions.ts';
import {
  type CompiledRule,
  type Judged,
  maxRuleSteps,
  overBudget,
  type Reading,
} from '../../../src/core/rules/rule.ts';
import { isScalar } from '../../../src/core/rules/scalar-tests.ts';
import type { ValueTest } from '../../../src/core/rules/value-test.ts';
import type { JsonObject, JsonPrimitive, JsonValue } from '../../../src/values/json/index.ts';

/**
 * What a call gives its rules to judge. @param declared Names at the root of the tool's schema; all
 * of them unless given.
 */
function judged(input: unknown, parsed: unknown = input, declared?: readonly string[]): Judged {
  return {
    input: input as JsonObject,
    parsed,
    declares: (name) => declared?.includes(name) ?? true,
    facts: {},
    surface: '',
    call: undefined,
    attributes: undefined,
    left: maxRuleSteps,
  };
}

function compile(rule: Rule): CompiledRule {
  return compileRules([rule], 'session')[0] as CompiledRule;
}

function matches(
  effect: Effect,
  when: Rule['when'],
  input: JsonValue,
  parsed: unknown = input,
  declared?: readonly string[],
): boolean {
  return compile({ effect, when }).matches(judged(input, parsed, declared));
}

/** A test of scalars, as `equals` and its like are. */
function valueTest(test: (value: JsonPrimitive) => boolean, cost = 0): ValueTest {
  const judge = (value: unknown): boolean => isScalar(value) && test(value);
  return {
    judge,
    cost,
    steps: 1,
    writesNumbers: false,
    holdsWhereAbsent: false,
  };
}

/** Whether there is an `x` at a path. */
function findsX(
  reading: Reading,
  path: readonly string[],
  input: unknown,
  parsed: unknown = input,
): boolean {
  return holds({ path, test: valueTest((value) => value === 'x') }, reading, judged(input, parsed));
}

/** A value in so many arrays. */
function nested(depth: number, inner: unknown): unknown {
  let value = inner;
  for (let level = 0; level < depth; level++) value = [value];
  return value;
}

/** Steps for looking for a zero, where one character costs a quarter of a step. */
function stepsOf(
  reading: Reading,
  path: readonly string[],
  input: unknown,
  parsed: unknown = input,
): number {
  const call = judged(input, parsed);
  holds({ path, test: valueTest((value) => value === 0, 1 / 4) }, reading, call);
  return maxRuleSteps - call.left;
}

describe('when: paths', () => {
  const proto = JSON.parse('{"__proto__":{"polluted":"x"}}') as JsonObject;
  test.each<[rule: string, when: Rule['when'], input: JsonValue, deny: boolean, allow: boolean]>([
    ['a nested key', { 'a.b': 'x' }, { a: { b: 'x' } }, true, true],
    ['all conditions must hold', { a: 1, b: 2 }, { a: 1, b: 3 }, false, false],
    ['an absent path matches no rule', { a: 'x' }, {}, false, false],
    ['an absent path matches no null', { a: null }, {}, false, false],
    ['a path through a scalar is absent', { 'a.b': 'x' }, { a: 'x' }, false, false],
    ['a path through null is absent', { 'a.b': 'x' }, { a: null }, false, false],
    ['inherited properties do not count', { toString: { glob: '*' } }, {}, false, false],
    ['nor those of strings and arrays', { 'a.length': 1 }, { a: 'x', b: ['x'] }, false, false],
    ['nor the length of an array', { 'a.length': 1 }, { a: ['x'] }, false, false],
    ['an own __proto__ is a key', { '__proto__.polluted': 'x' }, proto, true, true],
    ['an object has no prototype keys', { '__proto__.polluted': 'x' }, {}, false, false],

    [
      'at an array: any element for deny, all for allow',
      { a: 'x' },
      { a: ['x', 'y'] },
      true,
      false,
    ],
    ['at an array of the right ones', { a: 'x' }, { a: ['x', 'x'] }, true, true],
    ['at an empty array: none', { a: 'x' }, { a: [] }, false, false],
    ['at nested arrays', { a: 'x' }, { a: [['y', ['x']]] }, true, false],
    ['at nested arrays of the right ones', { a: 'x' }, { a: [['x'], 'x'] }, true, true],
    ['an empty one among them is no match for allow', { a: 'x' }, { a: ['x', []] }, true, false],
    ['an object among them is no match for allow', { a: 'x' }, { a: ['x', {}] }, true, false],

    ['* walks an array', { 'a.*.b': 'x' }, { a: [{ b: 'y' }, { b: 'x' }] }, true, false],
    ['* where all agree', { 'a.*.b': 'x' }, { a: [{ b: 'x' }, { b: 'x' }] }, true, true],
    [
      '* with an element that lacks the key',
      { 'a.*.b': 'x' },
      { a: [{ b: 'x' }, {}] },
      true,
      false,
    ],
    ['* over nothing', { 'a.*.b': 'x' }, { a: [] }, false, false],
    [
      '* over nothing in one element',
      { 'a.*.b.*': 'x' },
      { a: [{ b: [] }, { b: ['x'] }] },
      true,
      false,
    ],
    [
      'an index leads to one element, and the others need not have the rest of the path',
      { 'a.0.b': { exists: false } },
      { a: [{ b: 'x' }, {}] },
      false,
      false,
    ],
    [
      'nor need another reading of the index find anything',
      { '0.0.1.a': { exists: false } },
      { 0: [[{}, { a: 'y' }], [[]]] },
      false,
      false,
    ],
    [
      'nor those beside an array that has the element',
      { '0.0.2': { exists: false } },
      { 0: [[['x'], 7, 'y'], 'x'] },
      false,
      false,
    ],
    ['* at the end', { 'a.*': 'x' }, { a: ['x'] }, true, true],
    [
      '* takes a value outside an array as an array of one',
      { 'a.*.b': 'x' },
      { a: { b: 'x' } },
      true,
      true,
    ],
    ['* is no wildcard for keys', { 'a.*': 'x' }, { a: { b: 'x' } }, false, false],
    [
      'a key that is a star does not dodge a deny',
      { 'a.*.b': 'x' },
      { a: { '*': { b: 'x' } } },
      true,
      false,
    ],

    [
      'values moved into arrays do not dodge a deny',
      { 'a.b': 'x' },
      { a: [{ b: 'y' }, { b: ['x'] }] },
      true,
      false,
    ],
    ['in nested arrays neither', { 'a.b': 'x' }, { a: [[[{ b: 'x' }]]] }, true, false],
    ['with * neither', { 'a.*.b': 'x' }, { a: [[{ b: 'x' }]] }, true, false],
    ['keys with dots do not dodge a deny', { 'a.b': 'x' }, { 'a.b': 'x' }, true, false],
    ['nor partly dotted ones', { 'a.b.c': 'x' }, { a: { 'b.c': 'x' } }, true, false],
    ['nor dotted ones in arrays', { 'a.b.c': 'x' }, { 'a.b': [{ c: 'x' }] }, true, false],
    [
      'an allow wants the dotted twin to pass too',
      { 'a.b': 'x' },
      { a: { b: 'x' }, 'a.b': 'y' },
      true,
      false,
    ],
    ['and takes it when it does', { 'a.b': 'x' }, { a: { b: 'x' }, 'a.b': 'x' }, true, true],
    [
      'behind the dotted twin, every reading has to pass',
      { 'a.b.c': 'x' },
      { a: { b: { c: 'x' } }, 'a.b': [{ c: 'y' }] },
      true,
      false,
    ],
    ['and behind a key that is a star', { '*.b': 'x' }, { '*': [{ b: 'y' }], b: 'x' }, true, false],
    [
      'where it takes what all readings pass',
      { '*.b': 'x' },
      { '*': [{ b: 'x' }], b: 'x' },
      true,
      true,
    ],

    ['an index', { 'args.0': 'push' }, { args: ['push', 'x'] }, true, true],
    ['another index', { 'args.1': 'push' }, { args: ['push', 'x'] }, false, false],
    ['an index beyond the end', { 'args.2': 'push' }, { args: ['push', 'x'] }, false, false],
    ['the first of a value outside an array', { 'args.0': 'push' }, { args: 'push' }, true, true],
    ['a numeric key of an object', { 'args.1': 'push' }, { args: { 1: 'push' } }, true, true],
    ['an index moved deeper', { 'args.1': 'push' }, { args: [['x', 'push']] }, true, false],

    ['the list form', [{ path: ['a', 'b'], equals: 'x' }], { a: { b: 'x' } }, true, true],
    [
      'the list form with a dot in a key',
      [{ path: ['a.b', 'c'], in: ['x'] }],
      { 'a.b': { c: 'x' } },
      true,
      true,
    ],
    [
      'a dot in the list form separates nothing',
      [{ path: ['a.b'], equals: 'x' }],
      { a: { b: 'x' } },
      false,
      false,
    ],
    ['* in the list form', [{ path: ['a', '*'], glob: 'x*' }], { a: ['x', 'xy'] }, true, true],
    ['an empty key in the list form', [{ path: [''], equals: 'x' }], { '': 'x' }, true, true],
    [
      'the same path twice in the list form',
      [
        { path: ['a'], glob: 'x*' },
        { path: ['a'], glob: '*y' },
      ],
      { a: 'xy' },
      true,
      true,
    ],
  ])('%s', (_, when, input, deny, allow) => {
    expect(matches('deny', when, input)).toBe(deny);
    expect(matches('ask', when, input)).toBe(deny);
    expect(matches('allow', when, input)).toBe(allow);
  });
});

describe('when: the input as it was sent, and as the handler gets it', () => {
  test.each<
    [
      rule: string,
      when: Rule['when'],
      input: JsonValue,
      parsed: unknown,
      deny: boolean,
      allow: boolean,
    ]
  >([
    ['a default is found', { force: true }, {}, { force: true }, true, true],
    [
      'what only the parse has stops the call',
      { force: true },
      { force: false },
      { force: true },
      true,
      false,
    ],
    [
      'what only was sent stops the call',
      { force: true },
      { force: true },
      { force: false },
      true,
      false,
    ],
    ['both have it', { cmd: { in: ['ls', ' ls'] } }, { cmd: ' ls' }, { cmd: 'ls' }, true, true],
    ['absent in both', { force: true }, {}, {}, false, false],
    [
      'undefined in the parse is absent',
      { force: { in: [null, true] } },
      {},
      { force: undefined },
      false,
      false,
    ],
    [
      'a default in one element',
      { 'a.*.f': true },
      { a: [{ f: false }, {}] },
      { a: [{ f: false }, { f: true }] },
      true,
      false,
    ],
    [
      'a default that completes an allow',
      { 'a.*.f': false },
      { a: [{ f: false }, {}] },
      { a: [{ f: false }, { f: false }] },
      true,
      true,
    ],
    [
      'a path that the parse has in part only',
      { 'a.*.f': false },
      { a: [{ f: false }, { f: false }] },
      { a: [{ f: false }, {}] },
      true,
      false,
    ],
    [
      'inherited properties of a parsed instance do not count',
      { a: 1 },
      {},
      Object.create({ a: 1 }),
      false,
      false,
    ],
    ['a parsed input that is no object', { a: 1 }, {}, 7, false, false],
    [
      'a date is read as JSON writes it',
      { at: { glob: '1970-*' } },
      { at: 0 },
      { at: new Date(0) },
      true,
      false,
    ],
    ['an invalid date is null', { at: null }, {}, { at: new Date(Number.NaN) }, true, true],
    [
      'a set is a list',
      { tags: 'prod' },
      { tags: 'dev,prod' },
      { tags: new Set(['dev', 'prod']) },
      true,
      false,
    ],
    [
      'a map is an object',
      { 'env.stage': 'prod' },
      { env: 'stage=prod' },
      { env: new Map([['stage', 'prod']]) },
      true,
      true,
    ],
    [
      'a URL is its text',
      { url: { glob: 'http://evil.example/*' } },
      { url: 'HTTP://EVIL.example' },
      { url: new URL('HTTP://EVIL.example') },
      true,
      false,
    ],
    ['a bigint is a number', { id: 7 }, { id: '7n' }, { id: 7n }, true, false],
    ['a boxed string is a string', { cmd: 'rm' }, { cmd: 'x' }, { cmd: Object('rm') }, true, false],
    [
      'two conditions may be met in different values',
      { a: 1, b: 2 },
      { a: 1, b: 0 },
      { a: 0, b: 2 },
      true,
      false,
    ],
    [
      'what throws when it is read counts against the call',
      { 'a.b': 1 },
      {},
      {
        a: new Proxy(
          {},
          {
            getPrototypeOf: () => {
              throw new Error('no');
            },
          },
        ),
      },
      true,
      false,
    ],
  ])('%s', (_, when, input, parsed, deny, allow) => {
    expect(matches('deny', when, input, parsed)).toBe(deny);
    expect(matches('ask', when, input, parsed)).toBe(deny);
    expect(matches('allow', when, input, parsed)).toBe(allow);
  });

  test(
    'an allow may rest on a declared member that the schema turned into another one, and not on ' +
      'one that it dropped unread',
    () => {
      expect(matches('allow', { path: 'a' }, { path: 'a' }, { file: 'a' }, ['path'])).toBe(true);
      expect(
        matches('allow', { mode: 'readonly' }, { cmd: 'rm', mode: 'readonly' }, { cmd: 'rm' }, [
          'cmd',
        ]),
      ).toBe(false);
      expect(
        matches('deny', { mode: 'readonly' }, { cmd: 'rm', mode: 'readonly' }, { cmd: 'rm' }, [
          'cmd',
        ]),
      ).toBe(true);
    },
  );

  test('a parse that is the very input is read once', () => {
    const once = judged({ a: ['x', 'y'] });
    const rule = compile({ effect: 'deny', when: { a: 'z' } });
    rule.matches(once);
    const twice = judged({ a: ['x', 'y'] }, { a: ['x', 'y'] });
    rule.matches(twice);
    expect(maxRuleSteps - twice.left).toBe(2 * (maxRuleSteps - once.left));
  });

  test('a cyclic parsed input ends, against the call', () => {
    const cyclic: unknown[] = [];
    cyclic.push(cyclic);
    expect(matches('deny', { a: 1 }, {}, { a: cyclic })).toBe(true);
    expect(matches('allow', { a: 1 }, {}, { a: cyclic })).toBe(false);
  });

  test('a walk over its budget of steps throws', () => {
    let nested: JsonValue = 'y';
    for (let depth = 0; depth < 60; depth++) nested = [nested, { '*': nested }];
    const path = Array.from({ length: 60 }, () => '*').join('.');
    expect(() => matches('deny', { [path]: 'x' }, { '*': nested })).toThrow(overBudget as never);
  });

  test.each<[what: string, when: Rule['when'], parsed: unknown]>([
    [
      'many elements that lack a key',
      { 'a.b.c.d.e.f.g.h': 1 },
      { a: Array.from({ length: 49_000 }, () => ({})) },
    ],
    [
      'a large map',
      { 'a.zz': 1 },
      { a: new Map(Array.from({ length: 49_000 }, (_, at) => [String(at), 1])) },
    ],
    [
      'a large set',
      { a: 'zz' },
      { a: new Set(Array.from({ length: 49_000 }, (_, at) => String(at))) },
    ],
    ['a buffer', { 'a.data': 'x' }, { a: Buffer.alloc(500_000) }],
    [
      'a pattern with a large program',
      { a: { matches: '(password|token).{0,100}=.{0,100}[0-9]{8,}$' } },
      { a: 'token '.repeat(5_000) },
    ],
  ])('%s cannot be judged by ten rules over and over', (_, when, parsed) => {
    const call = judged({}, parsed);
    const rule = compile({ effect: 'deny', when });
    expect(() => {
      for (let at = 0; at < 20; at++) rule.matches(call);
    }).toThrow(overBudget as never);
  });

  test('a long text costs what it is long, at each rule that looks at it', () => {
    const call = judged({ a: 'y'.repeat(900_000) });
    const rule = compile({ effect: 'deny', when: { a: { glob: '*x' } } });
    for (let at = 0; at < 4; at++) expect(rule.matches(call)).toBe(false);
    expect(() => rule.matches(call)).toThrow(overBudget as never);
  });
});

describe('a value is searched up to 200 levels down; a deeper one counts against the call', () => {
  // Each leads to the scalar by one step of its own kind, at the depth that is asked for.
  const restricting: readonly (readonly [
    step: string,
    path: readonly string[],
    value: (depth: number, scalar: string) => unknown,
  ])[] = [
    ['elements at the end of a path', ['a'], (depth, scalar) => ({ a: nested(depth - 1, scalar) })],
    ['a key in an array', ['a', 'b'], (depth, scalar) => ({ a: nested(depth - 2, { b: scalar }) })],
    ['elements by `*`', ['a', '*'], (depth, scalar) => ({ a: nested(depth - 1, scalar) })],
    [
      'elements of elements by `*`',
      ['a', '*', 'b'],
      (depth, scalar) => ({ a: nested(depth - 2, { b: scalar }) }),
    ],
    ['an index', ['a', '0'], (depth, scalar) => ({ a: nested(depth - 1, scalar) })],
    [
      'an index into an array in an array',
      ['a', '1'],
      (depth, scalar) => ({ a: nested(depth - 2, ['y', scalar]) }),
    ],
    [
      'a value outside an array by `*`',
      ['a', 'b', '*'],
      (depth, scalar) => ({ a: nested(depth - 3, { b: scalar }) }),
    ],
    [
      'a value outside an array by an index',
      ['a', 'b', '0'],
      (depth, scalar) => ({ a: nested(depth - 3, { b: scalar }) }),
    ],
    [
      'a key that holds dots',
      ['a', 'b', 'c'],
      (depth, scalar) => ({ a: nested(depth - 2, { 'b.c': scalar }) }),
    ],
  ];
  test.each(restricting)('for a rule that restricts: %s', (_, path, value) => {
    expect(findsX('any', path, value(199, 'x'))).toBe(true);
    expect(findsX('any', path, value(199, 'y'))).toBe(false);
    expect(findsX('any', path, value(201, 'y'))).toBe(true);
  });

  test.each(restricting.slice(0, 2))('and no further: %s', (_, path, value) => {
    expect(findsX('any', path, value(200, 'y'))).toBe(false);
  });

  const stars = (count: number): string[] => Array.from({ length: count }, () => '*');
  test.each<
    [step: string, path: (depth: number) => readonly string[], value: (depth: number) => unknown]
  >([
    ['elements at the end of a path', () => ['a'], (depth) => ({ a: nested(depth - 1, 'x') })],
    [
      'elements by `*`',
      (depth) => ['a', ...stars(depth - 1)],
      (depth) => ({ a: nested(depth - 1, 'x') }),
    ],
    [
      'an index',
      (depth) => ['a', ...stars(depth - 2), '0'],
      (depth) => ({ a: nested(depth - 1, 'x') }),
    ],
    [
      'a key',
      (depth) => ['a', ...stars(depth - 2), 'b'],
      (depth) => ({ a: nested(depth - 2, { b: 'x' }) }),
    ],
    [
      'a key that holds dots',
      (depth) => ['a', ...stars(depth - 3), 'b', 'c'],
      (depth) => ({ a: nested(depth - 3, { b: { c: 'x' }, 'b.c': nested(1, 'x') }) }),
    ],
    [
      'a value outside an array by `*`',
      (depth) => ['a', ...stars(depth - 1)],
      (depth) => ({ a: nested(depth - 2, 'x') }),
    ],
  ])('for a rule that permits: %s', (_, path, value) => {
    expect(findsX('all', path(200), value(200))).toBe(true);
    expect(findsX('all', path(201), value(201))).toBe(false);
  });
});

describe('a step is a value that is looked at, or a key that is looked up', () => {
  test.each<[what: string, path: readonly string[], input: unknown, any: number, all: number]>([
    ['a key that is absent', ['a'], {}, 2, 1],
    ['a key that is there', ['a'], { a: 1 }, 3, 2],
    ['two keys, joined by a dot as well', ['a', 'b'], { a: { b: 1 } }, 6, 3],
    ['three, of which the first is absent', ['a', 'b', 'c'], {}, 4, 3],
    ['elements up to the one that decides', ['a'], { a: [0, 0] }, 4, 4],
    ['all elements, where none decides for a rule that restricts', ['a'], { a: [1, 2, 3] }, 6, 3],
    ['elements of elements', ['a'], { a: [[1], [2]] }, 7, 4],
    ['elements by `*`', ['a', '*'], { a: [0, 0] }, 4, 5],
    [
      'elements by `*`, none of which has the key',
      ['a', '*', 'b'],
      { a: [{ c: 1 }, { c: 1 }] },
      13,
      6,
    ],
    ['an index, and the elements that stand beside it', ['a', '1'], { a: [1, 2] }, 7, 3],
    ['a value outside an array', ['a', '*'], { a: 1 }, 5, 3],
    ['a text, for what each of its characters costs', ['a'], { a: 'y'.repeat(400) }, 103, 102],
  ])('%s', (_, path, input, any, all) => {
    expect([stepsOf('any', path, input), stepsOf('all', path, input)]).toEqual([any, all]);
  });

  test.each<[what: string, path: readonly string[], parsed: unknown, any: number, all: number]>([
    ['an element of a set costs four, and its own', ['a'], { a: new Set([1, 2]) }, 15, 12],
    ['an entry of a map costs four', ['a', 'k'], { a: new Map([['k', 1]]) }, 13, 9],
    [
      'a byte of a buffer costs one, and its own',
      ['a', 'data'],
      { a: Buffer.alloc(100, 1) },
      219,
      116,
    ],
    ['a date costs ten to write, and its own', ['a'], { a: new Date(0) }, 21, 19],
    ['an integer beyond 2^53 costs a hundred', ['a'], { a: 2n ** 60n }, 109.75, 107.75],
    ['a small one costs nothing', ['a'], { a: 7n }, 5, 3],
  ])('%s', (_, path, parsed, any, all) => {
    expect([stepsOf('any', path, {}, parsed), stepsOf('all', path, {}, parsed)]).toEqual([
      any,
      all,
    ]);
  });

  test('an integer with too many digits matches a deny and not an allow', () => {
    for (const value of [10n ** 309n, -(10n ** 309n)]) {
      expect(findsX('any', ['a'], {}, { a: value })).toBe(true);
      expect(findsX('all', ['a'], {}, { a: value })).toBe(false);
    }
    expect(findsX('any', ['a'], {}, { a: 10n ** 308n })).toBe(false);
  });

  test('the last step of the budget may be taken, and one more is refused', () => {
    const condition: Condition = { path: ['a'], test: valueTest(() => false) };
    const call = (left: number): Judged => ({ ...judged({ a: 1 }), left });
    expect(holds(condition, 'any', call(3))).toBe(false);
    expect(() => holds(condition, 'any', call(2))).toThrow(overBudget as never);
    expect(() => holds(condition, 'all', call(1))).toThrow(overBudget as never);
  });
});

describe('values of a parse that are not JSON are read as the JSON that represents them', () => {
  const seen = (value: unknown): JsonPrimitive[] => {
    const values: JsonPrimitive[] = [];
    holds(
      { path: ['a'], test: valueTest((scalar) => values.push(scalar) === 0) },
      'any',
      judged({}, { a: value }),
    );
    return values;
  };
  test.each<[what: string, value: unknown, scalars: JsonPrimitive[]]>([
    ['a bigint as a number', 7n, [7]],
    ['a bigint that no number holds as its digits', 2n ** 64n, ['18446744073709551616']],
    ['a boxed number', Object(7), [7]],
    ['a boxed boolean', Object(false), [false]],
    ['a boxed text', Object('x'), ['x']],
    [
      'an instance by its `toJSON`',
      new (class {
        toJSON() {
          return 'json';
        }
      })(),
      ['json'],
    ],
    [
      'an instance whose `toJSON` cannot be called as what it is',
      new (class {
        toJSON = 'json';
      })(),
      [],
    ],
    [
      'an object without a prototype as what it is',
      Object.assign(Object.create(null), { toJSON: () => 'x' }),
      [],
    ],
    ['a plain object as what it is, whatever its members are called', { toJSON: () => 'x' }, []],
    ['a function as nothing', () => 'x', []],
    ['undefined as nothing', undefined, []],
  ])('%s', (_, value, scalars) => {
    expect(seen(value)).toEqual(scalars);
  });

  test('an allow does not rest on what is no scalar', () => {
    for (const value of [{}, () => 'x', Symbol('x')]) {
      expect(
        holds(
          { path: ['a'], test: valueTest(() => true) },
          'all',
          judged({ a: 'x' }, { a: value }),
        ),
      ).toBe(false);
    }
  });
});
