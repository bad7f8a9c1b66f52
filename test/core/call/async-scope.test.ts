/** The host's code for one call never runs in the async context of another call. */

import { AsyncLocalStorage } from 'node:async_hooks';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { stopOf } from '../../../src/core/call/stop-of.ts';
import { observeCalls } from '../../../src/core/registry/observe-calls.ts';
import {
  type ApprovalRequest,
  HostToolRegistry,
  type RegistryOptions,
  type SessionOptions,
  type ToolContext,
  type ToolSession,
} from '../../../src/index.ts';
import { keyStoreOf, memoryKeyPort } from '../../stores/shared/ports.ts';
import { define } from './define.ts';
import { turns } from './world.ts';

const tenant = new AsyncLocalStorage<string>();
const names = ['acme', 'globex', 'initech'];

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** Notes that code ran for a tenant, and in whose context it did. */
type Note = (what: string, of: string) => void;

interface World {
  readonly registry: HostToolRegistry;
  readonly note: Note;
  readonly seen: readonly (readonly [what: string, of: string, where: string | undefined])[];
  /** A session of each tenant, which is also its id. */
  readonly sessions: ReadonlyMap<string, ToolSession>;
}

function world(
  tool: (note: Note) => Record<string, unknown>,
  registryOptions: (note: Note) => RegistryOptions = () => ({}),
  sessionOptions: (note: Note) => Partial<SessionOptions> = () => ({}),
): World {
  const seen: [string, string, string | undefined][] = [];
  const note: Note = (what, of) => void seen.push([what, of, tenant.getStore()]);
  const registry = new HostToolRegistry(registryOptions(note));
  registry.register(define('t', tool(note)));
  const listened = ['tool:error', 'tool:late', 'tool:progress', 'tool:event'] as const;
  for (const type of listened) registry.events.on(type, ({ sessionId }) => note(type, sessionId));
  observeCalls('test', registry, {
    ended: ({ sessionId }: { readonly sessionId: string }) => note('observer', sessionId),
  } as never);
  const sessions = new Map(
    names.map((sessionId) => [
      sessionId,
      registry.createSession({ sessionId, ...sessionOptions(note) }),
    ]),
  );
  return { registry, note, seen, sessions };
}

/** Calls the tool in the session and the context of each tenant. */
function callAll({ sessions }: World, options?: object): Promise<unknown[]> {
  return Promise.all(
    [...sessions].map(([name, session]) => tenant.run(name, () => session.call('t', {}, options))),
  );
}

/** A handler that waits for its signal, and notes where its listener runs. */
const waiting =
  (note: Note) =>
  (_: unknown, { signal, sessionId }: ToolContext) =>
    new Promise((resolve) =>
      signal.addEventListener('abort', () => {
        note('abort', sessionId);
        resolve(undefined);
      }),
    );

/** Everything ran for the right tenant, and `what` ran for each. */
function expectApart({ seen }: World, ...what: readonly string[]): void {
  expect(seen.filter(([, of, where]) => of !== where)).toEqual([]);
  for (const one of what)
    expect(
      seen
        .filter(([name]) => name === one)
        .map(([, of]) => of)
        .toSorted(),
    ).toEqual(names);
}

