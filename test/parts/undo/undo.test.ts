/** `revert` of tools, and `session.revert`: a call is taken back as a governed call, once. */

import { describe, expect, test, vi } from 'vitest';
import { z } from 'zod';
import type { Store } from '../../../src/api/store.ts';
import {
  defineTool,
  HostToolRegistry,
  memoryStore,
  type RegistryOptions,
  type ToolResult,
} from '../../../src/index.ts';

/** A bank, whose refunds can be taken back. */
function setUp(options: RegistryOptions = {}) {
  const reverted: unknown[] = [];
  const registry = new HostToolRegistry(options);
  const refund = defineTool({
    name: 'refund',
    description: 'Refunds an order.',
    parameters: z.object({ order: z.string(), amount: z.number().default(10) }),
    handler: ({ order, amount }) => ({ id: `r-${order}`, amount }),
    revert: (output, input, context) => {
      reverted.push({ output, input, as: context.toolName });
      return `${output.id} is void`;
    },
  });
  registry.register(refund);
  registry.register(
    defineTool({
      name: 'mail',
      description: 'Sends a mail.',
      parameters: z.object({}),
      handler: () => 'sent',
    }),
  );
  const session = registry.createSession({ sessionId: 's1', principal: 'ann' });
  return { registry, refund, session, reverted };
}

const idOf = ({ metadata }: ToolResult): string => metadata.callId;
const reasonOf = ({ error }: ToolResult): string | undefined => error?.reason;

describe('a call of a tool with `revert`', () => {
  test('is taken back with its output and its input, as a call of its own', async () => {
    const { registry, session, reverted } = setUp();
    const events: string[] = [];
    registry.events.on('tool:post', ({ toolName, callId }) => events.push(`${toolName} ${callId}`));
    const done = await session.call('refund', { order: 'a' });
    const undone = await session.revert(idOf(done));
    expect(undone).toMatchObject({ success: true, output: 'r-a is void' });
    expect(reverted).toEqual([
      { output: { id: 'r-a', amount: 10 }, input: { order: 'a', amount: 10 }, as: 'refund.revert' },
    ]);
    expect(events).toEqual([`refund ${idOf(done)}`, `refund.revert ${idOf(undone)}`]);
  });

  test('is taken back once, and a call that takes back is none that can be taken back', async () => {
    const { session, reverted } = setUp();
    const id = idOf(await session.call('refund', { order: 'a' }));
    const both = await Promise.all([session.revert(id), session.revert(id)]);
    expect(both.map(({ success }) => success).sort()).toEqual([false, true]);
    expect(reasonOf(await session.revert(id))).toBe('already_reverted');
    const undone = both.find(({ success }) => success) as ToolResult;
    expect(reasonOf(await session.revert(idOf(undone)))).toBe('unknown_call');
    expect(reverted.length).toBe(1);
  });

  test('can be taken back in another session of its principal, and in no other', async () => {
    const { registry, session, reverted } = setUp();
    const id = idOf(await session.call('refund', { order: 'a' }));
    const of = (sessionId: string, principal?: string) =>
      registry.createSession({ sessionId, ...(principal === undefined ? {} : { principal }) });
    for (const other of [of('s1', 'eve'), of('s1'), of('s2', 'eve'), of('s2')])
      expect(reasonOf(await other.revert(id))).toBe('unknown_call');
    expect((await of('s3', 'ann').revert(id)).success).toBe(true);
    expect(reasonOf(await session.revert(id))).toBe('already_reverted');
    expect(reverted.length).toBe(1);
  });

  test('is the one of the own session, if several of the principal have its id', async () => {
    const { registry, session, reverted } = setUp();
    const other = registry.createSession({ sessionId: 's2', principal: 'ann' });
    await session.call('refund', { order: 'a' }, { callId: 'c' });
    await other.call('refund', { order: 'b' }, { callId: 'c' });
    await session.revert('c');
    await other.revert('c');
    expect(reverted).toMatchObject([{ input: { order: 'a' } }, { input: { order: 'b' } }]);
  });

  test('has to have succeeded', async () => {
    const { registry, session } = setUp();
    registry.addRules([{ effect: 'deny', tools: 'refund', when: { order: 'x' } }]);
    registry.registerOrReplace(
      defineTool({
        name: 'broken',
        description: 'Fails.',
        parameters: z.object({}),
        handler: (): string => {
          throw new Error('no');
        },
        revert: () => 'never',
      }),
    );
    for (const failed of [
      await session.call('refund', { order: 'x' }),
      await session.call('refund', {}),
      await session.call('broken'),
    ])
      expect(reasonOf(await session.revert(idOf(failed)))).toBe('unknown_call');
    expect(reasonOf(await session.revert('never made'))).toBe('unknown_call');
    const mail = await session.call('mail');
    expect(reasonOf(await session.revert(idOf(mail)))).toBe('unknown_call');
  });

  test('needs the same definition', async () => {
    const { registry, refund, session, reverted } = setUp();
    const before = idOf(await session.call('refund', { order: 'a' }));
    registry.registerOrReplace(
      defineTool({
        name: 'refund',
        description: 'Refunds an order and says so.',
        parameters: z.object({ order: z.string() }),
        handler: () => 1,
        revert: () => reverted.push('the new one'),
      }),
    );
    expect(reasonOf(await session.revert(before))).toBe('definition_changed');
    const after = idOf(await session.call('refund', { order: 'b' }));
    expect((await session.revert(after)).success).toBe(true);
    registry.registerOrReplace(refund);
    expect((await session.revert(before)).success).toBe(true);
    expect(reverted).toMatchObject(['the new one', { input: { order: 'a' } }]);
  });

  test('can be taken back after a failure before its `revert` began, and not after one in it', async () => {
    let fails = true;
    const { registry, session } = setUp();
    registry.register(
      defineTool({
        name: 'book',
        description: 'Books a room.',
        parameters: z.object({}),
        handler: () => 'booked',
        revert: () => {
          if (fails) throw new Error('the hotel is closed');
          return 'free';
        },
      }),
    );
    const id = idOf(await session.call('book'));
    const remove = registry.addRules([{ effect: 'deny', tools: '*.revert' }]);
    expect(await session.revert(id)).toMatchObject({ error: { code: 'policy_denied' } });
    remove();
    expect(await session.revert(id)).toMatchObject({ error: { code: 'handler_error' } });
    fails = false;
    expect(reasonOf(await session.revert(id))).toBe('revert_ran');
  });
});

