import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { compileQuotas } from '../../../src/assembly/compile.ts';
import { maxRuleSteps } from '../../../src/core/rules/rule.ts';
import { MisuseError, type Quota } from '../../../src/index.ts';
import { subjectKey } from '../../../src/parts/quotas/quotas.ts';

const good: Quota = { id: 'q', max: 1, per: 'day', by: 'session' };

function faultOf(quota: unknown): string {
  try {
    compileQuotas([quota as Quota], 'registry');
  } catch (error) {
    expect(error).toBeInstanceOf(MisuseError);
    expect((error as MisuseError).code).toBe('invalid_quota');
    return (error as Error).message;
  }
  return 'none';
}

describe('a malformed quota throws, and says what was expected and what came', () => {
  test.each<[string, unknown, string]>([
    ['null', null, 'registry quota 0: Expected an object, got null'],
    ['a list', [], 'registry quota 0: Expected an object, got an array'],
    ['a number', 5, 'registry quota 0: Expected an object, got `5` (number)'],
    ['an unknown field', { ...good, rule: 1 }, 'registry quota 0 (`q`): unknown field `rule`'],
    ['a misspelt field', { ...good, tool: 'a' }, 'unknown field `tool`; did you mean `tools`?'],
    ['no id', { ...good, id: undefined }, 'Expected `id` to be a non-blank string'],
    ['a blank id', { ...good, id: ' ' }, 'Expected `id` to be a non-blank string'],
    ['an id with a space', { ...good, id: ' a' }, 'Expected `id` to be a non-blank string'],
    ['a long id', { ...good, id: 'a'.repeat(257) }, 'of at most 256 characters'],
    [
      'no max',
      { ...good, max: undefined },
      'Expected `max` to be a number from 0 to 9007199254740991',
    ],
    ['a negative max', { ...good, max: -1 }, 'Expected `max` to be a number from 0'],
    ['a max as text', { ...good, max: '5' }, 'Expected `max` to be a number from 0'],
    ['a huge max', { ...good, max: 1e16 }, 'Expected `max` to be a number from 0'],
    ['max NaN', { ...good, max: Number.NaN }, 'Expected plain data at `/max`'],
    ['max Infinity', { ...good, max: Number.POSITIVE_INFINITY }, 'Expected plain data at `/max`'],
    [
      'no per',
      { ...good, per: undefined },
      'Expected `per` to be `minute`, `hour`, `day`, `session` or { ms: … }, such as',
    ],
    ['per week', { ...good, per: 'week' }, 'Expected `per` to be'],
    ['per a number', { ...good, per: 60_000 }, 'Expected `per` to be'],
    ['per __proto__', { ...good, per: '__proto__' }, 'Expected `per` to be'],
    ['per {}', { ...good, per: {} }, 'Expected `per.ms` to be a whole number from 1'],
    ['per { ms: 0 }', { ...good, per: { ms: 0 } }, 'Expected `per.ms` to be a whole number from 1'],
    ['per { ms: 1.5 }', { ...good, per: { ms: 1.5 } }, 'Expected `per.ms` to be a whole number'],
    ['per { ms: 1e12 }', { ...good, per: { ms: 1e12 } }, 'from 1 to 315576000000'],
    ['per { ms, s }', { ...good, per: { ms: 1, s: 1 } }, 'Expected `per` to be'],
    [
      'no by',
      { ...good, by: undefined },
      'Expected `by` to be `session`, `principal`, `registry`, { path } or a list of several of',
    ],
    ['by user', { ...good, by: 'user' }, 'Expected `by` to be'],
    ['by {}', { ...good, by: {} }, 'Expected `by.path` to be a path'],
    ['by an empty path', { ...good, by: { path: '' } }, 'Expected `by.path` to be a path'],
    ['by a path with a hole', { ...good, by: { path: 'a..b' } }, 'Expected `by.path` to be a path'],
    ['by an empty list', { ...good, by: { path: [] } }, 'Expected `by.path` to be a path'],
    ['by a list of numbers', { ...good, by: { path: [1] } }, 'Expected `by.path` to be a path'],
    [
      'per session by principal',
      { ...good, per: 'session', by: 'principal' },
      'Expected `by` to be `session`, or a list with it, since `per` is `session`',
    ],
    [
      'per session by path',
      { ...good, per: 'session', by: { path: 'a' } },
      'Expected `by` to be `session`',
    ],
    [
      'per session by a list without it',
      { ...good, per: 'session', by: ['principal', { path: 'a' }] },
      'Expected `by` to be `session`, or a list with it, since `per` is `session`',
    ],
    ['by no one of a list', { ...good, by: [] }, 'Expected `by` to be `session`, `principal`'],
    [
      'by a list of too many',
      { ...good, by: Array.from({ length: 9 }, (_, at) => ({ path: `a${at}` })) },
      'Expected `by` to be `session`, `principal`',
    ],
    [
      'by a list with the registry',
      { ...good, by: ['session', 'registry'] },
      'Expected `by[1]` to be alone, because it counts all calls together',
    ],
    [
      'by a list with an unknown word',
      { ...good, by: ['session', 'user'] },
      'Expected `by[1]` to be `session`, `principal` or { path }, got `user`',
    ],
    [
      'by a list with a list',
      { ...good, by: [['session']] },
      'Expected `by[0]` to be `session`, `principal` or { path }',
    ],
    [
      'by a list with a wrong path',
      { ...good, by: ['session', { path: '' }] },
      'Expected `by[1].path` to be a path',
    ],
    [
      'by a list with a word twice',
      { ...good, by: ['session', 'session'] },
      'Expected `by[1]` to be in the list only once',
    ],
    [
      'by a list with a path twice',
      { ...good, by: [{ path: 'a.b' }, { path: ['a', 'b'] }] },
      'Expected `by[1]` to be in the list only once',
    ],
    ['a sum that is no path', { ...good, sum: 5 }, 'Expected `sum` to be a path of 1 to 64 names'],
    ['an empty sum', { ...good, sum: '' }, 'Expected `sum` to be a path'],
    ['a deep sum', { ...good, sum: `${'a.'.repeat(64)}a` }, 'Expected `sum` to be a path'],
    ['a long name in a sum', { ...good, sum: 'a'.repeat(1_025) }, 'Expected `sum` to be a path'],
    ['no tools', { ...good, tools: [] }, 'Expected `tools` to be left out, a glob or a list'],
    [
      'a blank tool',
      { ...good, tools: ['a', ' '] },
      'Expected `tools[1]` to be a non-blank string',
    ],
    ['a tool that is a number', { ...good, tools: 5 }, 'Expected `tools` to be a non-blank string'],
    [
      'over: allow',
      { ...good, over: 'allow' },
      'Expected `over` to be `deny` or `ask`, got `allow`',
    ],
    [
      'a reason that is none',
      { ...good, reason: 'Too Much' },
      'Expected `reason` to be a string that matches',
    ],
    ['a condition that is none', { ...good, when: {} }, 'Expected `when` to be left out'],
    [
      'a test that is none',
      { ...good, when: { a: { like: 1 } } },
      'registry quota 0 (`q`): Expected `when["a"] test` to be',
    ],
    [
      'what JSON cannot hold',
      { ...good, when: { a: () => 1 } },
      'Expected plain data at `/when/a`',
    ],
  ])('%s', (_, quota, message) => {
    expect(faultOf(quota)).toContain(message);
  });

  test('quotas that are no list, and an id that is there twice', () => {
    expect(() => compileQuotas({} as never, 'session')).toThrow(
      'Expected session quotas to be an array, got an object',
    );
    expect(() => compileQuotas([good, { ...good, max: 2 }], 'profile:p')).toThrow(
      'profile:p quota 1 (`q`): Expected `id` to be one that no other quota of the profile:p ' +
        'layer has, got `q`',
    );
    expect(() => compileQuotas([good], 'registry', new Set(['q']))).toThrow('registry quota 0');
  });
});

