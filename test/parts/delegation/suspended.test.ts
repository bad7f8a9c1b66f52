/** Calls of sub-agents that wait for a person, in one process and over several. */
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import type { Store } from '../../../src/extend.ts';
import {
  defineTool,
  HostToolRegistry,
  memoryStore,
  type RegistryOptions,
  type SuspendedApproval,
  type ToolResult,
  type ToolSession,
} from '../../../src/index.ts';

type Record = Omit<SuspendedApproval, 'token'>;

let now = Date.UTC(2026, 0, 1);
const storeNow = () => memoryStore({ now: () => now });

/** A process: it makes the chain of a call again as its host says. */
function processOf(
  store: Store,
  make?: (registry: HostToolRegistry, record: Record) => ToolSession,
  more: RegistryOptions = {},
) {
  const ran: string[] = [];
  const records: Record[] = [];
  const registry: HostToolRegistry = new HostToolRegistry({
    now: () => now,
    approvals: {
      secret: 'x'.repeat(32),
      store,
      ...(make && {
        session: (record: Record) => {
          records.push(record);
          return make(registry, record);
        },
      }),
    },
    rules: [{ id: 'asks', effect: 'ask', tools: 'write' }],
    ...more,
  });
  registry.register(
    defineTool({
      name: 'write',
      description: 'Writes.',
      parameters: z.object({ text: z.string() }),
      handler: ({ text }) => {
        ran.push(text);
        return text;
      },
    }),
  );
  return { registry, ran, records };
}

const open = (registry: HostToolRegistry, sessionId = 'chat') =>
  registry.createSession({
    sessionId,
    principal: 'ann',
    labels: { email: 'ann@example.com' },
    approvalMode: 'suspend',
  });

/** As in docs/delegation.md. */
const again = (registry: HostToolRegistry, record: Record): ToolSession => {
  const { sessionId, rootSessionId = sessionId, actor } = record;
  const chain = actor?.chain ?? [];
  return chain.reduce((outer, link) => outer.delegate(link), open(registry, rootSessionId));
};

async function suspended(registry: HostToolRegistry, text = 'a') {
  const chat = open(registry);
  const inner = chat.delegate({ agent: 'planner' }).delegate({ agent: 'writer' });
  const waiting = await inner.call('write', { text });
  expect(waiting.error?.code).toBe('approval_pending');
  const [question] = await registry.approvals.pending();
  return { chat, inner, id: question?.id ?? '', question };
}

const allow = { decision: 'allow_once', by: 'bob' } as const;
const reasonOf = ({ error }: ToolResult) => error?.reason ?? error?.code;

describe('in one process', () => {
  test('the session of the sub-agent takes the answer, and the call runs once', async () => {
    const { registry, ran } = processOf(storeNow());
    const { id, question } = await suspended(registry);
    expect(question?.actor?.chain.map(({ agent }) => agent)).toEqual(['planner', 'writer']);
    expect((await registry.approvals.answer(id, allow)).output).toBe('a');
    expect(reasonOf(await registry.approvals.answer(id, allow))).toBe('token_used');
    expect(ran).toEqual(['a']);
  });

  test('an agent whose outer session has ended meanwhile runs nothing', async () => {
    const { registry, ran } = processOf(storeNow());
    const { chat, id } = await suspended(registry);
    await chat.close();
    expect(reasonOf(await registry.approvals.answer(id, allow))).toBe('session_unavailable');
    expect(ran).toEqual([]);
    expect(await registry.approvals.pending()).toHaveLength(1);
  });

  test('a session of the same id that acts for no other cannot take the token', async () => {
    const { registry, ran } = processOf(storeNow());
    const chat = open(registry);
    const waiting = await chat
      .delegate({ agent: 'a', sessionId: 'x' })
      .call('write', { text: 'a' });
    const token = 'approval' in waiting ? (waiting.approval?.token ?? '') : '';
    const alone = open(registry, 'x');
    expect(reasonOf(await alone.approvals.resume(token, allow))).toBe('token_foreign');
    const other = chat.delegate({ agent: 'b', sessionId: 'x' });
    expect(reasonOf(await other.approvals.resume(token, allow))).toBe('token_foreign');
    const same = chat.delegate({ agent: 'a', sessionId: 'x' });
    expect((await same.approvals.resume(token, allow)).output).toBe('a');
    expect(ran).toEqual(['a']);
  });
});

