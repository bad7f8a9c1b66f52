import { expect, test } from 'vitest';
import { HostToolRegistry, memoryQuotas, type QuotaStore } from '../../src/index.ts';
import { memoryApprovals } from '../../src/surfaces/approvals/index.ts';
import { tool } from './world.ts';

/** A store of the host's own, which may be shared. */
function shared<T extends object>(store: T): T {
  return Object.fromEntries(
    Object.entries(store).map(([name, method]) => [name, (...given: []) => method(...given)]),
  ) as T;
}

const quota = { id: 'refunds', tools: 'refund', max: 5, per: 'day', by: 'principal' } as const;

async function warningsOf(
  store: object,
  quotaStore: QuotaStore | undefined,
  quotas: readonly (typeof quota)[] = [quota],
): Promise<string[]> {
  const warnings: string[] = [];
  const registry = new HostToolRegistry({
    logger: { warn: (_: object, text?: string) => void warnings.push(text ?? ''), error: () => {} },
    quotas,
    rules: [{ effect: 'ask', tools: 'refund' }],
    approvals: { secret: 'x'.repeat(32), store: store as never },
    ...(quotaStore === undefined ? {} : { quotaStore }),
  });
  registry.register(tool(() => 1, { name: 'refund' }));
  const session = registry.createSession({
    sessionId: 's',
    principal: 'ann',
    approvalMode: 'suspend',
  });
  for (let call = 0; call < 3; call++)
    expect((await session.call('refund', {})).error?.code).toBe('approval_pending');
  await registry.close();
  return warnings;
}

test('suspended calls in a shared store, and quotas of one process, are logged once', async () => {
  const expected = [expect.stringContaining('so `refunds` can be exceeded')];
  expect(await warningsOf(shared(memoryApprovals()), undefined)).toEqual(expected);
  expect(await warningsOf(shared(memoryApprovals()), memoryQuotas())).toEqual(expected);
});

test('nothing is logged if both are shared, or neither, or if there is no quota', async () => {
  expect(await warningsOf(shared(memoryApprovals()), shared(memoryQuotas()))).toEqual([]);
  expect(await warningsOf(memoryApprovals(), undefined)).toEqual([]);
  expect(await warningsOf(shared(memoryApprovals()), undefined, [])).toEqual([]);
});
