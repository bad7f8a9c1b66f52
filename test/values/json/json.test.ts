import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  canonicalJson,
  cloneJson,
  copyJson,
  deepFreeze,
  escapePointer,
  isJsonObject,
  type JsonValue,
  pointerSegments,
} from '../../../src/values/json/index.ts';

const loose = { maxDepth: 64, maxValues: 100_000 };
const copy = (value: unknown, limits: Partial<Parameters<typeof copyJson>[1]> = {}) =>
  copyJson(value, { ...loose, ...limits });

describe('copyJson', () => {
  test('property: JSON comes out as JSON.stringify would write it, and shares nothing', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const copied = copy(value);
        expect(copied.ok && JSON.stringify(copied.value)).toBe(JSON.stringify(value));
        if (copied.ok && typeof value === 'object' && value !== null)
          expect(copied.value).not.toBe(value);
      }),
    );
  });

  test('property: every value is copied as JSON or refused, and nothing throws', () => {
    fc.assert(
      fc.property(
        fc.anything({
          withBigInt: true,
          withDate: true,
          withMap: true,
          withNullPrototype: true,
          withObjectString: true,
          withSet: true,
          withSparseArray: true,
          withTypedArray: true,
        }),
        (value) => {
          const copied = copy(value);
          if (copied.ok && !copied.overflow)
            expect(copy(copied.value)).toMatchObject({
              ok: true,
              value: JSON.parse(JSON.stringify(copied.value)),
            });
        },
      ),
    );
  });

  test.each([
    ['BigInt', { a: [0, 1n] }, '/a/1'],
    ['a symbol', { a: Symbol('s') }, '/a'],
    ['a function', [() => 1], '/0'],
    ['NaN', { 'a/b': { '~': Number.NaN } }, '/a~1b/~0'],
    ['Infinity', Number.POSITIVE_INFINITY, ''],
    ['a Map', { m: new Map() }, '/m'],
    ['bytes', { b: Buffer.from('x') }, '/b'],
    ['an Error', { e: new Error('x') }, '/e'],
    ['a promise', { p: Promise.resolve() }, '/p'],
    ['a RegExp', { r: /x/ }, '/r'],
    [
      'a getter that throws',
      Object.defineProperty({}, 'g', {
        enumerable: true,
        get: () => {
          throw new Error('no');
        },
      }),
      '/g',
    ],
  ])('refuses %s and names the place', (what, value, path) => {
    const copied = copy(value);
    // A Buffer answers toJSON, which is honoured.
    if (what === 'bytes' && copied.ok) return;
    expect(copied).toMatchObject({ ok: false, fault: 'not_json', path });
  });

  test('a cycle is refused, a value that occurs twice is not', () => {
    const cycle: { self?: unknown } = {};
    cycle.self = [cycle];
    expect(copy(cycle)).toMatchObject({
      ...{ ok: false, fault: 'not_json', message: 'a cycle is not JSON' },
      path: '/self/0/self/0/self/0/self/0/…',
    });
    const twice = { x: 1 };
    expect(copy([twice, twice])).toMatchObject({ ok: true, value: [{ x: 1 }, { x: 1 }] });
  });

  test('bounds: depth, values, characters', () => {
    let value: unknown = 1;
    for (let level = 0; level < 64; level++) value = [value];
    expect(copy(value).ok).toBe(true);
    expect(copy([value])).toMatchObject({ ok: false, fault: 'too_deep' });
    expect(
      copy(
        Array.from({ length: 11 }, () => 1),
        { maxValues: 10 },
      ),
    ).toMatchObject({ ok: false, fault: 'too_large' });
    expect(copy('x'.repeat(100), { maxChars: 50 })).toMatchObject({ ok: true, overflow: true });
    expect(copy('x'.repeat(10), { maxChars: 50 })).toMatchObject({ ok: true, overflow: false });
  });

  test.each([
    [100, 101],
    [101, 106],
    [200, 601],
  ])(
    'an object of %i members takes %i values: from the 101st on, a member counts as five',
    (members, values) => {
      const object = Object.fromEntries(
        Array.from({ length: members }, (_, index) => [`k${index}`, index]),
      );
      expect(copy(object, { maxValues: values }).ok).toBe(true);
      expect(copy(object, { maxValues: values - 1 })).toMatchObject({
        ok: false,
        fault: 'too_large',
      });
      expect(copy([object, 1], { maxValues: values + 2 }).ok).toBe(true);
      expect(copy([object, 1], { maxValues: values + 1 })).toMatchObject({
        ok: false,
        fault: 'too_large',
      });
    },
  );

  test(
    'hostile sizes are refused before they are walked, which would take longer than any test ' +
      'may',
    () => {
      let doubling: unknown = 1;
      for (let level = 0; level < 2_000; level++) doubling = [doubling, doubling];
      expect(copy(doubling).ok).toBe(false);
      expect(copy(new Array(4_000_000_000)).ok).toBe(false);
      expect(
        copy(Object.fromEntries(Array.from({ length: 200_000 }, (_, key) => [key, 1]))).ok,
      ).toBe(false);
    },
  );

  test('a copy within a copy keeps its own count', () => {
    expect(
      copy({ a: { toJSON: () => (copy(['inner']) as { value: unknown }).value }, b: 'outer' }),
    ).toMatchObject({
      ok: true,
      value: { a: ['inner'], b: 'outer' },
    });
    expect(copy([1])).toMatchObject({ ok: true, value: [1] });
  });

  test('`__proto__` becomes an own member and never a prototype, in copies and clones', () => {
    const copied = copy(JSON.parse('{"a":{"__proto__":{"polluted":1}}}'));
    if (!copied.ok) throw new Error(copied.message);
    expect(copied.unsafe).toBe(true);
    for (const value of [copied.value, cloneJson(copied.value)] as {
      a: { polluted?: unknown };
    }[]) {
      expect(value.a.polluted).toBeUndefined();
      expect(Object.hasOwn(value.a, '__proto__')).toBe(true);
      expect(Object.getPrototypeOf(value.a)).toBe(Object.prototype);
    }
  });

  test('inherited members, symbols and undefined are left out', () => {
    expect(
      copy(
        Object.assign(Object.create({ inherited: 1 }), {
          own: 1,
          gone: undefined,
          [Symbol('s')]: 1,
        }),
      ),
    ).toMatchObject({ ok: true, value: { own: 1 } });
  });
});

