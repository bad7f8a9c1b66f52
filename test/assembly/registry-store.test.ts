/** The option `store` of a registry: what is kept in it, and what is refused. */
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { HostToolRegistry as CoreClass } from '../../src/core.ts';
import type { Store } from '../../src/extend.ts';
import {
  defineTool,
  HostToolRegistry,
  MisuseError,
  memoryQuotas,
  memoryStore,
} from '../../src/index.ts';
import { durableApprovals } from '../../src/parts/durable-approvals/part.ts';
import { explain } from '../../src/parts/explain/part.ts';
import { idempotency } from '../../src/parts/idempotency/part.ts';
import { offload } from '../../src/parts/offload/part.ts';
import { quotas } from '../../src/parts/quotas/part.ts';

const secret = 's'.repeat(32);

/** A store that notes the spaces that it was asked for. */
function noted(): { readonly store: Store; readonly spaces: Set<string> } {
  const inner = memoryStore();
  const spaces = new Set<string>();
  const store: Store = {
    ...inner,
    apply: (space, operations) => {
      if ('shared' in space) spaces.add(space.shared.split(' ')[0] as string);
      return inner.apply(space, operations);
    },
  };
  return { store, spaces };
}

const counted = [{ id: 'q', max: 2, per: 'day', by: 'principal' }] as const;

function toolsOf(registry: HostToolRegistry): HostToolRegistry {
  let runs = 0;
  registry.registerAll([
    defineTool({
      name: 'count',
      description: 'Counts its runs.',
      parameters: z.object({}),
      handler: () => ++runs,
    }),
    defineTool({
      name: 'long',
      description: 'Returns a long text.',
      parameters: z.object({}),
      maxOutputChars: 1_000,
      outputStrategy: 'offload',
      handler: () => 'x'.repeat(5_000),
    }),
  ]);
  return registry;
}

describe('a registry with a store keeps there', () => {
  test('what quotas have counted, across registries', async () => {
    const { store, spaces } = noted();
    const call = (sessionId: string) =>
      toolsOf(new HostToolRegistry({ store, quotas: counted }))
        .createSession({ sessionId, principal: 'ann' })
        .call('count', {});
    expect((await call('a')).success).toBe(true);
    expect((await call('b')).success).toBe(true);
    expect(await call('c')).toMatchObject({ error: { reason: 'quota_exceeded' } });
    expect([...spaces]).toEqual(['calls']);
  });

  test('the outcomes of idempotency keys, if they are switched on', async () => {
    const { store } = noted();
    const call = (registry: HostToolRegistry) =>
      registry
        .createSession({ sessionId: 's', principal: 'ann' })
        .call('count', {}, { idempotencyKey: 'k' });
    const one = toolsOf(new HostToolRegistry({ store, idempotency: {} }));
    const other = toolsOf(new HostToolRegistry({ store, idempotency: {} }));
    expect(await call(one)).toMatchObject({ output: 1 });
    expect(await call(other)).toMatchObject({ output: 1, metadata: { replayed: true } });
  });

  test('offloaded outputs, if they are switched on', async () => {
    const { store, spaces } = noted();
    const registry = toolsOf(new HostToolRegistry({ store, offload: {} }));
    const session = registry.createSession({ sessionId: 's', principal: 'ann' });
    const { metadata } = await session.call('long', {});
    const handle = metadata.truncated?.handle;
    expect(spaces).toContain('outputs');
    expect(await session.call('read_tool_output', { handle })).toMatchObject({ success: true });
  });

  test('suspended calls, which another registry can answer', async () => {
    const store = memoryStore();
    const make = (): HostToolRegistry => {
      const registry = toolsOf(
        new HostToolRegistry({
          store,
          approvals: {
            secret,
            session: ({ sessionId, principal }) => open(registry, sessionId, principal),
          },
          rules: [{ effect: 'ask', tools: 'count' }],
        }),
      );
      return registry;
    };
    const open = (registry: HostToolRegistry, sessionId: string, principal: string) =>
      registry.createSession({ sessionId, principal, approvalMode: 'suspend' });
    const session = open(make(), 's', 'ann');
    await session.call('count', {});
    const [own] = await session.approvals.pending();
    const other = make();
    const [question] = await other.approvals.list();
    expect(question?.id).toBe(own?.id ?? 'none');
    expect(await session.approvals.outcome(question?.id as string)).toEqual({ status: 'pending' });
    const answer = { decision: 'allow_once', by: 'bob' } as const;
    expect(await other.approvals.answer(question?.id as string, answer)).toMatchObject({
      output: 1,
    });
    expect(await session.approvals.outcome(question?.id as string)).toMatchObject({
      status: 'settled',
      by: 'bob',
      result: { output: 1 },
    });
    expect(await other.approvals.pending()).toEqual([]);
    expect(await make().approvals.answer(question?.id as string, answer)).toMatchObject({
      error: { reason: 'token_used' },
    });
  });
});

