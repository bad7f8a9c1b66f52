import { describe, expect, test } from 'vitest';
import { subjectsAt, sumAt, unreadable } from '../../../src/parts/quotas/quota-values.ts';
import { maxUnits, numberOf } from '../../../src/parts/quotas/units.ts';

const path = (text: string): string[] => text.split('.');

/** The sum in the input and in what the handler gets; by default the same object. */
function sum(at: string | string[], input: unknown, parsed: unknown = input): unknown {
  const found = sumAt(typeof at === 'string' ? path(at) : at, input, parsed);
  return found === unreadable ? 'unreadable' : numberOf(found);
}

function subjects(at: string, input: unknown, parsed: unknown = input): unknown {
  const found = subjectsAt(path(at), input, parsed);
  return found === unreadable ? 'unreadable' : [...found];
}

describe('a sum', () => {
  test.each<[string, string | string[], unknown, unknown]>([
    ['a number', 'a', { a: 5 }, 5],
    ['0', 'a', { a: 0 }, 0],
    ['a fraction', 'a', { a: 0.1 }, 0.1],
    ['nested', 'a.b', { a: { b: 2 } }, 2],
    ['absent', 'a', {}, 0],
    ['absent below', 'a.b', { a: {} }, 0],
    ['below a number', 'a.b', { a: 5 }, 0],
    ['below null', 'a.b', { a: null }, 0],
    ['several', 'a.*', { a: [1, 2, 3] }, 6],
    ['several without a star', 'a', { a: [1, 2, 3] }, 6],
    ['several objects', 'a.*.b', { a: [{ b: 1 }, { b: 2 }, {}] }, 3],
    ['several objects without a star', 'a.b', { a: [{ b: 1 }, { b: 2 }] }, 3],
    ['wrapped more deeply', 'a.*.b', { a: [[{ b: 1 }], [[{ b: 2 }]]] }, 3],
    ['not wrapped', 'a.*.b', { a: { b: 4 } }, 4],
    ['no values', 'a.*', { a: [] }, 0],
    ['lists of lists', 'a.*.*', { a: [[1, 2], [3]] }, 6],
    [
      'the first of each',
      'a.*.0',
      {
        a: [
          [1, 2],
          [3, 4],
        ],
      },
      4,
    ],
    ['one of a list', 'a.1', { a: [1, 20, 300] }, 20],
    ['beyond the list', 'a.7', { a: [1, 2] }, 0],
    ['the first of what is no list', 'a.0', { a: 7 }, 7],
    ['a key that is a number', 'a.0', { a: { 0: 7 } }, 7],
    ['a key with a dot', ['a.b', 'c'], { 'a.b': { c: 3 } }, 3],
    ['a key with a dot, on a dotted path', 'a.b.c', { 'a.b': { c: 3 } }, 3],
    ['both spellings are added', 'a.b', { a: { b: 1 }, 'a.b': 2 }, 3],
    ['exactly', 'a', { a: [0.1, 0.2] }, 0.3],
    ['own members only', 'toString.length', {}, 0],
    ['a member called __proto__', '__proto__.a', JSON.parse('{"__proto__":{"a":6}}'), 6],
    ['not through the prototype', 'a', Object.create({ a: 6 }), 0],
  ])('%s', (_, at, input, found) => {
    expect(sum(at, input)).toBe(found);
  });

  test.each<[string, unknown]>([
    ['negative', -1],
    ['barely negative', -Number.MIN_VALUE],
    ['text', '5'],
    ['empty text', ''],
    ['null', null],
    ['true', true],
    ['an object', { b: 1 }],
    ['a list with a text', [1, '2']],
    ['a list with an object', [1, {}]],
    ['NaN', Number.NaN],
    ['Infinity', Number.POSITIVE_INFINITY],
    ['a negative bigint', -1n],
    ['a function', () => 1],
    ['a date', new Date(0)],
  ])('%s cannot be read', (_, value) => {
    expect(sum('a', { a: value })).toBe('unreadable');
    expect(sum('a', {}, { a: value })).toBe('unreadable');
    expect(sum('a', { a: 1 }, { a: value })).toBe('unreadable');
    // A text that JSON would read as a number is another matter; see below.
    if (!holdsText(value)) expect(sum('a', { a: value }, { a: 1 })).toBe('unreadable');
  });

  test('what is beyond all quotas still counts as more than any of them allows', () => {
    for (const value of [1e308, Number.MAX_VALUE, 10n ** 100n, [1e16, 1e16]])
      expect(sumAt(['a'], {}, { a: value })).toBe(maxUnits);
  });

  test('the larger of what was sent and what the handler gets', () => {
    expect(sum('a', { a: 5 }, { a: 500 })).toBe(500);
    expect(sum('a', { a: 500 }, { a: 5 })).toBe(500);
    expect(sum('a', { a: 500 }, {})).toBe(500);
    expect(sum('a', {}, { a: 500 })).toBe(500);
    expect(sum('a', { a: 7 }, undefined)).toBe(7);
  });

  test('a text that a schema made a number of counts as that number', () => {
    expect(sum('a', { a: '5.5' }, { a: 5.5 })).toBe(5.5);
    expect(sum('a', { a: '1e3' }, { a: 2n })).toBe(1_000);
    for (const text of ['-5', '0x10', ' 5', '5 ', 'Infinity', '1e999', '', 'five', '9'.repeat(401)])
      expect(sum('a', { a: text }, { a: 5 })).toBe('unreadable');
  });

  test('what a schema made is read as conditions read it', () => {
    expect(sum('a', {}, { a: 12n })).toBe(12);
    expect(sum('a', {}, { a: new Set([1, 2]) })).toBe(3);
    expect(sum('a.b', {}, { a: new Map([['b', 4]]) })).toBe(4);
    expect(sum('a', {}, { a: new Number(5) })).toBe(5);
    expect(sum('a', {}, { a: { toJSON: () => 6, constructor: Date } })).toBe('unreadable');
    expect(
      sum(
        'a',
        {},
        {
          a: new (class Money {
            toJSON() {
              return 6;
            }
          })(),
        },
      ),
    ).toBe(6);
  });

  test('a value that throws, is too deep or too large cannot be read', () => {
    const throwing = {
      get a(): number {
        throw new Error('no');
      },
    };
    expect(sum('a', {}, throwing)).toBe('unreadable');
    let deep: unknown = 1;
    for (let index = 0; index < 300; index++) deep = [deep];
    expect(sum('a', {}, { a: deep })).toBe('unreadable');
    expect(sum('a', {}, { a: new Array(300_000).fill(1) })).toBe('unreadable');
    const loop: unknown[] = [];
    loop.push(loop);
    expect(sum('a', {}, { a: loop })).toBe('unreadable');
  });
});