describe('taking back is governed', () => {
  test('no model sees the tool, and nobody can call it by its name', async () => {
    const { registry, session } = setUp();
    const id = idOf(await session.call('refund', { order: 'a' }));
    expect(session.effectiveTools().names).toEqual(['refund', 'mail']);
    const input = { callId: id, sessionId: 's1', input: {} };
    expect(await session.call('refund.revert', input)).toMatchObject({
      error: { code: 'tool_not_found' },
    });
    expect(() =>
      registry.register(
        defineTool({
          name: 'refund.revert',
          description: 'Not it.',
          parameters: z.object({}),
          handler: () => 1,
        }),
      ),
    ).toThrow('refund.revert');
  });

  test('rules see its name, the input of the call, and whether calls are reversible', async () => {
    const { registry, refund, session } = setUp();
    expect(refund.annotations).toEqual({ reversible: true });
    registry.addRules([
      { effect: 'deny', tools: 'refund.revert', when: { 'input.amount': { gt: 100 } } },
      {
        id: 'final',
        effect: 'deny',
        annotations: { reversible: false },
        tools: ['mail', 'refund'],
      },
    ]);
    const few = idOf(await session.call('refund', { order: 'a', amount: 5 }));
    const many = idOf(await session.call('refund', { order: 'a', amount: 500 }));
    expect((await session.revert(few)).success).toBe(true);
    expect(await session.revert(many)).toMatchObject({ error: { code: 'policy_denied' } });
    expect(await session.call('mail')).toMatchObject({ error: { ruleId: 'final' } });
  });

  test('`explain` judges it as the rules would, and nobody can call it for that', async () => {
    const { registry, session, reverted } = setUp();
    registry.addRules([
      { id: 'big', effect: 'deny', tools: 'refund.revert', when: { 'input.amount': { gt: 100 } } },
    ]);
    const about = (amount: number) => ({ callId: 'c', sessionId: 's1', input: { amount } });
    expect(await session.explain('refund.revert', about(500))).toMatchObject({
      visible: false,
      code: 'policy_denied',
      decision: { effect: 'deny' },
      ruleId: 'big',
    });
    const allowed = await session.explain('refund.revert', about(5));
    expect([allowed.code, allowed.decision?.effect]).toEqual([undefined, 'allow']);
    expect((await session.explain('refund.revert')).code).toBeUndefined();
    expect((await session.explain('mail.revert')).code).toBe('tool_not_found');
    expect((await session.call('refund.revert', about(5))).error?.code).toBe('tool_not_found');
    expect(reverted).toEqual([]);
  });

  test('a person can be asked, here and after a restart', async () => {
    const store = memoryStore();
    const options: RegistryOptions = {
      store,
      approvals: { secret: 'x'.repeat(32) },
      rules: [{ effect: 'ask', tools: 'refund.revert' }],
    };
    const before = setUp(options);
    const asking = before.registry.createSession({
      sessionId: 's1',
      principal: 'ann',
      approvalMode: 'suspend',
    });
    const id = idOf(await asking.call('refund', { order: 'a' }));
    const waiting = await asking.revert(id);
    expect(waiting.error?.code).toBe('approval_pending');
    const after = setUp(options);
    after.registry.createSession({
      sessionId: 's1',
      principal: 'ann',
      approvalMode: 'suspend',
    });
    const [question] = await after.registry.approvals.pending();
    expect(question).toMatchObject({
      tool: { name: 'refund.revert' },
      input: { callId: id, input: { order: 'a' } },
      title: "Allow `Take back 'refund'` to run?",
    });
    const answered = await after.registry.approvals.answer(question?.id ?? '', {
      decision: 'allow_once',
      by: 'bob',
    });
    expect(answered).toMatchObject({ success: true, output: 'r-a is void' });
    expect([before.reverted.length, after.reverted.length]).toEqual([0, 1]);
  });

  test('it needs the scopes and the facts that its tool needs', async () => {
    const { registry } = setUp();
    registry.register(
      defineTool({
        name: 'pay',
        description: 'Pays.',
        parameters: z.object({}),
        scopes: ['pay:write'],
        handler: () => 1,
        revert: () => 2,
      }),
    );
    const of = (sessionId: string, scopes: readonly string[]) =>
      registry.createSession({ sessionId, principal: 'ann', scopes });
    const id = idOf(await of('s1', ['pay:write']).call('pay'));
    expect(reasonOf(await of('s2', []).revert(id))).toBe('scope_missing');
    expect((await of('s3', ['pay:write']).revert(id)).success).toBe(true);
  });

  test('what is secret in the input reaches `revert`, and nobody else', async () => {
    const seen: unknown[] = [];
    const registry = new HostToolRegistry({ redact: ['token'] });
    registry.register(
      defineTool({
        name: 'open',
        description: 'Opens a door.',
        parameters: z.object({ door: z.string(), token: z.string() }),
        handler: () => 'open',
        revert: (_output, { token }) => {
          seen.push(token);
          return 'closed';
        },
      }),
    );
    const told: string[] = [];
    registry.events.on('*', (event) => told.push(JSON.stringify(event)));
    const session = registry.createSession({ sessionId: 's' });
    const id = idOf(await session.call('open', { door: 'a', token: 'hunter2-secret' }));
    expect((await session.revert(id)).success).toBe(true);
    expect(seen).toEqual(['hunter2-secret']);
    expect(told.join()).not.toContain('hunter2');
  });
});

