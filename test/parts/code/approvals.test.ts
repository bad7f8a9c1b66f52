/** Programs that wait for people: in this process, for days, and across a kill. */
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { HostToolRegistry as Core } from '../../../src/core.ts';
import type { Store } from '../../../src/extend.ts';
import {
  type AnyTool,
  type ApprovalRequest,
  type CodeRunner,
  defineTool,
  type JsonObject,
  memoryStore,
  type PendingApproval,
  type ToolSession,
} from '../../../src/index.ts';
import { codeMode } from '../../../src/parts/code/part.ts';
import { durableApprovals } from '../../../src/parts/durable-approvals/part.ts';
import { key, no, questionOf, suspending, tokenOf, world, yes } from './kit.ts';
import { processOver } from './process.ts';

const two =
  'const first = await tools.read({ id: "a" });\n' +
  'const paid = await Promise.all([tools.pay({ amount: 20 }), tools.pay({ amount: 30 })]);\n' +
  'return [first.id, ...paid]';

const one = 'await tools.read({ id: "a" });\nreturn await tools.pay({ amount: 20 })';

const waiting = async (session: ToolSession): Promise<readonly PendingApproval[]> =>
  [...(await session.approvals.pending())].sort((a, b) => a.callId.localeCompare(b.callId));

describe('with an approver', () => {
  test('the question shows the program and the line', async () => {
    const asked: ApprovalRequest[] = [];
    const { session } = world({
      session: {
        approver: (request) => {
          asked.push(request);
          return 'allow_once';
        },
      },
    });
    const result = await session.call('run_code', { code: two }, { callId: 'c' });
    expect(result.output).toEqual(['a', 'paid 20', 'paid 30']);
    expect(asked.map(({ callId, parent, program }) => [callId, parent, program])).toEqual([
      ['c/2', { callId: 'c', tool: 'run_code' }, { source: two, line: 2 }],
      ['c/3', { callId: 'c', tool: 'run_code' }, { source: two, line: 2 }],
    ]);
  });

  test('the program itself may need approval, and its calls are asked for all the same', async () => {
    const asked: string[] = [];
    const { session, did } = world({
      session: {
        rules: [{ effect: 'ask', tools: 'run_code' }],
        approver: ({ tool }) => {
          asked.push(tool.name);
          return tool.name === 'pay' ? 'reject_once' : 'allow_once';
        },
      },
    });
    const code = 'try { await tools.pay({ amount: 20 }) } catch (e) { return e.code }';
    expect((await session.call('run_code', { code })).output).toBe('approval_denied');
    expect(asked).toEqual(['run_code', 'pay']);
    expect(did).toEqual([]);
  });

  test('a program cannot approve itself', async () => {
    const { session, did } = world({
      session: { approver: () => 'reject_once' },
    });
    const code =
      'for (const name of ["approvals", "approve", "answer", "approvals.answer"])' +
      ' try { await tools[name]({ decision: "allow_once" }) } catch {}\n' +
      'try { return await tools.pay({ amount: 20, approved: true }) } catch (e) { return e.code }';
    expect((await session.call('run_code', { code })).output).toBe('approval_denied');
    expect(did).toEqual([]);
  });
});

