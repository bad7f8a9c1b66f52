/** Sessions whose calls wait for a person, and that their host no longer holds. */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test, vi } from 'vitest';
import { z } from 'zod';
import { registryStateOf } from '../../../src/core/registry/state-of.ts';
import { stateOf } from '../../../src/core/session/session.ts';
import { HostToolRegistry as CoreRegistry } from '../../../src/core.ts';
import { defineTool, HostToolRegistry } from '../../../src/index.ts';
import { discovery } from '../../../src/parts/discovery/part.ts';
import { durableOf } from '../../../src/parts/durable-approvals/durable-state.ts';
import { durableApprovals } from '../../../src/parts/durable-approvals/part.ts';
import { jsonSchemas } from '../../../src/parts/json-schema/part.ts';
import { mockTool } from '../../../src/surfaces/testing/index.ts';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

/** Whether the session can be found, once all that can be collected was. */
async function isKept(registry: HostToolRegistry): Promise<boolean> {
  const { suspending } = durableOf(registryStateOf(registry));
  // What a turn of the loop still holds is gone in the next.
  for (let turn = 0; turn < 10; turn++) {
    await new Promise((resolve) => setImmediate(resolve));
    collect();
  }
  return suspending.find('chat', 'ann') !== undefined;
}

const clock = { now: 1_000 };
const yes = { decision: 'allow_once', by: 'bob' } as const;

function shop(approvals: object = {}): HostToolRegistry {
  const registry = new HostToolRegistry({
    now: () => clock.now,
    rules: [{ effect: 'ask', tools: 'refund' }],
    approvals: { secret: 'a secret of at least 32 bytes, for this test', ...approvals },
  });
  registry.register(
    defineTool({
      name: 'refund',
      description: 'Pays an order back.',
      parameters: z.object({ order: z.string() }),
      handler: ({ order }) => `paid for ${order}`,
    }),
  );
  return registry;
}

/** Suspends calls in a session that nothing else refers to. */
async function suspend(registry: HostToolRegistry, ...orders: readonly string[]): Promise<void> {
  const session = registry.createSession({
    sessionId: 'chat',
    principal: 'ann',
    approvalMode: 'suspend',
  });
  for (const order of orders) await session.call('refund', { order });
}

test('a call can be answered although its host has dropped the session', async () => {
  const registry = shop();
  await suspend(registry, 'A-17', 'A-18');
  expect(await isKept(registry)).toBe(true);
  const [first, second] = await registry.approvals.pending();
  expect((await registry.approvals.answer(first?.id ?? '', yes)).output).toMatch(/^paid for A-1/);
  expect(await isKept(registry)).toBe(true);
  const no = { decision: 'reject_once', by: 'bob' } as const;
  const rejected = await registry.approvals.answer(second?.id ?? '', no);
  expect(rejected.error?.code).toBe('approval_denied');
  // Nothing waits any more, so the session may go.
  expect(await isKept(registry)).toBe(false);
});

test('a session goes once its calls can no longer be answered', async () => {
  const registry = shop({ ttlMs: 60_000 });
  await suspend(registry, 'A-17');
  clock.now += 60_001;
  expect(await isKept(registry)).toBe(true);
  // The next call that is suspended notices.
  const other = registry.createSession({
    sessionId: 'other',
    principal: 'eve',
    approvalMode: 'suspend',
  });
  await other.call('refund', { order: 'A-19' });
  expect(await isKept(registry)).toBe(false);
});

test('a session may suspend any number of calls that are never answered', () => {
  const registry = shop();
  const { suspending } = durableOf(registryStateOf(registry));
  const session = stateOf(registry.createSession({ sessionId: 'chat', principal: 'ann' }));
  for (let count = 0; count < 200_000; count++)
    suspending.keep(session, `call ${count}`, ++clock.now + 100);
});

test('a session that the host can make again is not kept', async () => {
  const registry = shop({ session: () => shop().createSession({ sessionId: 'chat' }) });
  await suspend(registry, 'A-17');
  expect(await isKept(registry)).toBe(false);
});

test('a session that is closed is not kept', async () => {
  const registry = shop();
  const closed = await (async () => {
    const session = registry.createSession({
      sessionId: 'chat',
      principal: 'ann',
      approvalMode: 'suspend',
    });
    await session.call('refund', { order: 'A-17' });
    await session.close();
    return new WeakRef(stateOf(session));
  })();
  await isKept(registry);
  expect(closed.deref()).toBe(undefined);
});

test.each([
  ['its overrides', { overrides: { enable: ['unknown'] } }],
  ['another part', { discovery: {} }],
])('a session that does not open because of %s is not found', async (_, wrong) => {
  const registry = new CoreRegistry({
    parts: [durableApprovals(), discovery(), jsonSchemas()],
    default: 'ask',
    approvals: { secret: 'x'.repeat(32) },
  });
  registry.register(mockTool({ name: 'refund' }));
  registry.register(mockTool({ name: 'find_tools' }));
  const options = { sessionId: 'chat', principal: 'ann', approvalMode: 'suspend' } as const;
  const session = registry.createSession(options);
  await session.call('refund', {});
  expect(() => registry.createSession({ ...options, ...wrong })).toThrow();
  const [asked] = await registry.approvals.pending();
  const seen = vi.fn();
  session.events.on('tool:post', seen);
  expect((await registry.approvals.answer(asked?.id ?? '', yes)).success).toBe(true);
  expect(seen).toHaveBeenCalledOnce();
});