describe('calls of a call', () => {
  const withBatch = (options: RegistryOptions = {}) => {
    const world = setUp(options);
    world.registry.register(
      defineTool({
        name: 'refund_all',
        description: 'Refunds orders.',
        parameters: z.object({ orders: z.array(z.string()) }),
        uses: ['refund', 'mail'],
        async handler({ orders }, context) {
          for (const order of orders) await context.tools.call('refund', { order });
          await context.tools.call('mail', {});
          return orders.length;
        },
      }),
    );
    return world;
  };

  test('are taken back in reverse order, each once', async () => {
    const { session, reverted } = withBatch({ now: () => 1_000 });
    const id = idOf(await session.call('refund_all', { orders: ['a', 'b', 'c'] }));
    const undone = await session.revert(id);
    expect(undone).toMatchObject({ success: true, metadata: { callId: id } });
    expect((undone.output as { reverted: string[] }).reverted.length).toBe(3);
    expect(reverted).toMatchObject(['c', 'b', 'a'].map((order) => ({ input: { order } })));
    expect(reasonOf(await session.revert(id))).toBe('already_reverted');
  });

  test('stop at the first that cannot be taken back, and go on later', async () => {
    const { registry, session, reverted } = withBatch();
    const id = idOf(await session.call('refund_all', { orders: ['a', 'b', 'c'] }));
    const remove = registry.addRules([
      { effect: 'deny', tools: 'refund.revert', when: { 'input.order': 'b' } },
    ]);
    expect(await session.revert(id)).toMatchObject({ error: { code: 'policy_denied' } });
    expect(reverted.length).toBe(1);
    remove();
    expect((await session.revert(id)).success).toBe(true);
    expect(reverted).toMatchObject(['c', 'b', 'a'].map((order) => ({ input: { order } })));
  });
});

