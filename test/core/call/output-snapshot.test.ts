import { describe, expect, test } from 'vitest';
import { content } from '../../../src/index.ts';
import { world } from './world.ts';

const snapshotOf = async (value: unknown) => {
  const { output, error } = await world().run(() => value, { name: 'a' });
  return error ?? output;
};

describe('the snapshot of an output', () => {
  test.each<[unknown, unknown]>([
    [undefined, null],
    [null, null],
    ['', ''],
    [true, true],
    [false, false],
    [1.5, 1.5],
    [0, 0],
    [[], []],
    [{}, {}],
  ])('of %j is the value itself, or null where there is none', async (value, output) => {
    expect(await snapshotOf(value)).toStrictEqual(output);
  });

  test('has no negative zero, since JSON has none', async () => {
    expect(Object.is(await snapshotOf(-0), 0)).toBe(true);
  });

  test.each([
    ['not a number', Number.NaN],
    ['without end', Number.POSITIVE_INFINITY],
    ['a bigint', 1n],
    ['a symbol', Symbol('a')],
    ['a function', () => 1],
  ])('is none of what is %s: the error says so, without a place', async (_, value) => {
    expect(await snapshotOf(value)).toMatchObject({
      code: 'invalid_output',
      reason: 'not_json',
      details: { path: '' },
      message: expect.stringMatching(
        /^The output of `a` cannot be returned: .*\. The tool may have run\.$/,
      ),
    });
    expect(await snapshotOf({ list: [value] })).toMatchObject({
      reason: 'not_json',
      details: { path: '/list/0' },
      message: expect.stringMatching(/^The output at \/list\/0 of `a` cannot be returned: /),
    });
  });

  test('is at most 512 deep', async () => {
    const nested = (depth: number): unknown =>
      Array.from({ length: depth }).reduce((inner) => [inner], 1);
    expect(await snapshotOf(nested(512))).toEqual(nested(512));
    expect(await snapshotOf(nested(513))).toMatchObject({
      code: 'invalid_output',
      reason: 'output_too_large',
    });
  });

  test('is what it was when the handler returned, whatever is changed later', async () => {
    const value = { list: [1] };
    const output = await snapshotOf(value);
    value.list.push(2);
    expect(output).toEqual({ list: [1] });
  });

  test('is taken at once, so later changes of the value have no effect', async () => {
    const value = { list: [1] };
    const calling = world().run(() => value);
    value.list.push(2);
    expect((await calling).output).toEqual({ list: [1] });
  });

  const next = () => ({ done: true, value: 1 });
  test.each<[string, object]>([
    ['neither iterates', { next, return: next }],
    ['cannot be closed', { next, [Symbol.iterator]: next }],
    ['has no next step', { return: next, [Symbol.asyncIterator]: next }],
  ])('is asked for of what only resembles a generator: it %s', async (_, value) => {
    expect(await snapshotOf(value)).toMatchObject({ code: 'invalid_output', reason: 'not_json' });
  });

  test('of content is always a list of parts', async () => {
    expect(await snapshotOf(content.text('a'))).toEqual([{ type: 'text', text: 'a' }]);
    expect(await snapshotOf([content.text('a')])).toEqual([{ type: 'text', text: 'a' }]);
    expect(await snapshotOf({ type: 'text', text: 'a' })).toEqual({ type: 'text', text: 'a' });
  });

  test('of what cannot even be looked at is an error', async () => {
    const { proxy, revoke } = Proxy.revocable([], {});
    revoke();
    expect(await snapshotOf(proxy)).toMatchObject({ code: 'invalid_output' });
  });
});