test('the own store of a feature beats that of the registry', async () => {
  const { store, spaces } = noted();
  const registry = toolsOf(
    new HostToolRegistry({ store, quotas: counted, quotaStore: memoryQuotas(), offload: {} }),
  );
  await registry.createSession({ sessionId: 's', principal: 'ann' }).call('count', {});
  expect([...spaces]).toEqual([]);
});

test('the own store of a feature may be a store, too', async () => {
  const { store, spaces } = noted();
  const registry = toolsOf(
    new HostToolRegistry({
      quotas: counted,
      quotaStore: store,
      idempotency: { store },
      offload: { store },
      approvals: { secret, store, maxBytesPerPrincipal: 10_000 },
    }),
  );
  const session = registry.createSession({ sessionId: 's', principal: 'ann' });
  await session.call('count', {}, { idempotencyKey: 'k' });
  await session.call('long', {});
  await registry.approvals.list();
  expect([...spaces].sort()).toEqual(['approvals', 'calls', 'outputs']);
});

function misuse(run: () => unknown): MisuseError {
  try {
    run();
  } catch (error) {
    expect(error).toBeInstanceOf(MisuseError);
    return error as MisuseError;
  }
  throw new Error('Nothing was thrown.');
}

describe('refused is', () => {
  test.each([
    ['store', { store: {} }],
    ['store', { store: { ...memoryStore(), kind: undefined } }],
    ['quotaStore', { quotaStore: { apply: () => {} } }],
    ['idempotency.store', { idempotency: { store: 5 } }],
    ['offload.store', { offload: { store: {} } }],
    ['approvals.store', { approvals: { secret, store: {} } }],
  ])('what is no store: %s', (option, options) => {
    const { code, message } = misuse(() => new HostToolRegistry(options as never));
    expect(code).toBe('invalid_option');
    expect(message).toContain(`expected \`${option}\` to be a`);
    expect(message).toMatch(/a store,? such as memoryStore\(\) of host-tools/);
  });

  const lacking = (...lacks: Store.Operation['op'][]): Store => ({ ...memoryStore(), lacks });

  test.each([
    ['idempotency keys', 'touch', { store: lacking('touch'), idempotency: {} }],
    ['idempotency keys', 'touch', { idempotency: { store: lacking('touch') } }],
    ['offloaded outputs', 'get', { store: lacking('get'), offload: {} }],
    ['approvals', 'list', { store: lacking('list'), approvals: { secret } }],
    ['quotas', 'add', { store: lacking('add'), quotas: counted }],
    ['quotas', 'add', { quotaStore: lacking('add') }],
  ])('a store that lacks what %s need, naming one that can', (what, op, options) => {
    const { code, message } = misuse(() => new HostToolRegistry(options as never));
    expect(code).toBe('invalid_option');
    expect(message).toContain(`a store with the operation \`${op}\`, which ${what} need`);
    expect(message).toContain('postgresStore');
  });

  test('a quota that is added later to a store that cannot count', () => {
    const registry = new HostToolRegistry({ store: lacking('add'), approvals: { secret } });
    for (const add of [
      () => registry.addQuotas(counted),
      () => registry.createSession({ sessionId: 's', quotas: counted }),
      () => registry.defineProfile({ id: 'p', tools: [], quotas: counted }),
    ])
      expect(misuse(add).message).toContain('the operation `add`, which quotas need');
  });

  test('a session that runs programs over a store that cannot keep their journals', () => {
    const registry = new HostToolRegistry({ store: lacking('touch'), approvals: { secret } });
    registry.createSession({ sessionId: 's' });
    const run = (): unknown => registry.createSession({ sessionId: 'p', code: {} });
    const { code, message } = misuse(run);
    expect(code).toBe('invalid_option');
    expect(message).toContain('the operation `touch`, which the journals of programs need');
  });

  test('a store that nothing uses', () => {
    const store = memoryStore();
    expect(misuse(() => new CoreClass({ store })).code).toBe('missing_part');
    expect(misuse(() => new CoreClass({ store, parts: [explain()] })).code).toBe('missing_part');
    for (const part of [idempotency(), offload(), durableApprovals()])
      expect(misuse(() => new CoreClass({ store, parts: [part] })).message).toContain(
        'nothing would be kept in `store`',
      );
    const other = { store, quotaStore: memoryQuotas() };
    expect(misuse(() => new CoreClass({ ...other, parts: [quotas()] })).message).toContain(
      'nothing would be kept in `store`',
    );
    // Its sessions may run programs, which keep their journals there.
    expect(new HostToolRegistry(other)).toBeInstanceOf(HostToolRegistry);
    expect(new CoreClass({ store, parts: [quotas()] })).toBeInstanceOf(CoreClass);
  });
});
