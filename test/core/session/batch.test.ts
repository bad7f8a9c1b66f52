import { getEventListeners } from 'node:events';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { HostToolRegistry, type ToolCall, type ToolResult } from '../../../src/index.ts';
import { gate, outcome, tool, turns, world } from '../call/world.ts';

const call = (id: string, name: string, args?: unknown): ToolCall => ({
  id,
  name,
  arguments: args,
});

describe('executeBatch', () => {
  afterEach(() => void vi.useRealTimers());

  test(
    'every observed call gets exactly one result, in observed order, with the code that `call` ' +
      'answers',
    async () => {
      const w = world({ rules: [{ effect: 'deny', tools: 'denied', reason: 'no' }] });
      w.add(
        tool(() => 'ran', { name: 'ok', parallelSafe: true }),
        tool(
          () => {
            throw new Error('x');
          },
          { name: 'fails' },
        ),
        tool(() => 1, { name: 'denied' }),
        tool(() => 1, { name: 'gated', requires: [{ fact: 'f', equals: 1 }] }),
      );
      const { plan, results } = await w.session.executeBatch([
        call('1', 'nobody'),
        call('2', 'ok'),
        call('3', 'denied'),
        call('4', 'fails'),
        call('5', 'gated'),
        call('2', 'ok'),
        call('6', 'ok', '{"x":1}'),
        call('7', 'ok', 'not json'),
      ]);
      expect(results.map(({ callId, result }) => [callId, outcome(result)])).toEqual([
        ['1', 'tool_not_found'],
        ['2', 'ran'],
        ['3', 'policy_denied'],
        ['4', 'handler_error'],
        ['5', 'tool_not_available'],
        ['2', 'duplicate_call_id'],
        ['6', 'ran'],
        ['7', 'invalid_input'],
      ]);
      expect(results.map(({ result }) => result.metadata.callId)).toEqual(
        results.map(({ callId }) => callId),
      );
      expect(plan.groups).toEqual([['2'], ['4'], ['6', '7']]);
      await w.settle();
    },
  );

  test(
    'groups run one after another, the calls of one side by side; a failure stops no later ' +
      'group',
    async () => {
      const w = world();
      const log: string[] = [];
      const step = (name: string, more = {}) =>
        tool(
          async ({ n }: { n: number }) => {
            log.push(`${name}${n} starts`);
            await turns(2);
            log.push(`${name}${n} ends`);
            if (n === 0) throw new Error('x');
          },
          { name, ...more },
        );
      w.add(step('read', { parallelSafe: true }), step('write'));
      await w.session.executeBatch([
        call('1', 'read', { n: 0 }),
        call('2', 'read', { n: 2 }),
        call('3', 'write', { n: 0 }),
        call('4', 'read', { n: 4 }),
      ]);
      expect(log).toEqual([
        'read0 starts',
        'read2 starts',
        'read0 ends',
        'read2 ends',
        'write0 starts',
        'write0 ends',
        'read4 starts',
        'read4 ends',
      ]);
    },
  );

  test(
    "conflicting keys, the tool's own or the input's, never overlap; an input that is invalid " +
      'has none',
    async () => {
      const w = world();
      w.add(
        tool(() => 1, {
          name: 'edit',
          parallelSafe: true,
          parameters: { type: 'object', required: ['file'] },
          resourceKey: ({ file }: { file: string }) => file,
        }),
      );
      expect(
        w.session.plan([
          call('1', 'edit', { file: 'a' }),
          call('2', 'edit', { file: 'b' }),
          call('3', 'edit', { file: 'a' }),
          call('4', 'edit', {}),
          call('5', 'edit', '{"file":"a"}'),
        ]).groups,
      ).toEqual([['1', '2'], ['3', '4'], ['5']]);
    },
  );

  test(
    'the calls of a group really run at once: handlers that wait for one another all come ' +
      'through',
    async () => {
      const w = world();
      const all = gate();
      let there = 0;
      w.add(
        tool(
          async ({ n }: { n: number }) => {
            if (++there === 5) all.open();
            await all.promise;
            return n;
          },
          { name: 'meet', parallelSafe: true },
        ),
      );
      const { plan, results } = await w.session.executeBatch(
        Array.from({ length: 5 }, (_, n) => call(`${n}`, 'meet', { n })),
      );
      expect(plan.groups).toEqual([['0', '1', '2', '3', '4']]);
      expect(results.map(({ result }) => outcome(result))).toEqual([0, 1, 2, 3, 4]);
    },
  );

  test('results are in observed order, in whatever order the calls end', async () => {
    const w = world();
    const gates = Array.from({ length: 4 }, () => gate<string>());
    const ended: number[] = [];
    w.add(
      tool(
        async ({ n }: { n: number }) => {
          const said = await gates[n]?.promise;
          ended.push(n);
          return said;
        },
        { name: 'wait', parallelSafe: true },
      ),
    );
    const batch = w.session.executeBatch([
      call('a', 'wait', { n: 0 }),
      call('b', 'wait', { n: 1 }),
      call('c', 'wait', { n: 2 }),
      call('d', 'wait', { n: 3 }),
    ]);
    for (const n of [2, 0, 3, 1]) {
      gates[n]?.open(`said ${n}`);
      await turns();
    }
    const { results } = await batch;
    expect(ended).toEqual([2, 0, 3, 1]);
    expect(
      results.map(({ callId, toolName, result }) => [callId, toolName, outcome(result)]),
    ).toEqual([
      ['a', 'wait', 'said 0'],
      ['b', 'wait', 'said 1'],
      ['c', 'wait', 'said 2'],
      ['d', 'wait', 'said 3'],
    ]);
  });

  test(
    'what a call changes decides which later calls of its batch run, and takes none from the ' +
      'groups',
    async () => {
      const w = world();
      w.add(
        tool(() => void w.session.setFacts({ ready: true }), { name: 'open', provides: ['ready'] }),
        tool(() => void w.session.setFacts({ ready: null }), { name: 'shut' }),
        tool(() => 'worked', { name: 'work', requires: [{ fact: 'ready', equals: true }] }),
      );
      const early = await w.session.executeBatch([call('1', 'open'), call('2', 'work')]);
      expect(early.results.map(({ result }) => outcome(result))).toEqual([
        null,
        'tool_not_available',
      ]);
      const { plan, results } = await w.session.executeBatch([
        call('1', 'work'),
        call('2', 'shut'),
        call('3', 'work'),
      ]);
      expect(plan.groups).toEqual([['1'], ['2'], ['3']]);
      expect(results.map(({ result }) => outcome(result))).toEqual([
        'worked',
        null,
        'tool_not_available',
      ]);
      await w.settle();
    },
  );

  test('`maxConcurrency` bounds the calls at once, in order', async () => {
    const w = world();
    let running = 0;
    let most = 0;
    const order: number[] = [];
    w.add(
      tool(
        async ({ n }: { n: number }) => {
          order.push(n);
          most = Math.max(most, ++running);
          await turns(2);
          running--;
        },
        { name: 'a', parallelSafe: true },
      ),
    );
    await w.session.executeBatch(
      Array.from({ length: 9 }, (_, n) => call(`${n}`, 'a', { n })),
      { maxConcurrency: 2 },
    );
    expect(most).toBe(2);
    expect(order).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8]);
  });

  test(
    '`stopOnError`: what has not started when a call fails ends as `cancelled`, with a result ' +
      'each',
    async () => {
      const w = world();
      const handler = vi.fn();
      w.add(
        tool(
          () => {
            throw new Error('x');
          },
          { name: 'fails' },
        ),
        tool(handler, { name: 'a' }),
      );
      const { results } = await w.session.executeBatch(
        [call('1', 'a'), call('2', 'fails'), call('3', 'a'), call('4', 'a')],
        { stopOnError: true },
      );
      expect(results.map(({ result }) => outcome(result))).toEqual([
        null,
        'handler_error',
        'cancelled',
        'cancelled',
      ]);
      expect(handler).toHaveBeenCalledTimes(1);
      const refused = await w.session.executeBatch([call('1', 'nobody'), call('2', 'a')], {
        stopOnError: true,
      });
      expect(refused.results.map(({ result }) => outcome(result))).toEqual([
        'tool_not_found',
        'cancelled',
      ]);
      await w.settle();
    },
  );

  test('an abort cancels every call of the batch, running or not', async () => {
    const w = world();
    const handler = vi.fn(() => new Promise(() => {}));
    w.add(tool(handler, { name: 'a' }));
    const controller = new AbortController();
    const batch = w.session.executeBatch([call('1', 'a'), call('2', 'a')], {
      signal: controller.signal,
    });
    await turns();
    controller.abort();
    expect((await batch).results.map(({ result }) => outcome(result))).toEqual([
      'cancelled',
      'cancelled',
    ]);
    expect(handler).toHaveBeenCalledTimes(1);
    await w.settle();
  });

  test(
    'a signal that was aborted before: every call has its `cancelled` result, and no handler ' +
      'was called',
    async () => {
      const w = world();
      const handler = vi.fn();
      w.add(tool(handler, { name: 'a', parallelSafe: true }), tool(handler, { name: 'b' }));
      const { results } = await w.session.executeBatch(
        [call('1', 'a'), call('2', 'b'), call('3', 'nobody'), call('1', 'a')],
        { signal: AbortSignal.abort() },
      );
      expect(results.map(({ result }) => outcome(result))).toEqual([
        'cancelled',
        'cancelled',
        'cancelled',
        'duplicate_call_id',
      ]);
      expect(handler).not.toHaveBeenCalled();
      await w.settle();
    },
  );

  test(
    'an abort between two groups: what has ended keeps its result, what has not started never ' +
      'starts',
    async () => {
      const w = world();
      const controller = new AbortController();
      const handler = vi.fn();
      w.add(
        tool(
          () => {
            queueMicrotask(() => controller.abort());
            return 'first';
          },
          { name: 'first' },
        ),
        tool(handler, { name: 'later' }),
      );
      const { results } = await w.session.executeBatch(
        [call('1', 'first'), call('2', 'later'), call('3', 'later')],
        { signal: controller.signal },
      );
      expect(results.map(({ result }) => outcome(result))).toEqual([
        'first',
        'cancelled',
        'cancelled',
      ]);
      expect(handler).not.toHaveBeenCalled();
      await w.settle();
    },
  );

  test('an abort after the batch changes nothing, and nothing listens any more', async () => {
    const w = world();
    const controller = new AbortController();
    w.add(tool(() => 'ran', { name: 'a', parallelSafe: true }));
    const { results } = await w.session.executeBatch([call('1', 'a'), call('2', 'a')], {
      signal: controller.signal,
    });
    expect(getEventListeners(controller.signal, 'abort')).toEqual([]);
    controller.abort();
    expect(results.map(({ result }) => outcome(result))).toEqual(['ran', 'ran']);
    await w.settle();
  });

  test('`stopOnError` with an abort: the first failure is reported', async () => {
    const w = world();
    const hold = gate();
    w.add(
      tool(
        async () => {
          await hold.promise;
          throw new Error('x');
        },
        { name: 'fails', parallelSafe: true },
      ),
      tool(() => 'ran', { name: 'a' }),
    );
    const batch = w.session.executeBatch([call('1', 'fails'), call('2', 'fails'), call('3', 'a')], {
      stopOnError: true,
    });
    await turns();
    hold.open();
    expect((await batch).results.map(({ result }) => outcome(result))).toEqual([
      'handler_error',
      'handler_error',
      'cancelled',
    ]);
    await w.settle();
  });

  test('closing the session ends every call of the batch', async () => {
    const w = world();
    w.add(tool(() => new Promise(() => {}), { name: 'a' }));
    const batch = w.session.executeBatch([call('1', 'a'), call('2', 'a')]);
    await turns();
    void w.session.close();
    expect((await batch).results.map(({ result }) => outcome(result))).toEqual([
      'session_closed',
      'session_closed',
    ]);
  });

  test('an id that is in flight outside of the batch is `duplicate_call_id`', async () => {
    const w = world();
    const hold = gate();
    w.add(tool(() => hold.promise, { name: 'a' }));
    const running = w.session.call('a', {}, { callId: '1' });
    const { results } = await w.session.executeBatch([call('1', 'a')]);
    expect(results.map(({ result }) => outcome(result))).toEqual(['duplicate_call_id']);
    hold.open();
    await running;
  });

  test(
    'an id that was in flight when the batch came never runs in it, not even after that call ' +
      'has ended',
    async () => {
      const w = world();
      const [direct, first] = [gate(), gate()];
      const ran: string[] = [];
      w.add(
        tool(
          async ({ from }: { from: string }) => {
            ran.push(from);
            await (from === 'direct' ? direct : first).promise;
          },
          { name: 'a' },
        ),
      );
      const running = w.session.call('a', { from: 'direct' }, { callId: '2' });
      const batch = w.session.executeBatch([
        call('1', 'a', { from: 'batch 1' }),
        call('2', 'a', { from: 'batch 2' }),
      ]);
      await turns();
      direct.open();
      await running;
      first.open();
      expect((await batch).results.map(({ result }) => outcome(result))).toEqual([
        null,
        'duplicate_call_id',
      ]);
      expect(ran).toEqual(['direct', 'batch 1']);
      await w.settle();
    },
  );

  test(
    'the id of a call that a batch has still to start is taken: neither a direct call nor ' +
      'another batch runs it first',
    async () => {
      const w = world();
      const hold = gate();
      const ran: string[] = [];
      w.add(
        tool(
          async ({ from }: { from: string }) => {
            ran.push(from);
            if (from === 'first') await hold.promise;
          },
          { name: 'a' },
        ),
      );
      const batch = w.session.executeBatch([
        call('1', 'a', { from: 'first' }),
        call('2', 'a', { from: 'planned' }),
      ]);
      await turns();
      expect(outcome(await w.session.call('a', { from: 'direct' }, { callId: '2' }))).toBe(
        'duplicate_call_id',
      );
      const other = await w.session.executeBatch([
        call('2', 'a', { from: 'other' }),
        call('3', 'a', { from: 'fresh' }),
      ]);
      expect(other.results.map(({ result }) => outcome(result))).toEqual([
        'duplicate_call_id',
        null,
      ]);
      hold.open();
      expect((await batch).results.map(({ result }) => outcome(result))).toEqual([null, null]);
      expect(ran).toEqual(['first', 'fresh', 'planned']);
      await w.settle();
    },
  );

  test(
    'the id of a call that has ended in a batch that goes on runs in no other batch; once the ' +
      'batch has ended the id is free',
    async () => {
      const w = world();
      const hold = gate();
      const ran: string[] = [];
      w.add(
        tool(({ from }: { from: string }) => void ran.push(from), { name: 'quick' }),
        tool(() => hold.promise, { name: 'slow' }),
      );
      const batch = w.session.executeBatch([
        call('1', 'quick', { from: 'one' }),
        call('2', 'slow'),
      ]);
      await turns(40);
      expect(ran).toEqual(['one']);
      const other = await w.session.executeBatch([call('1', 'quick', { from: 'two' })]);
      expect(other.results.map(({ result }) => outcome(result))).toEqual(['duplicate_call_id']);
      hold.open();
      await batch;
      expect(
        outcome(
          (await w.session.executeBatch([call('1', 'quick', { from: 'three' })])).results[0]
            ?.result as ToolResult,
        ),
      ).toBe(null);
      expect(ran).toEqual(['one', 'three']);
      await w.settle();
    },
  );

  test('every id is free again after an abort, a failure and a stop', async () => {
    const w = world();
    w.add(
      tool(
        ({ fails }: { fails?: boolean }) => {
          if (fails === true) throw new Error('x');
        },
        { name: 'a' },
      ),
    );
    const batch = [call('1', 'a', { fails: true }), call('2', 'a'), call('3', 'nobody')];
    await w.session.executeBatch(batch, { stopOnError: true });
    await w.session.executeBatch(batch, { signal: AbortSignal.abort() });
    const { results } = await w.session.executeBatch(batch);
    expect(results.map(({ result }) => outcome(result))).toEqual([
      'handler_error',
      null,
      'tool_not_found',
    ]);
    await w.settle();
  });

  test('a token is not used up on an id that a batch holds for a call of its own', async () => {
    const w = world(
      { principal: 'ann', approvalMode: 'suspend' },
      { approvals: { secret: 'a key of thirty-two characters or more' } },
    );
    const hold = gate();
    w.add(
      tool(() => hold.promise, { name: 'slow' }),
      tool(() => 'ran', { name: 'asks', requiresApproval: true }),
      tool(() => 'other', { name: 'other' }),
    );
    await w.session.executeBatch([call('2', 'asks')]);
    const [pending] = await w.session.approvals.pending();
    const batch = w.session.executeBatch([call('1', 'slow'), call('2', 'other')]);
    await turns();
    expect(outcome(await w.session.approvals.resume(pending?.token as string, 'allow_once'))).toBe(
      'duplicate_call_id',
    );
    hold.open();
    await batch;
    expect(outcome(await w.session.approvals.resume(pending?.token as string, 'allow_once'))).toBe(
      'ran',
    );
    await w.settle();
  });

  test.each(['session', 'registry'] as const)(
    'two batches that overlap never hold one key at once: locks "%s"',
    async (locks) => {
      const registry = new HostToolRegistry({ locks });
      const running = new Map<string, number>();
      let most = 0;
      registry.register(
        tool(
          async ({ file }: { file: string }, { sessionId }: { sessionId: string }) => {
            const key = locks === 'session' ? `${sessionId} ${file}` : file;
            running.set(key, (running.get(key) ?? 0) + 1);
            most = Math.max(most, running.get(key) ?? 0);
            await turns(3);
            running.set(key, (running.get(key) ?? 0) - 1);
          },
          {
            name: 'edit',
            parallelSafe: true,
            resourceKey: ({ file }: { file: string }) => file,
          } as never,
        ),
      );
      const one = registry.createSession({ sessionId: 'one' });
      const two = registry.createSession({ sessionId: 'two' });
      const batch = ['x', 'y', 'x'].map((file, index) => call(`${index}`, 'edit', { file }));
      const again = batch.map(({ id, ...rest }) => ({ ...rest, id: `again ${id}` }));
      const all = await Promise.all([
        one.executeBatch(batch),
        one.executeBatch(again),
        two.executeBatch(batch),
      ]);
      expect(all.flatMap(({ results }) => results).every(({ result }) => result.success)).toBe(
        true,
      );
      expect(most).toBe(1);
    },
  );

  test.each([
    ['no array', 'nonsense', {}],
    ['a call without an id', [{ name: 'a' }], {}],
    ['a call without a name', [{ id: '1' }], {}],
    ['null', [null], {}],
    ['a list with a hole', new Array(1), {}],
    ['a resource key that is no text', [{ id: '1', name: 'a', resourceKey: 1 }], {}],
    ['a width of 0', [], { maxConcurrency: 0 }],
    ['a width that is no number', [], { maxConcurrency: Number.NaN }],
    ['a call with `input` in place of `arguments`', [{ id: '1', name: 'a', input: {} }], {}],
    ['an option that does not exist', [], { stopOnErrors: true }],
  ])("a host's mistake rejects, and nothing runs: %s", async (_, calls, options) => {
    const { session, events } = world();
    await expect(session.executeBatch(calls as never, options as never)).rejects.toThrow(
      expect.objectContaining({ code: 'invalid_option' }),
    );
    expect(events.map(({ type }) => type)).not.toContain('tool:pre');
  });

  test('the plan is what is run, whatever the caller does to its list meanwhile', async () => {
    const w = world();
    w.add(
      tool(
        async () => {
          await turns(2);
          return 'ran';
        },
        { name: 'a' },
      ),
    );
    const calls = [call('1', 'a'), call('2', 'a')];
    const batch = w.session.executeBatch(calls);
    calls.length = 0;
    expect((await batch).results.map(({ result }) => outcome(result))).toEqual(['ran', 'ran']);
  });
});
