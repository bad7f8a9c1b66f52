/** What people and code could try to make undo do more, or tell more, than the gates have judged. */

import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import {
  defineTool,
  HostToolRegistry,
  isMisuseError,
  type RegistryOptions,
  type ToolResult,
} from '../../../src/index.ts';

function bank(options: RegistryOptions = {}) {
  const reverted: string[] = [];
  const refund = defineTool({
    name: 'refund',
    description: 'Refunds an order.',
    parameters: z.object({ order: z.string(), amount: z.number().default(1) }),
    handler: ({ order }) => order,
    revert: (_output, { order }) => {
      reverted.push(order);
      return null;
    },
  });
  const registry = new HostToolRegistry(options);
  registry.register(refund);
  return { registry, refund, reverted };
}

const reasonOf = ({ error }: ToolResult): string | undefined => error?.reason;

describe('whoever allows a call that takes back', () => {
  const rules: RegistryOptions['rules'] = [
    { effect: 'ask', tools: 'refund.revert' },
    { effect: 'deny', tools: 'refund.revert', when: { 'input.amount': { gt: 100 } } },
  ];

  test.each(['suspend', undefined] as const)(
    'cannot make it another one (approvalMode %s)',
    async (mode) => {
      const { registry, reverted } = bank({ rules, approvals: { secret: 'x'.repeat(32) } });
      const forged = { callId: 'large', sessionId: 's1', input: { amount: 1 } };
      let answer: object = { decision: 'allow_once', input: forged };
      const session = registry.createSession({
        sessionId: 's1',
        principal: 'ann',
        ...(mode === undefined ? { approver: () => answer as never } : { approvalMode: mode }),
      });
      await session.call('refund', { order: 'L', amount: 1_000 }, { callId: 'large' });
      await session.call('refund', { order: 'S' }, { callId: 'small' });
      expect((await session.revert('large')).error?.code).toBe('policy_denied');
      const taken = async (id: string): Promise<ToolResult> => {
        const result = await session.revert(id);
        if (mode === undefined) return result;
        const [question] = await registry.approvals.pending();
        const { id: asked = '' } = question ?? {};
        return registry.approvals.answer(asked, { ...answer, by: 'bob' } as never);
      };
      expect(await taken('small')).toMatchObject({
        error: { code: 'invalid_input', reason: 'revert_changed' },
      });
      expect(reverted).toEqual([]);
      answer = { decision: 'allow_once' };
      expect((await taken('small')).success).toBe(true);
      expect(reverted).toEqual(['S']);
    },
  );
});

describe('a tool of the host that has the name of one that takes back', () => {
  const own = defineTool({
    name: 'refund.revert',
    description: 'Is something else.',
    parameters: z.looseObject({}),
    handler: () => 'mine',
  });

  test('is refused beside it', () => {
    const { registry, refund } = bank();
    const thrown = (register: () => void): unknown => {
      try {
        register();
      } catch (error) {
        return isMisuseError(error) ? error.code : error;
      }
      return undefined;
    };
    expect(thrown(() => registry.register(own))).toBe('duplicate_name');
    const before = new HostToolRegistry();
    before.register(own);
    expect(thrown(() => before.register(refund))).toBe('name_conflict');
    const session = before.createSession({ sessionId: 's1' });
    expect(thrown(() => session.register(refund))).toBe('name_conflict');
  });

  test('is not run in its place', async () => {
    const { registry, refund } = bank();
    const both = new HostToolRegistry();
    both.registerAll([refund, own]);
    registry.registerOrReplace(own);
    for (const one of [registry, both]) {
      const session = one.createSession({ sessionId: 's1' });
      await session.call('refund', { order: 'a' }, { callId: 'c' });
      expect(reasonOf(await session.revert('c'))).toBe('definition_changed');
    }
  });
});

test('what is secret in a call is hidden in what its `revert` returns and throws', async () => {
  const registry = new HostToolRegistry();
  const secret = { type: 'string', 'x-secret': true };
  registry.register(
    defineTool({
      name: 'set_password',
      description: 'Sets a password.',
      parameters: {
        type: 'object',
        properties: { user: { type: 'string' }, now: secret },
        required: ['user', 'now'],
      },
      outputSchema: { type: 'object', properties: { before: secret } },
      handler: () => ({ before: 'old-pass-1' }),
      revert: (output, input) => {
        const text = `${JSON.stringify(input)} was ${JSON.stringify(output)}`;
        if (text.includes('eve')) throw new Error(text);
        return text;
      },
    }),
  );
  const told: string[] = [];
  registry.events.on('*', (event) => told.push(JSON.stringify(event)));
  const session = registry.createSession({ sessionId: 's1', principal: 'ann' });
  for (const user of ['bob', 'eve']) {
    await session.call('set_password', { user, now: 'new-pass-2' }, { callId: user });
    const { success, output } = await session.revert(user);
    expect(success).toBe(user === 'bob');
    // The caller gets what the host's code returns, as from any tool.
    if (success) expect(output).toContain('old-pass-1');
  }
  expect(told.some((text) => text.includes('set_password.revert'))).toBe(true);
  expect(told.join()).not.toMatch(/old-pass-1|new-pass-2/);
});

test.each(['ann', undefined])(
  'calls of an agent to which a handler has delegated are taken back with its own (principal %s)',
  async (principal) => {
    const { registry, reverted } = bank({ now: () => 1_000 });
    registry.register(
      defineTool({
        name: 'boss',
        description: 'Lets an agent refund orders.',
        parameters: z.object({}),
        uses: ['refund'],
        async handler(_input, context) {
          await context.tools.call('refund', { order: 'own' });
          await context.delegate?.({ agent: 'sub' })?.call('refund', { order: 'sub' });
          return null;
        },
      }),
    );
    const session = registry.createSession({
      sessionId: 's1',
      ...(principal === undefined ? {} : { principal }),
    });
    await session.call('boss', {}, { callId: 'b' });
    expect((await session.revert('b')).success).toBe(true);
    expect(reverted).toEqual(['sub', 'own']);
    expect(reasonOf(await session.revert('b'))).toBe('already_reverted');
  },
);

test('a sub-agent takes back only calls of tools that it was given', async () => {
  const { registry, reverted } = bank();
  const session = registry.createSession({ sessionId: 's1', principal: 'ann' });
  await session.call('refund', { order: 'a' }, { callId: 'c' });
  const reader = session.delegate({ agent: 'reader', tools: [] });
  expect((await reader.revert('c')).error?.code).toBe('tool_not_available');
  expect(reverted).toEqual([]);
});
