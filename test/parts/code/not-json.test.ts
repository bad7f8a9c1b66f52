/** What JSON cannot hold, on its way out of a program: said, and never left out. */
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { defineTool } from '../../../src/index.ts';
import { world } from './kit.ts';

const echo = defineTool({
  name: 'echo',
  description: 'Gives back its input.',
  parameters: z.looseObject({}),
  handler: (input) => input,
});

describe('a program that returns', () => {
  test.each([
    ['() => 1', 'it is a function: call it'],
    ['Symbol("a")', 'it is a symbol'],
    ['10n', 'it is a bigint: give a number or a text'],
    ['new Map([[1, 2]])', 'it is a Map: give Object.fromEntries(it)'],
    ['{ found: new Set([1]) }', '`found` is a Set: give [...it]'],
    ['[1, 2].map(async (one) => one)', '`0` is a Promise: await it'],
    ['{ at: /a/ }', '`at` is a RegExp'],
    ['(() => { const a = {}; a.a = a; return a })()', 'circular'],
  ])('%s is told what is wrong with it, and that it ran', async (value, expected) => {
    const { session, did } = world();
    const { error } = await session.call('run_code', {
      code: `await tools.read({ id: '1' });\nreturn ${value}`,
    });
    expect(error).toMatchObject({ code: 'invalid_output', reason: 'code_result' });
    expect(error?.message).toContain(`The program ran, and its result is no JSON: `);
    expect(error?.message).toContain(expected);
    expect(did).toEqual(['read 1']);
  });

  test.each([
    ['undefined', null],
    ['', null],
    ['[undefined, NaN]', [null, null]],
    ['{ a: undefined, b: 1 }', { b: 1 }],
    ['new Date(0)', '1970-01-01T00:00:00.000Z'],
    ['new (class A { b = 1 })()', { b: 1 }],
    ['new (class A {})()', {}],
    ['[{}, [], Object.create(null)]', [{}, [], {}]],
    ['new TypeError("a")', { message: 'TypeError: a' }],
  ])('%s gives it as JSON does', async (value, expected) => {
    expect(await world().run(`return ${value}`)).toEqual(expected);
  });

  test('the error of a call keeps its message', async () => {
    const code = 'try { await tools.nothing() } catch (error) { return { error } }';
    expect(await world().run(code)).toEqual({
      error: {
        code: 'tool_not_found',
        retryable: false,
        message: expect.stringContaining('There is no tool `nothing`'),
      },
    });
  });
});

test.each([
  ['{ id: Promise.resolve(1) }', '`id` is a Promise: await it'],
  ['() => 1', 'it is a function: call it'],
  ['{ id: 1n }', '`id` is a bigint: give a number or a text'],
])('arguments %s are refused, and nothing is called', async (input, expected) => {
  const { run } = world({ tools: [echo] });
  const code = `return tools.echo(${input}).catch(({ code, reason, message }) => [code, reason, message])`;
  expect(await run(code)).toEqual([
    'invalid_input',
    'not_json',
    `The arguments cannot be written as JSON: ${expected}`,
  ]);
});

test('lines for the host name what they cannot show', async () => {
  const { session } = world();
  const code =
    'const a = {}; a.a = a; console.log(new Map(), new Error("b"), async () => 1, a, [1n], 2n)';
  const { metadata } = await session.call('run_code', { code });
  expect(metadata.logs).toEqual([
    '[object Map] {"message":"b"} [object AsyncFunction] [object Object] [object Array] 2',
  ]);
});