describe('calls of several tenants', () => {
  test.each([
    ['time out', { timeoutMs: 40 }],
    ['time out without progress', { idleTimeoutMs: 40 }],
    ['time out without progress, and not at the same time', { idleTimeoutMs: 41, timeoutMs: 90 }],
  ])('that %s', async (_, option) => {
    const w = world((note) => ({ ...option, handler: waiting(note) }));
    const calls = callAll(w);
    await vi.advanceTimersByTimeAsync(100);
    await calls;
    await turns();
    expectApart(w, 'abort', 'tool:error', 'observer', 'tool:late');
  });

  test('whose timer another call has set', async () => {
    const w = world((note) => ({ timeoutMs: 40, handler: waiting(note) }));
    tenant.run('someone', () => void w.sessions.get('acme')?.call('t', {}, { timeoutMs: 5 }));
    await vi.advanceTimersByTimeAsync(1);
    const calls = callAll(w);
    await vi.advanceTimersByTimeAsync(100);
    await calls;
    const others = w.seen.filter(([, , where]) => where !== 'someone');
    expectApart({ ...w, seen: others }, 'abort', 'tool:error', 'observer');
  });

  test('that share a signal, which one of them aborts', async () => {
    const w = world((note) => ({ handler: waiting(note) }));
    const controller = new AbortController();
    const calls = callAll(w, { signal: controller.signal });
    await turns();
    tenant.run('acme', () => controller.abort());
    await calls;
    await turns();
    expectApart(w, 'abort', 'tool:error', 'observer');
  });

  test('whose registry one of them closes', async () => {
    const w = world((note) => ({ handler: waiting(note) }));
    const calls = callAll(w);
    await turns();
    await tenant.run('globex', () => w.registry.close());
    await calls;
    await turns();
    expectApart(w, 'abort', 'tool:error', 'observer');
  });

  test('that wait for an answer in vain', async () => {
    const w = world(
      () => ({ requiresApproval: true }),
      () => ({}),
      (note) => ({
        approvalTimeoutMs: 40,
        approver: ({ sessionId }: ApprovalRequest, { signal }) =>
          new Promise(() => signal.addEventListener('abort', () => note('abort', sessionId))),
      }),
    );
    const calls = callAll(w);
    await vi.advanceTimersByTimeAsync(50);
    await calls;
    expectApart(w, 'abort', 'tool:error', 'observer');
  });

  test('that are answered in the request of a person', async () => {
    const w = world(
      (note) => ({
        requiresApproval: true,
        handler: (_: unknown, { sessionId }: ToolContext) => note('handler', sessionId),
      }),
      () => ({}),
      (note) => ({
        approver: ({ sessionId }: ApprovalRequest, { signal }) =>
          new Promise(() => signal.addEventListener('abort', () => note('abort', sessionId))),
      }),
    );
    const calls = callAll(w);
    await turns();
    await tenant.run('the person', async () => {
      for (const session of w.sessions.values())
        for (const { id } of await session.approvals.pending())
          await session.approvals.answer(id, 'allow_once');
    });
    await calls;
    expectApart(w, 'abort', 'handler', 'observer');
  });

  test('that wait for a slot in vain, and for each other', async () => {
    const w = world(
      (note) => ({
        resourceKey: 'r',
        timeoutMs: 60,
        handler: (_: unknown, context: ToolContext) => {
          note('handler', context.sessionId);
          return waiting(note)(_, context);
        },
      }),
      () => ({ locks: 'registry' }),
      () => ({ limits: { queueTimeoutMs: 500 } }),
    );
    const calls = callAll(w);
    await vi.advanceTimersByTimeAsync(300);
    await calls;
    await turns();
    expectApart(w, 'handler', 'abort', 'tool:error', 'observer');
  });

  test('that renew the leases of their idempotency keys', async () => {
    const port = memoryKeyPort();
    const keys = new Map<string, string>();
    const w = world(
      (note) => ({
        timeoutMs: 500,
        handler: waiting(note),
      }),
      (note) => ({
        idempotency: {
          leaseMs: 300,
          store: keyStoreOf({
            ...port,
            claim: (claim) => {
              keys.set(claim.key, tenant.getStore() as string);
              return port.claim(claim);
            },
            renew: (key, holder, times) => {
              note('renew', keys.get(key) as string);
              return port.renew(key, holder, times);
            },
          }),
        },
      }),
    );
    const calls = callAll(w, { idempotencyKey: 'k' });
    await vi.advanceTimersByTimeAsync(600);
    await calls;
    await turns();
    expectApart(w, 'abort', 'observer');
    expect(w.seen.some(([what]) => what === 'renew')).toBe(true);
  });

  test('whose progress comes over a connection that they share', async () => {
    const reports: (() => void)[] = [];
    const w = world(() => ({
      handler: undefined,
      executor: {
        execute: (_: unknown, context: ToolContext) =>
          new Promise((resolve) => {
            const stop = stopOf(context);
            reports.push(() => {
              stop.within(() => {
                context.progress(1);
                context.emit('event');
              });
              resolve('ran');
            });
          }),
      },
    }));
    const calls = callAll(w);
    await turns();
    tenant.run('the connection', () => {
      for (const report of reports) report();
    });
    await calls;
    expectApart(w, 'tool:progress', 'tool:event', 'observer');
  });
});

test('a session that ends with its signal or for want of calls ends where it was created', async () => {
  const ends: unknown[] = [];
  const registry = new HostToolRegistry();
  registry.register(define('t'));
  registry.events.on('session:end', ({ sessionId }) => ends.push([sessionId, tenant.getStore()]));
  const controller = new AbortController();
  tenant.run('acme', () =>
    registry.createSession({ sessionId: 'signal', signal: controller.signal }),
  );
  const idle = tenant.run('acme', () =>
    registry.createSession({ sessionId: 'idle', idleTimeoutMs: 50 }),
  );
  await tenant.run('globex', () => idle.call('t', {}));
  tenant.run('globex', () => controller.abort());
  await vi.advanceTimersByTimeAsync(60);
  expect(ends).toEqual([
    ['signal', 'acme'],
    ['idle', 'acme'],
  ]);
});