describe('a program whose calls are suspended', () => {
  test('ends as pending with all questions, and goes on once the last one is answered', async () => {
    const { registry, session, did } = suspending();
    const asked = await session.call('run_code', { code: two }, { callId: 'c' });
    const { error } = asked;
    expect(error).toMatchObject({ code: 'approval_pending', reason: 'approval_required' });
    const approvals = (error as { details: JsonObject }).details.approvals as JsonObject[];
    expect(approvals.map(({ callId, tool, line }) => [callId, tool, line])).toEqual([
      ['c/2', 'pay', 2],
      ['c/3', 'pay', 2],
    ]);
    expect(JSON.stringify(error)).not.toContain('token');
    expect(questionOf(asked)?.callId).toBe('c/2');
    const [first, second] = await waiting(session);
    expect(first?.program).toEqual({ source: two, line: 2 });
    expect(await session.approvals.outcome('c')).toEqual({ status: 'pending' });
    expect((await registry.approvals.answer(first?.id as string, yes)).output).toBe('paid 20');
    expect(await session.approvals.outcome('c')).toEqual({ status: 'pending' });
    expect((await registry.approvals.answer(second?.id as string, yes)).output).toBe('paid 30');
    await expect
      .poll(async () => (await session.approvals.outcome('c')).result?.output)
      .toEqual(['a', 'paid 20', 'paid 30']);
    expect(did).toEqual(['read a', 'pay 20', 'pay 30']);
  });

  test('gives an agent loop that resumes what has become of it', async () => {
    const { session, did } = suspending();
    const asked = await session.call('run_code', { code: two }, { callId: 'c' });
    const next = await session.approvals.resume(tokenOf(asked), yes);
    expect(next).toMatchObject({ error: { code: 'approval_pending' }, metadata: { callId: 'c' } });
    const last = await session.approvals.resume(tokenOf(next), yes);
    expect(last.output).toEqual(['a', 'paid 20', 'paid 30']);
    expect(last.metadata).toMatchObject({ callId: 'c', toolName: 'run_code' });
    expect(did).toEqual(['read a', 'pay 20', 'pay 30']);
  });

  test('may go on after a rejection, and with an edited input', async () => {
    const { session, did } = suspending();
    const code =
      'const out = [];\nfor (const amount of [20, 30]) try { ' +
      'out.push(await tools.pay({ amount })) } catch (e) { out.push([e.code, e.message]) }\n' +
      'return out';
    const asked = await session.call('run_code', { code });
    const next = await session.approvals.resume(tokenOf(asked), no);
    const edit = { ...yes, input: { amount: 12 } };
    const last = await session.approvals.resume(tokenOf(next), edit);
    expect(last.output).toEqual([
      ['approval_denied', expect.stringContaining('Too much.')],
      'paid 12',
    ]);
    expect(did).toEqual(['pay 12']);
  });

  test('goes on with the scopes of the request that began it', async () => {
    const secure = defineTool({
      name: 'secure',
      description: 'Needs a scope.',
      parameters: z.object({}),
      scopes: ['a'],
      handler: () => 'ran',
    }) as AnyTool<unknown>;
    const code =
      'await tools.pay({ amount: 20 });\n' +
      'try { return await tools.secure({}) } catch (e) { return e.reason }';
    for (const [scopes, had, output] of [
      [['a'], [], 'ran'],
      [[], ['a'], 'scope_missing'],
    ]) {
      const { session } = suspending({ tools: [secure], session: { scopes: had as string[] } });
      const surface = { name: 'mcp', scopes: scopes as string[] };
      const asked = await session.call('run_code', { code }, { surface });
      expect((await session.approvals.resume(tokenOf(asked), yes)).output).toBe(output);
    }
  });

  test('runs on as far as it can before it waits', async () => {
    const { session, did } = suspending();
    const code =
      'const paid = tools.pay({ amount: 20 });\n' +
      'for (const id of ["a", "b"]) { await tools.read({ id }); await tools.sleep(1) }\n' +
      'return await paid';
    const asked = await session.call('run_code', { code });
    expect(asked.error?.code).toBe('approval_pending');
    expect(did).toEqual(['read a', 'read b']);
    const { output } = await session.approvals.resume(tokenOf(asked), yes);
    expect(output).toBe('paid 20');
    expect(did).toEqual(['read a', 'read b', 'pay 20']);
  });

  test('sees the same times and random numbers when it runs again', async () => {
    const { session } = suspending();
    const code =
      'const seen = [Date.now(), Math.random()]; const from = await tools.read({ id: `${seen}` });' +
      ' await tools.pay({ amount: 20 }); return from.id === `${seen}`';
    const asked = await session.call('run_code', { code });
    const { output } = await session.approvals.resume(tokenOf(asked), yes);
    expect(output).toBe(true);
  });

  test('whose calls end in another order than they began gets them in that order again', async () => {
    const after = defineTool({
      name: 'after',
      description: 'Waits.',
      parameters: z.object({ ms: z.number() }),
      handler: async ({ ms }) => {
        await new Promise((resolve) => setTimeout(resolve, ms));
        return ms;
      },
    }) as AnyTool<unknown>;
    // What it reads depends on the order so far, so another order would be another program.
    const code =
      'const order = []; await Promise.all([8, 1, 4, 2, 2, 3].map(async (ms) => {' +
      ' order.push(await tools.after({ ms })); await tools.read({ id: String(order) }) }));\n' +
      'await tools.pay({ amount: 20 }); return order.length';
    for (let round = 0; round < 20; round++) {
      const { session } = suspending({ tools: [after] });
      const asked = await session.call('run_code', { code });
      const again = await session.approvals.resume(tokenOf(asked), yes);
      expect(again).toMatchObject({ success: true, output: 6 });
    }
  });

  test('that a person has approved itself is not asked about again', async () => {
    const { session } = suspending({ session: { rules: [{ effect: 'ask', tools: 'run_code' }] } });
    const asked = await session.call('run_code', { code: one });
    expect(questionOf(asked)?.tool.name).toBe('run_code');
    const next = await session.approvals.resume(tokenOf(asked), yes);
    expect(questionOf(next)?.tool.name).toBe('pay');
    const last = await session.approvals.resume(tokenOf(next), yes);
    expect(last.output).toBe('paid 20');
  });
});