describe('the values that a quota is counted for', () => {
  test.each<[string, string, unknown, unknown]>([
    ['one', 'to', { to: 'ann' }, ['ann']],
    ['several, each once', 'to', { to: ['ann', 'bob', 'ann'] }, ['ann', 'bob']],
    ['of objects', 'to.*.id', { to: [{ id: 1 }, { id: 2 }] }, ['1', '2']],
    [
      'numbers, texts and booleans by their JSON text',
      'to',
      { to: [22, '22', true] },
      ['22', 'true'],
    ],
    ['the empty text', 'to', { to: '' }, ['']],
    ['absent', 'to', {}, 'unreadable'],
    ['none', 'to', { to: [] }, 'unreadable'],
    ['null', 'to', { to: null }, 'unreadable'],
    ['one of several is null', 'to', { to: ['ann', null] }, 'unreadable'],
    ['an object', 'to', { to: { id: 1 } }, 'unreadable'],
    ['NaN', 'to', { to: Number.NaN }, 'unreadable'],
  ])('%s', (_, at, input, found) => {
    expect(subjects(at, input)).toEqual(found);
  });

  test('of what was sent and of what the handler gets', () => {
    expect(subjects('to', { to: ' Ann' }, { to: 'ann' })).toEqual([' Ann', 'ann']);
    expect(subjects('to', {}, { to: 'ann' })).toEqual(['ann']);
    expect(subjects('to', { to: 'ann' }, {})).toEqual(['ann']);
    expect(subjects('to', { to: 'ann' }, { to: null })).toBe('unreadable');
    expect(subjects('to', { to: '5' }, { to: 5n })).toEqual(['5']);
  });
});

function holdsText(value: unknown): boolean {
  return typeof value === 'string' || (Array.isArray(value) && value.some(holdsText));
}
