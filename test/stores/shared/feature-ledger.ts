/** What holds of the features when processes and servers die, whatever store they are in. */
import { expect, test } from 'vitest';
import type { Store } from '../../../src/extend.ts';
import type { HostToolRegistry } from '../../../src/index.ts';
import { program } from '../../runner/programs.ts';
import { childProcesses } from './child-processes.ts';
import { featureHost, leaseMs, most } from './feature-host.ts';

interface Place {
  readonly store: Store;
  /** The same store for another process, as `openStore` reads it. */
  readonly where: readonly string[];
  /** Ends the server as a crash does, if there is one, and starts it again. */
  readonly crash?: (() => Promise<void>) | undefined;
}

const patience = { interval: 20, timeout: 30_000 } as const;

function workers(where: readonly string[]) {
  const ran: string[] = [];
  const children = childProcesses((line) => ran.push(line));
  return {
    ran,
    start: (mode: string) =>
      children.start(program('test/stores/shared/feature-worker.ts'), mode, ...where),
    more: async (count: number): Promise<void> => {
      const goal = ran.length + count;
      await expect.poll(() => ran.length, patience).toBeGreaterThanOrEqual(goal);
    },
    end: children.end,
  };
}

/** Suspends calls, and answers the ids of their approvals. */
async function suspended(registry: HostToolRegistry, count: number): Promise<readonly string[]> {
  const session = registry.createSession({
    sessionId: 's',
    principal: 'ann',
    approvalMode: 'suspend',
    limits: { maxPendingApprovals: count },
  });
  for (let n = 0; n < count; n++) {
    const { error } = await session.call('ask', { key: `a${n}` });
    expect(error?.code).toBe('approval_pending');
  }
  const waiting = await registry.approvals.list({ limit: 1_000 });
  expect(waiting).toHaveLength(count);
  return waiting.map(({ id }) => id);
}

/** @param open Makes a fresh store. */
export function featureLedger(open: () => Promise<Place>): void {
  test('kills: no key runs twice, and no quota is exceeded', async () => {
    const { store, where, crash } = await open();
    const registry = featureHost(store, () => 'never');
    const session = registry.createSession({ sessionId: 's', principal: 'ann' });
    const explained = async () => (await session.explain('pay', { key: 'x' })).quotas?.[0]?.used;
    const { ran, start, end } = workers(where);
    /** Waits until so many more calls ran, or none can any more. */
    const more = async (count: number): Promise<void> => {
      const goal = ran.length + count;
      const isReached = async () => ran.length >= goal || (await explained()) === most;
      await expect.poll(isReached, patience).toBe(true);
    };
    try {
      const [one, two] = [start('spend'), start('spend')];
      await more(6);
      await one.kill();
      start('spend');
      await crash?.();
      await more(6);
      await two.kill();
      start('spend');
      await more(6);
    } finally {
      await end();
    }
    expect([...ran].sort()).toEqual([...new Set(ran)].sort());
    // A server that was restarted answers before long.
    await expect.poll(explained, patience).toBeGreaterThanOrEqual(ran.length);
    const used = (await explained()) ?? Infinity;
    expect(used).toBeLessThanOrEqual(most);
    await registry.close();
  });

  test('kills: each approval is answered once, and its outcome is known', async () => {
    const { store, where, crash } = await open();
    const registry = featureHost(store, () => 'never');
    const ids = await suspended(registry, 24);
    const { ran, start, end } = workers(where);
    const waiting = () => registry.approvals.list().catch(() => undefined);
    /** Waits until so many more calls ran, or none waits any more. */
    const more = async (count: number): Promise<void> => {
      const goal = ran.length + count;
      const isReached = async () => ran.length >= goal || (await waiting())?.length === 0;
      await expect.poll(isReached, patience).toBe(true);
    };
    try {
      const [one, two] = [start('answer'), start('answer')];
      await more(4);
      await one.kill();
      start('answer');
      await crash?.();
      await more(4);
      await two.kill();
      start('answer');
      await expect.poll(waiting, patience).toEqual([]);
      await expect.poll(() => lost(registry, ids), patience).toBeDefined();
    } finally {
      await end();
    }
    expect([...ran].sort()).toEqual([...new Set(ran)].sort());
    const outcomes = await lost(registry, ids);
    expect(outcomes?.length).toBeLessThanOrEqual(ids.length - ran.length + 2 + (crash ? 16 : 0));
    await registry.close();
  });

  test('the outcome of an answerer that dies within a call is executor_lost', async () => {
    const { store, where } = await open();
    const registry = featureHost(store, () => 'never');
    const [id = ''] = await suspended(registry, 1);
    const session = registry.createSession({ sessionId: 's', principal: 'ann' });
    const { ran, start, more, end } = workers(where);
    try {
      const answering = start('hang');
      await more(1);
      // It lives for longer than its lease, and shows that.
      await new Promise((resolve) => setTimeout(resolve, 1.5 * leaseMs));
      const running = await session.approvals.outcome(id);
      expect([running.status, running.result]).toEqual(['settled', undefined]);
      await answering.kill();
      await expect
        .poll(async () => (await session.approvals.outcome(id)).result?.error, patience)
        .toMatchObject({ code: 'executor_lost', reason: 'answerer_lost' });
      expect(await session.approvals.outcome(id)).toMatchObject({
        status: 'settled',
        decision: 'allow_once',
        by: 'bob',
        result: { metadata: { toolName: 'ask', status: 'failed' } },
      });
    } finally {
      await end();
    }
    expect(ran).toEqual(['a0']);
    expect(await registry.approvals.list()).toEqual([]);
    await registry.close();
  });
}

/** The approvals whose answerers have died; undefined while a call may still run. */
async function lost(
  registry: HostToolRegistry,
  ids: readonly string[],
): Promise<readonly string[] | undefined> {
  const session = registry.createSession({ sessionId: 's', principal: 'ann' });
  try {
    const outcomes = await Promise.all(ids.map((id) => session.approvals.outcome(id)));
    expect(outcomes.map(({ status }) => status)).toEqual(ids.map(() => 'settled'));
    if (outcomes.some(({ result }) => result === undefined)) return undefined;
    return ids.filter((_, at) => outcomes[at]?.result?.error?.code === 'executor_lost');
  } catch {
    // The server is away.
    return undefined;
  } finally {
    await session.close();
  }
}
