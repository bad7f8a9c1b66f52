/** Gates get a parse of their own: what becomes of it concerns nobody else. */
import { describe, expect, test } from 'vitest';
import { andThen, define, setup } from './define.ts';

/** Takes the input the first time, and answers this the next times. */
function turning(later: () => unknown): object {
  let asked = 0;
  const validate = (value: unknown): unknown => (asked++ === 0 ? { value } : later());
  const json = { type: 'object' };
  return {
    '~standard': {
      version: 1,
      vendor: 'v',
      validate,
      jsonSchema: { input: () => json, output: () => json },
    },
  };
}

/** What a call ends with whose check gets no input. */
async function refusal(
  later: () => unknown,
): Promise<{ readonly error: unknown; readonly cause: Error }> {
  const check = ({ allow }: { allow(): unknown }): unknown => allow();
  const { error } = await setup([
    define('t', { parameters: turning(later), policy: { check } }),
  ]).session.call('t', {});
  return { error, cause: error?.cause as Error };
}

describe(
  'a schema that takes an input once and refuses it the next time leaves a check nothing to ' +
    'judge',
  () => {
    test.each<[string, unknown[], string]>([
      ['its first issue', [{ message: 'first' }, { message: 'second' }], 'first'],
      ['that there was none', [], 'without an issue'],
    ])('the call is refused, and the host learns %s', async (_, issues, said) => {
      const { error, cause } = await refusal(() => ({ issues }));
      expect(error).toMatchObject({ code: 'policy_error', reason: 'policy_threw' });
      expect(cause.message).toBe(
        `The schema accepted the arguments and then refused them: ${said}`,
      );
      expect(Object.hasOwn(cause, 'cause')).toBe(false);
    });

    test('what it threw is the cause', async () => {
      const thrown = new Error('mine');
      const { cause } = await refusal(() => {
        throw thrown;
      });
      expect(cause.cause).toBe(thrown);
    });
  },
);

test('what a check does to its input reaches neither the next gate nor the handler', async () => {
  const seen: unknown[] = [];
  const spoil = (input: { list: number[] }): number =>
    andThen(seen.push(structuredClone(input)), input.list.push(2));
  const { session } = setup([
    define('t', {
      policy: {
        check: ({ input, allow }: { input: { list: number[] }; allow(): unknown }) =>
          andThen(spoil(input), allow()),
      },
      requiresApproval: (input: { list: number[] }) => andThen(spoil(input), false),
      handler: (input: unknown) => input,
    }),
  ]);
  expect((await session.call('t', { list: [1] })).output).toEqual({ list: [1] });
  expect(seen).toEqual([{ list: [1] }, { list: [1] }]);
});

test(
  'what a raw schema filled in is not held against it: a check is given the input with its ' +
    'defaults',
  async () => {
    const parameters = { type: 'object', properties: { n: { type: 'number', default: 'auto' } } };
    const check = ({
      input,
      allow,
      deny,
    }: {
      input: { n: unknown };
      allow(): unknown;
      deny(reason: string): unknown;
    }): unknown => (input.n === 'auto' ? allow() : deny('no_default'));
    expect(
      (await setup([define('t', { parameters, policy: { check } })]).session.call('t', {})).output,
    ).toBe('ran');
  },
);
