/** What holds of journals, whatever store they are in. Processes are registries of their own. */
import { expect, test } from 'vitest';
import { z } from 'zod';
import type { Store } from '../../../src/extend.ts';
import { type AnyTool, defineTool, type PendingApproval } from '../../../src/index.ts';
import { tokenOf, yes } from './kit.ts';
import { type ProcessOptions, processOver } from './process.ts';

const one = 'await tools.read({ id: "a" });\nreturn await tools.pay({ amount: 20 })';
const two =
  'const paid = await Promise.allSettled([tools.pay({ amount: 20 }), tools.pay({ amount: 30 })]);\n' +
  'return paid.map(({ value, reason }) => value ?? reason.code)';

/** A clock that is so far ahead sees that a process died which has just done so. */
const aheadMs = 20_000;
const patience = { interval: 20, timeout: 20_000 } as const;

/** A tool that never ends in a process that is killed later. */
function hanging(name: string, hangs: () => boolean, more: object = {}): AnyTool<unknown> {
  return defineTool({
    name,
    description: 'Never ends in the first process.',
    parameters: z.object({}),
    ...more,
    handler: () => (hangs() ? new Promise(() => {}) : `${name} ran`),
  }) as AnyTool<unknown>;
}

let sessions = 0;

/** @param open Gives a store that is empty, or has other sessions only. */
export function journalRules(open: () => Store): void {
  /** Processes that share a session. */
  const fleet = () => {
    const sessionId = `chat-${++sessions}-${process.pid}`;
    const store = open();
    const start = (options: ProcessOptions = {}) => {
      const made = processOver(store, { sessionId, ...options });
      return { ...made, session: made.open() };
    };
    const startIdle = (options: ProcessOptions = {}) =>
      processOver(store, { sessionId, ...options });
    const space = { shared: `code ${JSON.stringify([sessionId, 'c'])}` };
    const listed = async (of: Store.Space, list: string): Promise<readonly Store.Listed[]> =>
      (await store.apply(of, [{ op: 'list', list, limit: 100 }])).results?.[0] ?? [];
    /** What the journal has. */
    const journal = Object.assign(() => listed(space, 'calls'), { space, store });
    const steps = async (): Promise<number> => (await journal()).length;
    /** The programs that somebody looks at by themselves. */
    const agenda = () =>
      listed({ shared: 'code programs' }, `session ${JSON.stringify([sessionId, 'user:ann'])}`);
    return { start, startIdle, journal, steps, agenda };
  };
  type Process = ReturnType<ReturnType<typeof fleet>['start']>;

  const asked = ({ registry, session }: Process): Promise<readonly PendingApproval[]> =>
    registry.approvals.pending({ sessionId: session.sessionId });
  const outcome = async ({ session }: Process): Promise<unknown> => {
    const { status, result } = await session.approvals.outcome('c');
    return result === undefined ? status : (result.output ?? result.error?.reason);
  };
  const run = ({ session }: Process, code: string) =>
    session.call('run_code', { code }, { callId: 'c' });

  test('another process answers and goes on, and nothing runs twice', async () => {
    const { start } = fleet();
    const first = start();
    expect((await run(first, one)).error?.code).toBe('approval_pending');
    const second = start();
    const [question] = await asked(second);
    await second.registry.approvals.answer(question?.id as string, yes);
    await expect.poll(() => outcome(first), patience).toBe('paid 20');
    expect([first.did, second.did]).toEqual([['read a'], ['pay 20']]);
    // The same call again gets the result, and nothing runs.
    expect((await run(second, one)).output).toBe('paid 20');
    expect(second.did).toEqual(['pay 20']);
  });

  test('the same call made again goes on after a kill, once the lease has run out', async () => {
    const { start, steps } = fleet();
    let isFirst = true;
    const made = [
      hanging('once', () => isFirst),
      hanging('again', () => isFirst, { annotations: { idempotent: true } }),
    ];
    const first = start({ tools: made });
    const code =
      'const before = await tools.read({ id: "a" });\n' +
      'const all = await Promise.allSettled([tools.once({}), tools.again({})]);\n' +
      'return [before.id, ...all.map(({ value, reason }) => value ?? [reason.code, reason.reason])]';
    void run(first, code);
    await expect.poll(steps, patience).toBe(3);
    isFirst = false;
    const second = start({ tools: made });
    const early = await run(second, code);
    expect(early.error).toMatchObject({ code: 'rate_limited', reason: 'code_running' });
    await first.kill();
    await expect
      .poll(async () => (await run(second, code)).output, patience)
      .toEqual(['a', ['executor_lost', 'code_lost'], 'again ran']);
    expect(second.did).toEqual([]);
  });

  test('an abandoned program goes on in one of the processes that have its session', async () => {
    const { start, steps } = fleet();
    let isFirst = true;
    const tools = [hanging('once', () => isFirst)];
    const first = start({ tools });
    const code =
      'await tools.read({ id: "a" });\n' +
      'try { await tools.once({}) } catch (e) { await tools.pay({ amount: 1 }); return e.code }';
    void run(first, code);
    await expect.poll(steps, patience).toBe(2);
    await first.kill();
    isFirst = false;
    const others = [1, 2, 3].map(() => start({ tools, aheadMs }));
    await expect.poll(() => outcome(others[0] as Process), patience).toBe('executor_lost');
    expect(others.flatMap(({ did }) => did)).toEqual(['pay 1']);
  });

  test('a program that its caller has cancelled goes on nowhere', async () => {
    const { start, steps, agenda } = fleet();
    const tools = [hanging('once', () => true)];
    const first = start({ tools });
    const stop = new AbortController();
    const code = 'await tools.once({}); await tools.pay({ amount: 1 })';
    const ended = first.session.call('run_code', { code }, { callId: 'c', signal: stop.signal });
    await expect.poll(steps, patience).toBe(1);
    stop.abort();
    expect((await ended).error?.code).toBe('cancelled');
    await expect.poll(agenda, patience).toEqual([]);
    expect(await outcome(start({ tools, aheadMs }))).toBe('pending');
  });

  test('a program whose registry is closed goes on elsewhere', async () => {
    const { start, steps } = fleet();
    let isFirst = true;
    const tools = [hanging('once', () => isFirst)];
    const first = start({ tools });
    const ended = run(first, 'try { await tools.once({}) } catch (e) { return e.code }');
    await expect.poll(steps, patience).toBe(1);
    await first.registry.close();
    expect((await ended).success).toBe(false);
    isFirst = false;
    const second = start({ tools, aheadMs });
    await expect.poll(() => outcome(second), patience).toBe('executor_lost');
  });

  test('a question that expires wakes its program, and no answer is needed', async () => {
    const { start } = fleet();
    const first = start({ ttlMs: 300 });
    const code =
      'try { await tools.pay({ amount: 20 }) } catch (e) { await tools.read({ id: "b" }); ' +
      'return e.code }';
    expect((await run(first, code)).error?.code).toBe('approval_pending');
    await expect.poll(() => outcome(first), patience).toBe('approval_timeout');
    expect(first.did).toEqual(['read b']);
  });

  test('a question that expires beside one that was answered wakes it in any process', async () => {
    const { start } = fleet();
    const first = start();
    expect((await run(first, two)).error?.code).toBe('approval_pending');
    const [question] = await asked(first);
    await first.registry.approvals.answer(question?.id as string, yes);
    expect(await outcome(first)).toBe('pending');
    const second = start({ aheadMs: 2 * 3_600_000 });
    await expect.poll(() => outcome(second), patience).toContain('approval_timeout');
    expect([first.did, second.did]).toEqual([[expect.stringMatching(/^pay /)], []]);
  });

  test('a process that dies while an answered call runs leaves a program that goes on', async () => {
    const { start, steps } = fleet();
    let isFirst = true;
    const made = hanging('act', () => isFirst, { requiresApproval: true });
    const first = start({ tools: [made] });
    const code = 'try { return await tools.act({}) } catch (e) { return [e.code, e.reason] }';
    expect((await run(first, code)).error?.code).toBe('approval_pending');
    expect(await steps()).toBe(1);
    const [question] = await asked(first);
    const answering = start({ tools: [made] });
    void answering.registry.approvals.answer(question?.id as string, yes);
    await expect
      .poll(async () => (await first.session.approvals.outcome(question?.id as string)).status)
      .toBe('settled');
    await answering.kill();
    await first.kill();
    isFirst = false;
    const third = start({ tools: [made], aheadMs });
    await expect.poll(() => outcome(third), patience).toEqual(['executor_lost', 'answerer_lost']);
  });

  test('an answer in a process that has no session of the program changes nothing', async () => {
    const { start, startIdle } = fleet();
    const first = start();
    await run(first, one);
    const [question] = await asked(first);
    const other = startIdle({ makesSessions: false });
    const refused = await other.registry.approvals.answer(question?.id as string, yes);
    expect(refused.error).toMatchObject({ reason: 'session_unavailable' });
    expect(await outcome(first)).toBe('pending');
    await first.registry.approvals.answer(question?.id as string, yes);
    await expect.poll(() => outcome(first), patience).toBe('paid 20');
  });

  test('an answer in a process whose sessions run no programs runs the call, and another goes on', async () => {
    const { start, startIdle } = fleet();
    const first = start();
    await run(first, one);
    const [question] = await asked(first);
    const other = startIdle({ session: { code: undefined } });
    const answered = await other.registry.approvals.answer(question?.id as string, yes);
    expect(answered.output).toBe('paid 20');
    await first.kill();
    const third = start({ aheadMs });
    await expect.poll(() => outcome(third), patience).toBe('paid 20');
    expect([other.did, third.did]).toEqual([['pay 20'], []]);
  });

  test('a journal belongs to one program, one session and one principal', async () => {
    const { start } = fleet();
    const first = start();
    await run(first, one);
    const other = await run(first, two);
    expect(other.error).toMatchObject({ code: 'handler_error', reason: 'code_diverged' });
    const eve = start({ principal: 'user:eve' });
    expect((await run(eve, one)).error?.reason).toBe('code_diverged');
    expect(await outcome(eve)).toBe('unknown');
    const elsewhere = fleet().start();
    expect(await outcome(elsewhere)).toBe('unknown');
    expect([first.did, eve.did]).toEqual([['read a'], []]);
  });

  test('a program whose tools have changed ends before anything new runs', async () => {
    const { start } = fleet();
    await run(start(), one);
    const second = start();
    second.registry.unregister('read');
    second.registry.register(
      defineTool({
        name: 'read',
        description: 'Reads something else.',
        parameters: z.object({ id: z.string(), all: z.boolean().optional() }),
        handler: () => ({ id: 'other' }),
      }),
    );
    const again = await run(second, one);
    expect(again.error).toMatchObject({ code: 'handler_error', reason: 'code_diverged' });
    expect(second.did).toEqual([]);
  });

  test('a program that asks for something else than its journal has ends, and nothing runs', async () => {
    const { start, journal } = fleet();
    await run(start(), one);
    const [first] = await journal();
    const { value, version = 0 } = first as Store.Listed;
    const entry = { ...(JSON.parse(value) as object), input: 'the digest of another input' };
    await journal.store.apply(journal.space, [
      { op: 'set', key: 'call 1', value: JSON.stringify(entry), version, lists: ['calls'] },
    ]);
    const second = start();
    const again = await run(second, one);
    expect(again.error).toMatchObject({ code: 'handler_error', reason: 'code_diverged' });
    expect(second.did).toEqual([]);
  });

  test('what is new is judged by the rules of the moment', async () => {
    const { start } = fleet();
    await run(start(), `${one.replace('return ', '')};\nawait tools.read({ id: "late" })`);
    const second = start();
    second.registry.addRules([{ id: 'stop', effect: 'deny', tools: 'read', reason: 'no_more' }]);
    const [question] = await asked(second);
    await second.registry.approvals.answer(question?.id as string, yes);
    await expect.poll(() => outcome(second), patience).toBe('code_error');
    expect(second.did).toEqual(['pay 20']);
  });

  test('an approved call that rules deny by now does not run', async () => {
    const { start } = fleet();
    await run(start(), one);
    const second = start();
    second.registry.addRules([{ id: 'stop', effect: 'deny', tools: 'pay' }]);
    const [question] = await asked(second);
    await second.registry.approvals.answer(question?.id as string, yes);
    await expect.poll(() => outcome(second), patience).toBe('code_error');
    expect(second.did).toEqual([]);
  });

  test('a program that rules deny by now has ended, and runs no more', async () => {
    const { start } = fleet();
    await run(start(), one);
    const second = start();
    second.registry.addRules([
      { id: 'stop', effect: 'deny', tools: 'run_code', when: { code: { exists: true } } },
    ]);
    const [question] = await asked(second);
    await second.registry.approvals.answer(question?.id as string, yes);
    await expect
      .poll(async () => (await second.session.approvals.outcome('c')).result?.error?.code, patience)
      .toBe('policy_denied');
    expect(second.did).toEqual(['pay 20']);
  });

  test('a token is spent once, in all processes', async () => {
    const { start } = fleet();
    const first = start();
    const token = tokenOf(await run(first, one));
    const others = [first, start(), start()];
    const all = await Promise.all(
      others.map(({ session }) => session.approvals.resume(token, yes)),
    );
    expect(all.filter(({ success }) => success)).toHaveLength(1);
    expect((await first.session.approvals.resume(token, yes)).error?.reason).toBe('token_used');
    expect(others.flatMap(({ did }) => did).sort()).toEqual(['pay 20', 'read a']);
  });

  test('a program whose store is lost ends, and starts nothing more', async () => {
    const { start } = fleet();
    const breaks = defineTool({
      name: 'breaks',
      description: 'Breaks.',
      parameters: z.object({}),
      handler: () => first.kill(),
    }) as AnyTool<unknown>;
    const first: Process = start({ tools: [breaks] });
    const { error } = await run(
      first,
      'await tools.breaks({}); return await tools.read({ id: "a" })',
    );
    expect(error).toMatchObject({ code: 'executor_lost', reason: 'code_lost' });
    expect(first.did).toEqual([]);
  });
}
