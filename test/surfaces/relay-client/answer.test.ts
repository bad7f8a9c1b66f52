import { describe, expect, test } from 'vitest';
import { resultAnswer, thrownAnswer } from '../../../src/surfaces/relay-client/answer.ts';

/** The size of the largest answer that is sent. */
const maxAnswerBytes = 4 * 1_048_576;

const result = (value: unknown): unknown => JSON.parse(resultAnswer('r', 'tool', value).body);
const revoked = (): object => {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  return proxy;
};
const circle: Record<string, unknown> = {};
circle.circle = circle;

describe('an answer', () => {
  test.each([[0], [false], [''], [null], [[]], ['süß'], [{ a: [1, { b: null }] }]])(
    'is the result %j',
    (value) => {
      expect(result(value)).toEqual({ requestId: 'r', result: value });
    },
  );

  test('is null for undefined, and leaves out what is undefined', () => {
    expect([result(undefined), result({ a: undefined })]).toEqual([
      { requestId: 'r', result: null },
      { requestId: 'r', result: {} },
    ]);
  });

  test('takes what says itself what it is as JSON, and instances with content', () => {
    class Row {
      name = 'x';
    }
    expect([result(new Date(0)), result(new Row())]).toMatchObject([
      { result: '1970-01-01T00:00:00.000Z' },
      { result: { name: 'x' } },
    ]);
  });

  test.each<[string, unknown, RegExp]>([
    ['NaN', { n: Number.NaN }, /"n" is NaN/],
    ['Infinity', Number.POSITIVE_INFINITY, /it is Infinity/],
    ['a BigInt', 1n, /a bigint/],
    ['a function', { f() {} }, /"f" is a function/],
    ['a symbol', [Symbol('x')], /a symbol/],
    ['a Map', { m: new Map([[1, 2]]) }, /"m" is a Map/],
    ['a promise inside', [Promise.resolve(1)], /a Promise/],
    ['an Error', new Error('x'), /a Error/],
    ['bytes', new Uint8Array(3), /binary data/],
    ['a circle', circle, /circular/i],
    ['a revoked proxy', revoked(), /cannot be sent as JSON/],
    [
      'a getter that throws',
      {
        get a(): never {
          throw new Error('no');
        },
      },
      /as JSON: no/,
    ],
    ['a toJSON that gives nothing', { a: 1, toJSON: () => undefined }, /toJSON returns nothing/],
  ])('is an error that says so for %s', (_, value, message) => {
    expect(result(value)).toEqual({
      requestId: 'r',
      error: { message: expect.stringMatching(message) },
    });
  });

  test('is an error for a value that is too deep', () => {
    let deep: unknown = 1;
    for (let depth = 0; depth < 100_000; depth++) deep = [deep];
    expect(result(deep)).toMatchObject({
      error: { message: expect.stringContaining('cannot be sent as JSON') },
    });
  });

  test('is an error for more values or levels than a relay takes', () => {
    const tooMuch = {
      error: { message: expect.stringContaining('at most 125000 values and 100 levels') },
    };
    expect(result(Array.from({ length: 124_000 }, () => 0))).toMatchObject({
      result: expect.any(Array),
    });
    expect(result(Array.from({ length: 125_000 }, () => 0))).toMatchObject(tooMuch);
    expect(result(JSON.parse('['.repeat(100) + ']'.repeat(100)))).toMatchObject(tooMuch);
  });

  test('is at most 4 MB, counted in UTF-8', () => {
    const room = maxAnswerBytes - resultAnswer('r', 'tool', '').bytes;
    expect(resultAnswer('r', 'tool', 'x'.repeat(room)).bytes).toBe(maxAnswerBytes);
    expect(result('x'.repeat(room + 1))).toMatchObject({
      error: { message: expect.stringMatching(/result of tool is 4\.0 MB .* at most 4 MB/) },
    });
    expect(result('é'.repeat(room / 2 + 1))).toMatchObject({ error: {} });
  });

  test.each<[string, unknown, string]>([
    ['an Error', new Error('no such file'), 'no such file'],
    ['an Error without words', new Error(''), 'The handler threw Error.'],
    ['a string', 'oops', 'The handler threw oops.'],
    ['undefined', undefined, 'The handler threw undefined.'],
    ['a symbol', Symbol('s'), 'The handler threw Symbol(s).'],
    [
      'an object of nothing',
      Object.create(null),
      'The handler threw something that cannot be read.',
    ],
    ['a revoked proxy', revoked(), 'The handler threw something that cannot be read.'],
    [
      'a message that throws',
      {
        get message(): never {
          throw new Error('x');
        },
      },
      'The handler threw something that cannot be read.',
    ],
    ['a message that is long', new Error('x'.repeat(10_000)), 'x'.repeat(8192)],
  ])('is the words of %s that was thrown', (_, thrown, message) => {
    expect(JSON.parse(thrownAnswer('r', thrown).body)).toEqual({
      requestId: 'r',
      error: { message },
    });
  });
});
