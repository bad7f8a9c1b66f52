/**
 * One session's state never shows in another's, also with equal session ids; nor can one session's
 * flood starve another.
 */
import { describe, expect, test, vi } from 'vitest';
import {
  type AnyEvent,
  type ApprovalAnswer,
  defineTool,
  HostToolRegistry,
  type SessionOptions,
  type ToolResult,
  type ToolSession,
} from '../../../src/index.ts';
import { deferred, key, why } from '../approval/kit.ts';

const anything = { type: 'object' } as const;
const tool = (name: string, more: Record<string, unknown> = {}) =>
  defineTool({
    name,
    description: 'Is tried.',
    parameters: anything,
    handler: () => name,
    ...more,
  } as never) as never;

interface Two {
  readonly registry: HostToolRegistry;
  readonly mine: ToolSession;
  readonly theirs: ToolSession;
}

/** Two sessions of one registry that have the same id and the same principal. */
function two(
  options: Partial<SessionOptions> = {},
  tools: readonly never[] = [tool('shared')],
): Two {
  const registry = new HostToolRegistry({ approvals: { secret: key } });
  registry.registerAll(tools);
  const open = (): ToolSession =>
    registry.createSession({ sessionId: 'same', principal: 'ann', ...options });
  return { registry, mine: open(), theirs: open() };
}