test('a well-formed quota has its defaults, is frozen, and shares nothing with the host', () => {
  const given = { ...good, sum: ['a.b', 'c'], by: { path: 'to.*' }, tools: ['pay_*'] };
  const [quota] = compileQuotas([given], 'registry');
  expect(quota).toMatchObject({
    id: 'q',
    layer: 'registry',
    sum: ['a.b', 'c'],
    by: [],
    paths: [['to', '*']],
    windowMs: 86_400_000,
    per: 'day',
    over: 'deny',
    reason: 'quota_exceeded',
  });
  expect(Object.isFrozen(quota)).toBe(true);
  given.sum.push('d');
  given.tools.push('*');
  expect(quota?.sum).toEqual(['a.b', 'c']);
  expect(['pay_all', 'read', 'раy_all'].map((name) => quota?.appliesTo({ name }))).toEqual([
    true,
    false,
    // Letters of another script that look the same.
    true,
  ]);
});

test('each window in milliseconds and in words', () => {
  const windows = (['minute', 'hour', 'day', { ms: 1_500 }, 'session'] as const).map((per) => {
    const [quota] = compileQuotas([{ ...good, per }], 'registry');
    return [quota?.windowMs, quota?.per];
  });
  expect(windows).toEqual([
    [60_000, 'minute'],
    [3_600_000, 'hour'],
    [86_400_000, 'day'],
    [1_500, '1500 ms'],
    [undefined, 'session'],
  ]);
});

