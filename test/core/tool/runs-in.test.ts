/** Where a tool runs: what its executor says of itself. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { define, setup } from '../call/define.ts';

const execute = async () => 1;

/** Where the tool runs, as all who say it do. */
async function placeOf(more: Record<string, unknown>): Promise<unknown> {
  const { registry, session } = setup([define('t', more)]);
  const { executor } = await session.explain('t');
  const [tool] = session.effectiveTools().tools;
  if (tool !== undefined) expect(tool.executor).toBe(executor);
  await registry.close();
  return executor;
}

test.each([
  ['a handler', {}, 'inline'],
  ['a handler for each session', { create: () => ({ handler: execute }) }, 'inline'],
  ['a tool that somebody else runs', { external: true }, 'external'],
  ['an executor that says so', { executor: { kind: 'thread', execute } }, 'thread'],
  ['a word of the host', { executor: { kind: 'gpu-pool_2', execute } }, 'gpu-pool_2'],
  ['an executor that says nothing', { executor: { execute } }, 'custom'],
  ['an executor that says `undefined`', { executor: { kind: undefined, execute } }, 'custom'],
])('%s', async (_, more, place) => {
  expect(await placeOf(more)).toBe(place);
});

test('what an executor inherits says nothing', async () => {
  class Inheriting {
    get kind() {
      return 'thread';
    }
    execute = execute;
  }
  expect(await placeOf({ executor: new Inheriting() })).toBe('custom');
});

test('it is read once, when the tool is defined', async () => {
  const executor = { kind: 'thread', execute };
  const { session } = setup([define('t', { executor })]);
  executor.kind = 'changed';
  expect((await session.explain('t')).executor).toBe('thread');
});

test('a copy of a definition keeps it, and an unknown tool has none', async () => {
  const { registry, session } = setup([define('t', { executor: { kind: 'fleet', execute } })]);
  registry.scope('plugin', { prefix: 'p_' }).register(define('u', { external: true }));
  expect((await session.explain('p_u')).executor).toBe('external');
  expect((await session.explain('nobody')).executor).toBeUndefined();
});

test.each([
  [
    1,
    'a word of 1 to 32 lower-case letters, digits, `-` and `_` that begins with a letter, other ' +
      'than `inline` and `external`, got `1` (number).',
  ],
  ['', 'a word of 1 to 32 lower-case letters'],
  ['Thread', 'a word of 1 to 32 lower-case letters'],
  ['x'.repeat(33), 'a word of 1 to 32 lower-case letters'],
  ['2nd', 'a word of 1 to 32 lower-case letters'],
  [{ toString: () => 'thread' }, 'a word of 1 to 32 lower-case letters'],
])('a kind that is no word is refused: %s', (kind, text) => {
  expect(() => define('t', { executor: { kind, execute } })).toThrow(
    `Tool \`t\`: expected \`executor.kind\` to be ${text}`,
  );
});

test.each(['inline', 'external'])('%s is not for an executor to say', (kind) => {
  expect(() => define('t', { executor: { kind, execute } })).toThrow(
    `with a letter, other than \`inline\` and \`external\`, got \`${kind}\` (string).`,
  );
});

test('a getter that throws is named', () => {
  const executor = {
    get kind() {
      throw new Error('not now');
    },
    execute,
  };
  expect(() => define('t', { executor })).toThrow('reading `executor.kind` threw: not now.');
});

test('whatever it says, it is refused or it is a label without anything to escape', () => {
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.string({ unit: 'binary' }), fc.anything()), (kind) => {
      let tool: ReturnType<typeof define>;
      try {
        tool = define('t', { executor: { kind, execute } });
      } catch (error) {
        expect(error).toMatchObject({ code: 'invalid_definition' });
        return;
      }
      const { session } = setup([tool]);
      const [held] = session.effectiveTools().tools;
      expect(held?.executor).toMatch(/^[a-z][a-z0-9_-]{0,31}$/);
    }),
  );
});
