/** The bounds of `repair`: what is read from texts is no larger than what could have been sent. */
import { describe, expect, test } from 'vitest';
import { define, setup } from '../define.ts';

const nested = (levels: number): string => '['.repeat(levels) + ']'.repeat(levels);
const list = (length: number): string => JSON.stringify(Array.from({ length }, () => 0));
const array = { type: 'array' };
const parameters = {
  type: 'object',
  properties: {
    a: array,
    in: { type: 'object', properties: { a: array } },
    list: { type: 'array', items: array },
  },
};

/** Calls a tool that answers its input. */
async function repairedValue(input: unknown) {
  const { session } = setup([define('t', { parameters, handler: (given: unknown) => given })], {
    repair: 'safe',
    limits: { maxInputBytes: 10_000_000 },
  });
  const { error, output, metadata } = await session.call('t', input);
  return { error, output, repaired: metadata.repaired };
}

/** Why it was refused: `undefined` where the schema did. */
const refused = (reason: string | undefined, message: RegExp) => ({
  error: {
    code: 'invalid_input',
    message: expect.stringMatching(message),
    ...(reason === undefined ? {} : { reason }),
  },
});
const asText = refused(
  undefined,
  /^The arguments of `t` are invalid\..*\n.*must be array|^The arguments of `t` are invalid\./,
);
const tooLarge = refused(
  'too_large',
  /^The arguments are .*, once the JSON in their texts is read\. Send less\.$/,
);
const tooDeep = refused(
  'too_deep',
  /^The arguments are .*, once the JSON in their texts is read\. Send less\.$/,
);

describe('a text that holds JSON is read', () => {
  test.each<[string, unknown]>([
    ['63 levels deep', { a: nested(63) }],
    ['50 000 values long, with those around it', { a: list(49_998) }],
  ])('where it is at most %s', async (_, input) => {
    const { error, repaired } = await repairedValue(input);
    expect(error).toBeUndefined();
    expect(repaired).toEqual([{ path: 'a', rule: 'json_string' }]);
  });

  test.each<[string, unknown, object]>([
    ['64 levels deep', { a: nested(64) }, asText],
    ['63 levels deep, below two', { in: { a: nested(63) } }, tooDeep],
    ['50 001 values long', { a: list(50_000) }, asText],
    ['50 001 values long, with those around it', { a: list(49_999) }, tooLarge],
  ])('and not where it is %s', async (_, input, error) => {
    const result = await repairedValue(input);
    expect(result).toMatchObject(error);
    if (error === asText) expect(result.error?.reason).toBeUndefined();
  });

  test('where all arguments came as one, within the same bounds', async () => {
    expect((await repairedValue(`{"a":${list(49_998)}}`)).error).toBeUndefined();
    expect((await repairedValue(`{"a":${list(49_999)}}`)).error).toMatchObject({
      reason: 'not_an_object',
    });
    expect((await repairedValue(`{"a":${nested(62)}}`)).error).toBeUndefined();
    expect((await repairedValue(`{"a":${nested(63)}}`)).error).toMatchObject({
      reason: 'not_an_object',
    });
  });

  test('in a list, too, beside other elements', async () => {
    const { output, repaired } = await repairedValue({ list: ['[1]', [2], '[3]'] });
    expect(output).toEqual({ list: [[1], [2], [3]] });
    expect(repaired).toEqual([
      { path: 'list.0', rule: 'json_string' },
      { path: 'list.2', rule: 'json_string' },
    ]);
  });

  test('after 99 that hold none, and not after 100', async () => {
    const mendedAfter = async (count: number): Promise<unknown> =>
      (await repairedValue({ list: [...Array.from({ length: count }, () => '[x'), '[1]'] }))
        .repaired;
    expect(await mendedAfter(99)).toEqual([{ path: 'list.99', rule: 'json_string' }]);
    expect(await mendedAfter(100)).toBeUndefined();
  });
});

describe('a null that a dialect made of what was not given', () => {
  const optional = { type: 'object', properties: { a: { type: 'string' } } };
  test.each([
    [true, { output: {}, repaired: [{ path: 'a', rule: 'strict_null' }] }],
    [false, { code: 'invalid_input', repaired: undefined }],
    [undefined, { code: 'invalid_input', repaired: undefined }],
  ])(
    'is taken out where the surface says that it makes such: %s',
    async (strictNulls, expected) => {
      const { session } = setup([
        define('t', { parameters: optional, handler: (given: unknown) => given }),
      ]);
      const surface = { name: 'x', ...(strictNulls === undefined ? {} : { strictNulls }) };
      const { error, output, metadata } = await session.call('t', { a: null }, { surface });
      expect({ output, code: error?.code, repaired: metadata.repaired }).toMatchObject(expected);
    },
  );
});

test('what a person made of arguments that came as a text is what runs', async () => {
  const { session } = setup(
    [define('t', { parameters, requiresApproval: true, handler: (given: unknown) => given })],
    {
      repair: 'safe',
      approver: () => ({ decision: 'allow_once', input: { a: [2] } }),
    },
  );
  expect((await session.call('t', '{"a":[1]}')).output).toEqual({ a: [2] });
});

test('a text that every object inherits is no argument', async () => {
  const { session } = setup([define('t', { parameters, handler: (given: unknown) => given })], {
    repair: 'safe',
  });
  Object.defineProperty(Object.prototype, 'a', {
    value: '[1]',
    configurable: true,
    enumerable: true,
    writable: true,
  });
  const called = await session
    .call('t', { list: [] })
    .finally(() => Reflect.deleteProperty(Object.prototype, 'a'));
  expect(called.error).toBeUndefined();
  expect([called.output, called.metadata.repaired]).toEqual([{ list: [] }, undefined]);
});