describe('the journal', () => {
  test('lets an answer count once', async () => {
    const { session, did } = suspending();
    const asked = await session.call('run_code', { code: one });
    const token = tokenOf(asked);
    const all = await Promise.all([1, 2, 3].map(() => session.approvals.resume(token, yes)));
    expect(all.filter(({ success }) => success)).toHaveLength(1);
    expect(did).toEqual(['read a', 'pay 20']);
  });

  test('refuses a program where the store cannot be reached', async () => {
    const { open, did, kill } = processOver(memoryStore());
    const session = open();
    await kill();
    const { error } = await session.call('run_code', { code: one }, { callId: 'c' });
    expect(error).toMatchObject({ code: 'policy_error', reason: 'store_unavailable' });
    expect(did).toEqual([]);
  });

  test('has nothing of a program for which there was no room, so it can be made again', async () => {
    let room = 0;
    const busy = { kind: 'busy', message: 'Too many programs are running.' } as const;
    const runner: CodeRunner = {
      run: async () => (room++ === 0 ? { ok: false, fault: busy } : { ok: true, value: '1' }),
    };
    const session = new Core({
      parts: [codeMode({ runner }), durableApprovals()],
      store: memoryStore(),
      approvals: { secret: key },
    }).createSession({ sessionId: 's', principal: 'p', approvalMode: 'suspend', code: {} });
    const made = () => session.call('run_code', { code: 'return 1' }, { callId: 'c' });
    expect((await made()).error).toMatchObject({ code: 'rate_limited', reason: 'code_busy' });
    expect(await session.approvals.outcome('c')).toEqual({ status: 'unknown' });
    expect((await made()).output).toBe(1);
  });

  test('that another process begins in the same moment can be called again soon', async () => {
    const store = memoryStore();
    let isFirst = true;
    const apply: Store['apply'] = (space, operations) => {
      if (isFirst && operations.some((one) => one.op === 'set' && one.key === 'lease')) {
        isFirst = false;
        const other = { op: 'set', key: 'run', value: '{}', ttlMs: 86_400_000 } as const;
        void store.apply(space, [other]);
      }
      return store.apply(space, operations);
    };
    const { session, did } = world({ registry: { store: { ...store, apply } } });
    const { error } = await session.call('run_code', { code: one }, { callId: 'c' });
    expect(error).toMatchObject({ reason: 'code_running', details: { retryAfterMs: 15_000 } });
    expect(did).toEqual([]);
  });
});