describe('between two sessions of one id', () => {
  test('tools of a session are its own: in lists, calls, batches and suggestions', async () => {
    const { mine, theirs } = two();
    mine.register(tool('secret_helper'));
    expect(mine.effectiveTools().names).toEqual(['shared', 'secret_helper']);
    expect(theirs.effectiveTools().names).toEqual(['shared']);
    expect(theirs.tools().map(({ name }) => name)).toEqual(['shared']);
    expect(theirs.tool('secret_helper')).toBeUndefined();
    for (const name of ['secret_helper', 'secret_helpr']) {
      const result = await theirs.call(name, {});
      expect(why(result)?.[0]).toBe('tool_not_found');
      if (name === 'secret_helpr')
        expect(JSON.stringify(result.error)).not.toContain('secret_helper');
    }
    expect(JSON.stringify(await theirs.explain('secret_helpr'))).not.toContain('secret_helper');
    const { results } = await theirs.executeBatch([
      { id: 'a', name: 'secret_helper', arguments: {} },
    ]);
    expect(results.map(({ result }) => why(result)?.[0])).toEqual(['tool_not_found']);
    // And the other way round, where it belongs.
    expect(JSON.stringify((await mine.call('secret_helpr', {})).error)).toContain('secret_helper');
  });

  test('each may have a tool of the same name, and calls its own', async () => {
    const { mine, theirs } = two();
    mine.register(tool('helper', { handler: () => 'mine' }));
    theirs.register(tool('helper', { handler: () => 'theirs' }));
    expect((await mine.call('helper', {})).output).toBe('mine');
    expect((await theirs.call('helper', {})).output).toBe('theirs');
  });

  test('facts, overrides and profiles are its own', async () => {
    const { registry, mine, theirs } = two({}, [
      tool('gated', { requires: [{ fact: 'ready', equals: true }] }),
      tool('plain'),
    ]);
    registry.defineProfile({ id: 'narrow', tools: ['gated'] });
    mine.setFacts({ ready: true });
    expect(mine.effectiveTools().names).toEqual(['gated', 'plain']);
    expect(theirs.effectiveTools().names).toEqual(['plain']);
    expect(why(await theirs.call('gated', {}))).toEqual(['tool_not_available', 'fact_unmet']);
    mine.setProfile('narrow');
    mine.setOverrides({ disable: ['gated'] });
    expect(theirs.effectiveTools().names).toEqual(['plain']);
    expect(await theirs.call('plain', {})).toMatchObject({ success: true });
  });

  test('rules, policies and hooks are its own', async () => {
    const registry = new HostToolRegistry();
    registry.register(tool('shared'));
    registry.createSession({
      sessionId: 'same',
      rules: [{ effect: 'deny' }],
      policies: [{ id: 'no', check: () => ({ effect: 'deny', reason: 'no' }) as never }],
      hooks: [{ before: () => ({ action: 'deny', reason: 'no' }) }],
    });
    const theirs = registry.createSession({ sessionId: 'same' });
    expect(await theirs.call('shared', {})).toMatchObject({ success: true });
  });

  test('call ids are its own: one in flight here is free there', async () => {
    const gate = deferred();
    const { mine, theirs } = two({}, [tool('slow', { handler: () => gate.promise })]);
    const calls = [
      mine.call('slow', {}, { callId: 'a' }),
      theirs.call('slow', {}, { callId: 'a' }),
    ];
    expect(why(await mine.call('slow', {}, { callId: 'a' }))?.[0]).toBe('duplicate_call_id');
    gate.resolve(1);
    for (const result of await Promise.all(calls)) expect(result.success).toBe(true);
  });

  test('events and metrics are its own; the registry hears both', async () => {
    const { registry, mine, theirs } = two();
    const [heardMine, heardTheirs, heardAll]: [AnyEvent[], AnyEvent[], AnyEvent[]] = [[], [], []];
    mine.events.on('*', (event) => void heardMine.push(event));
    theirs.events.on('*', (event) => void heardTheirs.push(event));
    registry.events.on('*', (event) => void heardAll.push(event));
    await mine.call('shared', {});
    await mine.call('nothing', {});
    expect(heardMine).toHaveLength(5);
    expect(heardTheirs).toEqual([]);
    expect(heardAll).toHaveLength(5);
    mine.register(tool('own'));
    expect(heardTheirs).toEqual([]);
    expect(mine.metrics()).toMatchObject({ calls: 2, succeeded: 1, rejected: 1 });
    expect(theirs.metrics()).toMatchObject({ calls: 0, byTool: {}, byReason: {} });
  });

  test('grants and waiting questions are its own', async () => {
    const questions: ((answer: ApprovalAnswer) => void)[] = [];
    const { mine, theirs } = two(
      { approver: () => new Promise((resolve) => questions.push(resolve)) },
      [tool('asks', { requiresApproval: true })],
    );
    const granted = mine.call('asks', {});
    const [question] = await mine.approvals.pending();
    expect(await theirs.approvals.pending()).toEqual([]);
    expect(theirs.approvals.answer(question?.id as string, 'allow_once')).toBe(false);
    questions[0]?.({ decision: 'allow_always', grant: { match: 'tool' } });
    await granted;
    expect(await mine.call('asks', {})).toMatchObject({ success: true });
    const [grant] = mine.approvals.grants();
    expect(theirs.approvals.grants()).toEqual([]);
    expect(theirs.approvals.revoke(grant?.id as string)).toBe(false);
    const asked = theirs.call('asks', {});
    expect(await theirs.approvals.pending()).toHaveLength(1);
    questions[1]?.('reject_once');
    expect(why(await asked)).toEqual(['approval_denied', 'rejected']);
  });

  test('suspended calls belong to the id and principal, and are hidden from others', async () => {
    const { registry, mine, theirs } = two({ approvalMode: 'suspend' }, [
      tool('asks', { requiresApproval: true }),
    ]);
    const bob = registry.createSession({
      sessionId: 'same',
      principal: 'bob',
      approvalMode: 'suspend',
    });
    const other = registry.createSession({
      sessionId: 'other',
      principal: 'ann',
      approvalMode: 'suspend',
    });
    await mine.call('asks', {});
    expect(await theirs.approvals.pending()).toHaveLength(1);
    expect(await bob.approvals.pending()).toEqual([]);
    expect(await other.approvals.pending()).toEqual([]);
  });

  test('offloaded outputs belong to the id and principal, outcomes to one of the two', async () => {
    let runs = 0;
    const registry = new HostToolRegistry({ offload: {}, idempotency: {} });
    registry.register(
      tool('writes', {
        maxOutputChars: 400,
        outputStrategy: 'offload',
        handler: () => `run ${++runs}\n`.repeat(100),
      }),
    );
    const open = (sessionId: string, principal?: string): ToolSession =>
      registry.createSession({ sessionId, principal });
    const options = { idempotencyKey: 'k' };
    const first = await open('same', 'ann').call('writes', {}, options);
    const handle = first.metadata.truncated?.handle;
    const read = (session: ToolSession) => session.call('read_tool_output', { handle });
    expect((await read(open('same', 'ann'))).success).toBe(true);
    for (const [id, who] of [['same', 'bob'], ['other', 'ann'], ['same']] as [string, string?][])
      expect((await read(open(id, who))).error?.reason).toBe('unknown_handle');
    const isReplayed = async (sessionId: string, principal?: string) =>
      (await open(sessionId, principal).call('writes', {}, options)).metadata.replayed === true;
    expect(await isReplayed('other', 'ann')).toBe(true);
    expect(await isReplayed('same')).toBe(false);
    expect(await isReplayed('same')).toBe(true);
    expect(await isReplayed('other')).toBe(false);
  });

  test('session-scoped handlers are separate, and closing disposes only its own', async () => {
    const disposed: string[] = [];
    let made = 0;
    const { mine, theirs } = two({}, [
      tool('counter', {
        handler: undefined,
        create: () => {
          const id = ++made;
          let count = 0;
          return { handler: () => [id, ++count], dispose: () => void disposed.push(`${id}`) };
        },
      }),
    ]);
    expect([
      (await mine.call('counter', {})).output,
      (await mine.call('counter', {})).output,
      (await theirs.call('counter', {})).output,
    ]).toEqual([
      [1, 1],
      [1, 2],
      [2, 1],
    ]);
    await mine.close();
    expect(disposed).toEqual(['1']);
    expect((await theirs.call('counter', {})).output).toEqual([2, 2]);
  });

  test('closing one, or aborting its calls, ends nothing of the other', async () => {
    const gate = deferred();
    const { mine, theirs } = two({}, [tool('slow', { handler: () => gate.promise })]);
    const ended = mine.call('slow', {}, { callId: 'a' });
    const going = theirs.call('slow', {}, { callId: 'a' });
    await mine.close();
    expect(why(await ended)?.[0]).toBe('session_closed');
    gate.resolve(1);
    expect(await going).toMatchObject({ success: true });
  });

  test('the loop guard and the calls of a minute count each alone', async () => {
    const { mine, theirs } = two({ limits: { loopGuard: 2, callsPerMinute: 3 } });
    for (let n = 0; n < 2; n++) await mine.call('shared', {});
    expect(why(await mine.call('shared', {}))?.[0]).toBe('loop_detected');
    expect(why(await mine.call('shared', { n: 1 }))).toEqual(['rate_limited', 'calls_per_minute']);
    for (let n = 0; n < 2; n++)
      expect(await theirs.call('shared', {})).toMatchObject({ success: true });
  });

  test('what a handler does to its context and input shows in no other call', async () => {
    const seen: unknown[] = [];
    const { mine, theirs } = two({ metadata: { tenant: 'x' }, environment: { HOME: '/' } }, [
      tool('spoils', {
        handler: (input: Record<string, unknown>, context: Record<string, unknown>) => {
          seen.push(JSON.stringify([input, context.metadata, context.environment]));
          for (const target of [input, context, context.metadata, context.environment] as Record<
            string,
            unknown
          >[]) {
            try {
              target.spoilt = true;
            } catch {
              // Frozen.
            }
          }
          return 1;
        },
      }),
    ]);
    await mine.call('spoils', { a: 1 });
    await mine.call('spoils', { a: 1 });
    await theirs.call('spoils', { a: 1 });
    expect(new Set(seen).size).toBe(1);
  });
});