describe('what is kept', () => {
  test('can be taken back by another process with the store, and for a limited time', async () => {
    let now = 0;
    const store = memoryStore({ now: () => now });
    const options = { undo: { store, ttlMs: 1_000 }, now: () => now };
    const id = idOf(await setUp(options).session.call('refund', { order: 'a' }));
    const late = idOf(await setUp(options).session.call('refund', { order: 'b' }));
    await vi.waitFor(async () => {
      expect((await setUp(options).session.revert(id)).success).toBe(true);
    });
    now = 1_001;
    expect(reasonOf(await setUp(options).session.revert(late))).toBe('unknown_call');
  });

  test('a store that fails or hangs refuses, runs nothing, and says so', async () => {
    const inner = memoryStore();
    let mode: 'works' | 'fails' | 'hangs' = 'works';
    const apply: Store['apply'] = (...args) => {
      if (mode === 'fails') throw new Error('the disk is full');
      if (mode === 'hangs') return new Promise(() => {});
      return inner.apply(...args);
    };
    const store: Store = { ...inner, apply };
    const error = vi.fn();
    const { session, reverted } = setUp({
      undo: { store },
      policyTimeoutMs: 50,
      logger: { warn() {}, error },
    });
    const id = idOf(await session.call('refund', { order: 'a' }));
    await vi.waitFor(() => expect(error).not.toHaveBeenCalled());
    mode = 'fails';
    expect(reasonOf(await session.revert(id))).toBe('undo_unavailable');
    mode = 'hangs';
    expect(reasonOf(await session.revert(id))).toBe('undo_unavailable');
    expect(error).toHaveBeenCalled();
    expect(reverted).toEqual([]);
    mode = 'works';
    expect((await session.revert(id)).success).toBe(true);
  });

  test('something else in the store is no call', async () => {
    const inner = memoryStore();
    const store: Store = {
      ...inner,
      apply: ((space, operations) => {
        const answer = inner.apply(space, operations);
        const [first] = operations;
        if (first?.op !== 'get') return answer;
        const value = JSON.stringify({ callId: 'x', tool: 'refund', state: 'kept' });
        return { results: [[{ value, version: 1, remainingMs: undefined }]] };
      }) as Store['apply'],
    };
    const { session } = setUp({ undo: { store } });
    expect(reasonOf(await session.revert('x'))).toBe('unknown_call');
  });

  test.each([
    ['an id that is none', 5],
    ['an empty id', ''],
    ['a very long id', 'x'.repeat(1_025)],
  ])('%s is refused by name', async (_, id) => {
    await expect(setUp().session.revert(id as string)).rejects.toThrow('callId');
  });

  test('a closed session takes nothing back', async () => {
    const { session } = setUp();
    const id = idOf(await session.call('refund', { order: 'a' }));
    await session.close();
    await expect(session.revert(id)).rejects.toMatchObject({ code: 'closed' });
  });
});

test('a session takes back calls of its own tools', async () => {
  const { session } = setUp();
  session.register(
    defineTool({
      name: 'note',
      description: 'Notes.',
      parameters: z.object({}),
      handler: () => 'noted',
      revert: () => 'forgotten',
    }),
  );
  const id = idOf(await session.call('note'));
  expect(await session.revert(id)).toMatchObject({ output: 'forgotten' });
});
