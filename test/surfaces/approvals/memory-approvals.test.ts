/** The public store of suspended calls in memory. */
import { describe, expect, test } from 'vitest';
import { memoryApprovals } from '../../../src/surfaces/approvals/index.ts';
import { approvalStoreConformance } from '../../../src/surfaces/testing/index.ts';
import { suspending, suspendOne } from '../../core/approval/kit.ts';

describe('memoryApprovals keeps the contract', () => {
  for (const rule of approvalStoreConformance(() => memoryApprovals())) test(rule.name, rule.run);
});

test('memoryApprovals goes by the clock that it is given', async () => {
  let now = 0;
  const store = memoryApprovals({ now: () => now });
  const record = { id: 'a', sessionId: 's', principal: 'p', used: 'x', expiresAt: 10 };
  const { used: _, ...open } = record;
  await store.put(open as never);
  expect(await store.page({ limit: 1 })).toHaveLength(1);
  now = 10;
  expect(await store.page({ limit: 1 })).toEqual([]);
});

test('memoryApprovals lets one registry answer what another one has suspended', async () => {
  const store = memoryApprovals();
  const [one, two] = [suspending({ store }), suspending({ store })];
  const { id } = await suspendOne(one);
  const answer = { decision: 'allow_once', by: 'user:bob' } as const;
  expect((await two.registry.approvals.answer(id, answer)).success).toBe(true);
  expect(two.runs).toHaveLength(1);
});

test('memoryApprovals refuses options that it does not know', () => {
  expect(() => memoryApprovals({ nov: Date.now } as never)).toThrow(
    /memoryApprovals: .*`nov`.*`now`/,
  );
});