describe('in another process', () => {
  test('the host makes the chain again from the record', async () => {
    const store = storeNow();
    const first = processOf(store);
    const { id } = await suspended(first.registry);
    await first.registry.close();
    const { registry, ran, records } = processOf(store, again);
    const result = await registry.approvals.answer(id, allow);
    expect([result.output, result.metadata.attempt, ran]).toEqual(['a', 2, ['a']]);
    expect(records[0]).toMatchObject({
      sessionId: 'chat/planner/1/writer/1',
      rootSessionId: 'chat',
      principal: 'ann',
      actor: {
        principal: 'ann',
        chain: [{ agent: 'planner' }, { agent: 'writer' }],
        labels: { email: 'ann@example.com' },
      },
    });
    expect(reasonOf(await registry.approvals.answer(id, allow))).toBe('token_used');
  });

  test.each([
    ['reject_once', 'approval_denied'],
    ['reject_always', 'approval_denied'],
  ] as const)('%s runs nothing', async (decision, code) => {
    const store = storeNow();
    const { id } = await suspended(processOf(store).registry);
    const { registry, ran } = processOf(store, again);
    const result = await registry.approvals.answer(id, { decision, by: 'bob' });
    expect([result.error?.code, ran]).toEqual([code, []]);
  });

  test('allow_always and an edit count for the agent that asked', async () => {
    const store = storeNow();
    const { id } = await suspended(processOf(store).registry);
    const { registry, ran } = processOf(store, again);
    const answer = { decision: 'allow_always', by: 'bob', input: { text: 'b' } } as const;
    expect((await registry.approvals.answer(id, answer)).output).toBe('b');
    expect(ran).toEqual(['b']);
  });

  test('an expired question runs nothing', async () => {
    const store = storeNow();
    const { id } = await suspended(processOf(store).registry);
    now += 3_600_001;
    const { registry, ran } = processOf(store, again);
    const result = await registry.approvals.answer(id, allow);
    expect([result.success, ran]).toEqual([false, []]);
  });

  test('the call is judged again in both sessions', async () => {
    for (const [tools, agent] of [
      ['write', 'writer'],
      ['write', 'planner'],
    ] as const) {
      const store = storeNow();
      const { id } = await suspended(processOf(store).registry);
      const rules = [
        { effect: 'ask', tools: 'write' } as const,
        { effect: 'deny', tools, actor: { agent }, reason: 'since_then' } as const,
      ];
      const { registry, ran } = processOf(store, again, { rules });
      expect(reasonOf(await registry.approvals.answer(id, allow))).toBe('since_then');
      expect(ran).toEqual([]);
    }
  });

  test.each<[string, (registry: HostToolRegistry, record: Record) => ToolSession]>([
    ['no chain', (registry, { sessionId }) => open(registry, sessionId)],
    ['only its root', (registry, { rootSessionId = '' }) => open(registry, rootSessionId)],
    [
      'another agent of that id',
      (registry, { sessionId }) =>
        open(registry).delegate({ agent: 'planner' }).delegate({ agent: 'other', sessionId }),
    ],
    [
      'one agent less',
      (registry, { sessionId }) => open(registry).delegate({ agent: 'writer', sessionId }),
    ],
    ['another root', (registry, record) => again(registry, { ...record, rootSessionId: 'other' })],
  ])('a host that makes %s answers nothing', async (_, make) => {
    const store = storeNow();
    const { id } = await suspended(processOf(store).registry);
    const { registry, ran } = processOf(store, make);
    expect(reasonOf(await registry.approvals.answer(id, allow))).toBe('session_unavailable');
    expect(ran).toEqual([]);
    const { registry: right } = processOf(store, again);
    expect((await right.approvals.answer(id, allow)).output).toBe('a');
  });
});