describe('a flood of one session', () => {
  const settle = (calls: readonly Promise<ToolResult>[]): Promise<ToolResult[]> =>
    Promise.all(calls);

  test('of calls for a tool with few slots lets another session in at the next turn', async () => {
    const order: string[] = [];
    const gates: (() => void)[] = [];
    const registry = new HostToolRegistry();
    registry.register(
      tool('scarce', {
        maxConcurrency: 1,
        handler: (_input: unknown, { sessionId }: { sessionId: string }) => {
          order.push(sessionId);
          return new Promise((resolve) => gates.push(() => resolve(1)));
        },
      }),
    );
    const flood = registry.createSession({ sessionId: 'flood' });
    const calm = registry.createSession({ sessionId: 'calm' });
    const calls = Array.from({ length: 500 }, () => flood.call('scarce', {}));
    calls.push(calm.call('scarce', {}));
    for (let n = 0; n < 3; n++) {
      await vi.waitFor(() => expect(gates.length).toBe(n + 1));
      gates[n]?.();
    }
    await vi.waitFor(() => expect(order).toContain('calm'));
    expect(order.indexOf('calm')).toBeLessThanOrEqual(2);
    await registry.close();
    await settle(calls);
  });

  test('fills only its own queue', async () => {
    const registry = new HostToolRegistry();
    registry.register(tool('scarce', { maxConcurrency: 1, handler: () => new Promise(() => {}) }));
    const flood = registry.createSession({ sessionId: 'same', limits: { maxQueuedCalls: 10 } });
    const calm = registry.createSession({ sessionId: 'same', limits: { maxQueuedCalls: 10 } });
    const calls = Array.from({ length: 50 }, () => flood.call('scarce', {}));
    const late = calm.call('scarce', {});
    await registry.close();
    const reasons = (await settle(calls)).map((result) => why(result)?.[1] ?? why(result)?.[0]);
    expect(reasons.filter((reason) => reason === 'queue_full')).toHaveLength(39);
    expect(why(await late)?.[0]).toBe('session_closed');
  });

  test('of questions fills only its own desk', async () => {
    const { registry, mine, theirs } = two({ approver: () => new Promise(() => {}) }, [
      tool('asks', { requiresApproval: true }),
    ]);
    const calls = Array.from({ length: 100 }, () => mine.call('asks', {}));
    const asked = theirs.call('asks', {});
    expect(await theirs.approvals.pending()).toHaveLength(1);
    await registry.close();
    expect(
      (await settle(calls)).filter((result) => why(result)?.[1] === 'too_many_approvals'),
    ).toHaveLength(80);
    expect(why(await asked)?.[0]).toBe('session_closed');
  });

  test.each<[what: string, options: Partial<SessionOptions>]>([
    ['another session id', { sessionId: 'other', principal: 'ann' }],
    ['the same session id for another principal', { sessionId: 'same', principal: 'bob' }],
  ])('of suspended calls leaves room for %s', async (_, options) => {
    const { registry, mine } = two({ approvalMode: 'suspend' }, [
      tool('asks', { requiresApproval: true }),
    ]);
    const calm = registry.createSession({ approvalMode: 'suspend', ...options } as SessionOptions);
    const results = await settle(Array.from({ length: 100 }, () => mine.call('asks', {})));
    expect(results.filter((result) => why(result)?.[0] === 'approval_pending')).toHaveLength(20);
    expect(why(await calm.call('asks', {}))?.[0]).toBe('approval_pending');
    expect(await calm.approvals.pending()).toHaveLength(1);
  });

  test('of events to a slow listener of its own delays no event of another', async () => {
    const { mine, theirs } = two();
    const heard: string[] = [];
    mine.events.on('*', () => {
      throw new Error('slow and broken');
    });
    theirs.events.on('*', ({ type }) => void heard.push(type));
    await Promise.all([
      ...Array.from({ length: 100 }, () => mine.call('shared', {})),
      theirs.call('shared', {}),
    ]);
    expect(heard).toEqual(['tool:pre', 'policy:check', 'tool:post']);
  });
});
