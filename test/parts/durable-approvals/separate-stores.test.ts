import { describe, expect, test } from 'vitest';
import type { Store } from '../../../src/extend.ts';
import {
  HostToolRegistry,
  memoryIdempotency,
  memoryOffload,
  memoryQuotas,
  type RegistryOptions,
} from '../../../src/index.ts';
import { memoryApprovals } from '../../../src/surfaces/approvals/index.ts';
import { tool } from '../../core/call/world.ts';

/** A store that other processes may share. */
function shared(store: Store): Store {
  return { ...store };
}

const quota = { id: 'refunds', tools: 'refund', max: 5, per: 'day', by: 'principal' } as const;

async function warningsOf(
  store: object,
  quotaStore: Store | undefined,
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

/** A registry whose calls are suspended in this store, and what it logs. */
function suspending(store: object, options: RegistryOptions) {
  const warnings: string[] = [];
  const registry: HostToolRegistry = new HostToolRegistry({
    logger: { warn: (_: object, text?: string) => void warnings.push(text ?? ''), error: () => {} },
    rules: [{ effect: 'ask', tools: 'refund' }],
    ...options,
    approvals: {
      secret: 'x'.repeat(32),
      store: store as never,
      session: ({ sessionId, principal }) => registry.createSession({ sessionId, principal }),
    },
  });
  registry.register(
    tool(() => 'x'.repeat(100), {
      name: 'refund',
      outputStrategy: 'offload',
      maxOutputChars: 50,
    }),
  );
  const session = registry.createSession({
    sessionId: 's',
    principal: 'ann',
    approvalMode: 'suspend',
  });
  return { registry, session, warnings };
}

describe('suspended calls in a shared store', () => {
  test.each<[string, RegistryOptions, boolean, RegExp | undefined]>([
    ['keys in memory', { idempotency: {} }, true, /calls with an idempotency key in the memory of/],
    [
      'keys in a given memory',
      { idempotency: { store: memoryIdempotency() } },
      true,
      /Give the registries of all processes one `idempotency\.store`/,
    ],
    ['keys in memory, and a call without one', { idempotency: {} }, false, undefined],
    ['shared keys', { idempotency: { store: shared(memoryIdempotency()) } }, true, undefined],
    ['no option for keys', {}, true, undefined],
    [
      'outputs in memory',
      { offload: {} },
      false,
      /full outputs in the memory of this one: .*refund/,
    ],
    ['shared outputs', { offload: { store: shared(memoryOffload()) } }, false, undefined],
    ['no option for outputs', {}, false, undefined],
  ])('and %s', async (_, options, hasKey, expected) => {
    const { registry, session, warnings } = suspending(shared(memoryApprovals()), options);
    for (let call = 0; call < 2; call++)
      await session.call('refund', {}, hasKey ? { idempotencyKey: `k${call}` } : {});
    expect(warnings).toEqual(expected === undefined ? [] : [expect.stringMatching(expected)]);
    await registry.close();
  });

  test('and all three in memory are logged once each, but not if the calls are in memory too', async () => {
    const options = {
      idempotency: {},
      offload: {},
      quotas: [quota],
    };
    for (const [store, count] of [
      [shared(memoryApprovals()), 3],
      [memoryApprovals(), 0],
    ] as const) {
      const { registry, session, warnings } = suspending(store, options);
      for (let call = 0; call < 2; call++)
        await session.call('refund', {}, { idempotencyKey: `k${call}` });
      expect(warnings).toHaveLength(count);
      await registry.close();
    }
  });

  test('are also logged by a process that only resumes them', async () => {
    const store = shared(memoryApprovals());
    const app = suspending(store, { quotas: [quota], quotaStore: shared(memoryQuotas()) });
    const inbox = suspending(store, {
      quotas: [quota],
      offload: { store: shared(memoryOffload()) },
    });
    await app.session.call('refund', {});
    const [waiting] = await inbox.registry.approvals.pending();
    const answer = { decision: 'allow_once', by: 'bob' } as const;
    expect((await inbox.registry.approvals.answer(waiting!.id, answer)).success).toBe(true);
    expect(app.warnings).toEqual([]);
    expect(inbox.warnings).toEqual([expect.stringContaining('so `refunds` can be exceeded')]);
    await Promise.all([app.registry.close(), inbox.registry.close()]);
  });
});