describe('canonicalJson', () => {
  test('property: the order of members does not matter, and the text reads back', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const json = JSON.parse(JSON.stringify(value)) as JsonValue;
        const turn = (item: JsonValue): JsonValue =>
          Array.isArray(item)
            ? item.map(turn)
            : isJsonObject(item)
              ? Object.fromEntries(
                  Object.entries(item)
                    .reverse()
                    .map(([key, member]) => [key, turn(member)]),
                )
              : item;
        expect(canonicalJson(turn(json))).toBe(canonicalJson(json));
        expect(JSON.parse(canonicalJson(json))).toEqual(json);
      }),
    );
  });

  test('sorts by code unit, without white space', () => {
    expect(canonicalJson({ b: 1, a: [{ d: 1, c: '\n' }], B: 1e21, é: 0.1 })).toBe(
      '{"B":1e+21,"a":[{"c":"\\n","d":1}],"b":1,"é":0.1}',
    );
  });
});

describe('deepFreeze', () => {
  test('freezes plain values all the way down and leaves others alone', () => {
    const date = new Date(0);
    const value = deepFreeze({ a: [{ b: 1 }], date });
    expect([value, value.a, value.a[0]].every(Object.isFrozen)).toBe(true);
    expect(Object.isFrozen(date)).toBe(false);
  });
});

test('the segments of a JSON pointer are those that it was written from', () => {
  fc.assert(
    fc.property(fc.array(fc.oneof(fc.string(), fc.constantFrom('~1', '/', '~01', ''))), (names) => {
      const pointer = names.map((name) => `/${escapePointer(name)}`).join('');
      expect(pointerSegments(pointer)).toEqual(names);
    }),
  );
});