test('`when` is read as a deny reads it: either value is enough', () => {
  const [quota] = compileQuotas([{ ...good, when: { kind: 'gift' } }], 'registry');
  const counts = (input: object, parsed: object): boolean | undefined =>
    quota?.counts({
      input: input as never,
      parsed,
      declares: () => true,
      facts: {},
      surface: '',
      call: undefined,
      attributes: undefined,
      left: maxRuleSteps,
    });
  expect(counts({ kind: 'gift' }, { kind: 'other' })).toBe(true);
  expect(counts({ kind: ' gift' }, { kind: 'gift' })).toBe(true);
  expect(counts({ kind: ['gift'] }, { kind: ['gift'] })).toBe(true);
  expect(counts({ kind: 'other' }, {})).toBe(false);
});

describe('the keys of sums', () => {
  const compiled = (layer: string, quota: Partial<Quota>): string =>
    compileQuotas([{ ...good, ...quota }], layer)[0]?.key ?? '';

  test('differ wherever a sum means something else, and nowhere else', () => {
    const keys = [
      compiled('registry', {}),
      compiled('session', {}),
      compiled('profile:a', {}),
      compiled('registry', { id: 'r' }),
      compiled('registry', { per: 'hour' }),
      compiled('registry', { per: 'session' }),
      compiled('registry', { by: 'principal' }),
      compiled('registry', { by: 'registry' }),
      compiled('registry', { by: { path: 'a' } }),
      compiled('registry', { by: { path: 'a.b' } }),
      compiled('registry', { by: { path: ['a.b'] } }),
      compiled('registry', { by: ['session', 'principal'] }),
      compiled('registry', { by: ['session', { path: 'a' }] }),
      compiled('registry', { by: ['principal', { path: 'a' }] }),
      compiled('registry', { by: [{ path: 'a' }, { path: 'b' }] }),
      compiled('registry', { by: ['session', 'principal', { path: 'a' }] }),
      compiled('registry', { sum: 'a' }),
      compiled('registry', { sum: ['a', 'b'] }),
      compiled('registry', { sum: ['a.b'] }),
    ];
    expect(new Set(keys).size).toBe(keys.length);
    expect(compiled('registry', { max: 9, tools: 'a', over: 'ask', reason: 'r' })).toBe(keys[0]);
    expect(compiled('registry', { per: { ms: 86_400_000 } })).toBe(keys[0]);
    // A list of one means its only member, and the order of a list means nothing.
    for (const [one, other] of [
      [{ path: 'a' }, [{ path: ['a'] }]],
      ['session', ['session']],
      [
        ['session', { path: 'a' }, { path: 'b' }],
        [{ path: 'b' }, 'session', { path: 'a' }],
      ],
    ] as const)
      expect(compiled('registry', { by: one })).toBe(compiled('registry', { by: other }));
  });

  test('no quota and subject can be written so that they look like another pair', () => {
    const hostile = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 12 }),
      fc.constantFrom('"', '"]', '",1,"', '\\', '\\"', '["x"]', '\0', '', 'null', '__proto__'),
      fc.constantFrom('a', '"').map((char) => char.repeat(600)),
    );
    const id = hostile.filter((text) => text.trim() === text && text !== '' && text.length < 257);
    fc.assert(
      fc.property(
        fc.uniqueArray(fc.tuple(id, hostile), {
          minLength: 2,
          maxLength: 5,
          selector: (pair) => JSON.stringify(pair),
        }),
        (pairs) => {
          const keys = pairs.map(([one, subject]) => {
            const [quota] = compileQuotas([{ ...good, id: one }], 'registry');
            return `${quota?.key}${subjectKey([subject])}`;
          });
          expect(new Set(keys).size).toBe(pairs.length);
          for (const key of keys) expect(key.length).toBeLessThanOrEqual(2_000);
        },
      ),
    );
  });

  test('no list of subjects can be written so that it looks like another one', () => {
    const part = fc.oneof(
      fc.string({ maxLength: 4 }),
      fc.constantFrom('","', '"', '["x"]', '', 'x'.repeat(600)),
    );
    fc.assert(
      fc.property(
        fc.uniqueArray(fc.array(part, { minLength: 2, maxLength: 8 }), {
          minLength: 2,
          maxLength: 5,
          selector: (subjects) => JSON.stringify(subjects),
        }),
        (lists) => {
          const keys = lists.map(subjectKey);
          expect(new Set(keys).size).toBe(lists.length);
          for (const key of keys) expect(key.length).toBeLessThanOrEqual(1_000);
        },
      ),
    );
  });

  test('stay short, however long the paths are', () => {
    const long = (end: string): string[] => [...Array(63).fill('x'.repeat(1_000)), end];
    const [a, b] = [
      compiled('registry', { sum: long('a') }),
      compiled('registry', { sum: long('b') }),
    ];
    expect(a).not.toBe(b);
    expect(a.length).toBeLessThan(600);
  });
});
