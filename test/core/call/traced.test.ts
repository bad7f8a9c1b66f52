/** The port behind telemetry: what those who follow calls are told, and that they affect none. */
import { AsyncLocalStorage } from 'node:async_hooks';
import { describe, expect, test, vi } from 'vitest';
import type { CallStart, CallTracer } from '../../../src/core/call/call-tracers.ts';
import { traceCalls } from '../../../src/core/registry/observe-calls.ts';
import type { RegistryOptions, SessionOptions, ToolContext } from '../../../src/index.ts';
import { define, setup } from './define.ts';
import { gate } from './world.ts';

/** Writes down everything that it is told, in order. */
function recorder() {
  const notes: string[] = [];
  const starts: CallStart[] = [];
  const tracer: CallTracer = {
    begin(start) {
      starts.push(start);
      notes.push(`begin ${start.tool ?? '?'}`);
      return {
        within(phase, run) {
          notes.push(`${phase} {`);
          run();
          notes.push(`} ${phase}`);
        },
        left: (phase, told) => void notes.push(`left ${phase} ${told.code ?? 'ok'}`),
        ended: (end) => void notes.push(`ended ${end.code ?? 'ok'} ${end.reason ?? ''}`.trim()),
      };
    },
  };
  return { notes, starts, tracer };
}

function traced(
  tools: Parameters<typeof setup>[0],
  session: Partial<SessionOptions> = {},
  options: RegistryOptions = {},
) {
  const made = setup(tools, session, options);
  const recorded = recorder();
  return { ...made, ...recorded, stop: traceCalls(made.registry, recorded.tracer) };
}

describe('the phases of a call', () => {
  test('a running call is judged before it starts, and again only after a change', async () => {
    const { session, notes, starts } = traced([define('t')], { principal: 'ann' });
    await session.call('t', {}, { callId: 'c', surface: { name: 'mcp' } });
    expect(notes).toEqual([
      'begin t',
      'policy {',
      '} policy',
      'left policy ok',
      'run {',
      'left run ok',
      'ended ok',
      '} run',
    ]);
    expect(starts[0]).toEqual({
      callId: 'c',
      tool: 't',
      description: 'Does t.',
      executor: 'inline',
      ownTool: false,
      sessionId: 's',
      principal: 'ann',
      actor: { principal: 'ann', chain: [] },
      surface: 'mcp',
      parents: undefined,
      from: undefined,
    });
  });

  test('a refusal has the rule and its reason; no handler starts', async () => {
    const { session, notes } = traced([define('t')], {
      rules: [{ id: 'no', effect: 'deny', tools: 't', reason: 'not_today' }],
    });
    await session.call('t');
    expect(notes.filter((note) => !/[{}]/.test(note))).toEqual([
      'begin t',
      'left policy policy_denied',
      'ended policy_denied not_today',
    ]);
  });

  test('an unknown name is followed without its name', async () => {
    const { session, notes, starts } = traced([]);
    await session.call('nope');
    expect(starts[0]?.tool).toBeUndefined();
    expect(notes).toEqual(['begin ?', 'ended tool_not_found']);
  });

  test('an answer that is awaited is a phase of its own', async () => {
    const answer = gate<{ decision: 'allow_once' }>();
    const { session, notes } = traced([define('t')], {
      rules: [{ id: 'ask', effect: 'ask' }],
      approver: () => answer.promise,
    });
    const call = session.call('t');
    await vi.waitFor(() => expect(notes).toContain('} approval'));
    expect(notes).not.toContain('left approval ok');
    answer.open({ decision: 'allow_once' });
    await call;
    expect(notes.slice(-4)).toEqual(['run {', 'left run ok', 'ended ok', '} run']);
    expect(notes).toContain('left approval ok');
  });

  test('a tool that a session brought is marked as such', async () => {
    const { session, starts } = traced([]);
    session.register(define('mine'));
    await session.call('mine');
    expect(starts[0]).toMatchObject({ tool: 'mine', ownTool: true });
  });

  test('a call that runs elsewhere is followed until it is settled', async () => {
    const { session, notes } = traced([define('t', { external: true })]);
    const asked = await session.authorize('t', {});
    expect(notes.at(-1)).toBe('} run');
    if (!asked.allowed) throw new Error('Refused.');
    await asked.settle({ output: 'done' });
    expect(notes.slice(-2)).toEqual(['left run ok', 'ended ok']);
  });

  test('a call of a handler knows how the call that made it is followed', async () => {
    const { session, starts } = traced([
      define('outer', {
        uses: ['t'],
        handler: (_: object, { tools }: ToolContext) => tools.call('t', {}),
      }),
      define('t'),
    ]);
    await session.call('outer');
    expect(starts.map(({ tool, parents }) => [tool, parents?.length])).toEqual([
      ['outer', undefined],
      ['t', 1],
    ]);
  });

  test('what a phase sets for its asynchronous work reaches the handler', async () => {
    const storage = new AsyncLocalStorage<string>();
    const { registry, session } = setup([define('t', { handler: () => storage.getStore() })]);
    traceCalls(registry, {
      begin: () => ({
        within: (phase, run) => storage.run(phase, run),
        left: () => {},
        ended: () => {},
      }),
    });
    expect(await session.call('t')).toMatchObject({ output: 'run' });
  });
});

describe('every call that is followed has one end', () => {
  const ends = (notes: readonly string[]) => notes.filter((note) => note.startsWith('ended'));

  test('timed out', async () => {
    const { session, notes } = traced([define('t', { handler: () => new Promise(() => {}) })]);
    await session.call('t', {}, { timeoutMs: 5 });
    expect(ends(notes)).toEqual(['ended timeout timeout']);
  });

  test('cancelled, also before it starts', async () => {
    const { session, notes } = traced([define('t', { handler: () => new Promise(() => {}) })]);
    const running = new AbortController();
    const call = session.call('t', {}, { signal: running.signal });
    running.abort();
    await call;
    await session.call('t', {}, { signal: AbortSignal.abort() });
    expect(ends(notes)).toEqual(['ended cancelled', 'ended cancelled']);
  });

  test('closed in flight; a call to a closed session never began', async () => {
    const { session, notes } = traced([define('t', { handler: () => new Promise(() => {}) })]);
    const call = session.call('t');
    await session.close();
    await call;
    await session.call('t');
    expect(ends(notes)).toEqual(['ended session_closed']);
  });

  test('closed by the tracer that begins to follow', async () => {
    const { registry, session } = setup([define('t')]);
    const { tracer, notes } = recorder();
    traceCalls(registry, {
      begin(start) {
        void session.close();
        return tracer.begin(start);
      },
    });
    expect(await session.call('t')).toMatchObject({ error: { code: 'session_closed' } });
    expect(notes).toEqual(['begin t', 'ended session_closed']);
  });

  test('suspended and resumed: two calls', async () => {
    const { session, notes } = traced(
      [define('t')],
      { rules: [{ id: 'ask', effect: 'ask' }], approvalMode: 'suspend', principal: 'ann' },
      { approvals: { secret: 'x'.repeat(32) } },
    );
    const waiting = await session.call('t');
    if (waiting.success || waiting.approval === undefined) throw new Error('Not suspended.');
    await session.approvals.resume(waiting.approval.token ?? '', {
      decision: 'allow_once',
      by: 'ben',
    });
    expect(ends(notes)).toEqual(['ended approval_pending approval_required', 'ended ok']);
  });
});

describe('a tracer that fails', () => {
  const broken = (place: string): CallTracer => {
    const failing = (at: string): void => {
      if (at === place) throw new Error(`broken at ${at}`);
    };
    return {
      begin() {
        failing('begin');
        return {
          within(_, run) {
            failing('before');
            run();
            failing('after');
          },
          left: () => failing('left'),
          ended: () => failing('ended'),
        };
      },
    };
  };

  test.each(['begin', 'before', 'after', 'left', 'ended'])('%s: affects no call', async (place) => {
    const faults: string[] = [];
    const handler = vi.fn(() => 'ran');
    const { session, registry } = setup(
      [define('t', { handler })],
      {},
      {
        logger: {
          warn: () => {},
          error: (data: object, message?: string) =>
            void faults.push(`${message}: ${(data as { err: Error }).err.message}`),
        },
      },
    );
    traceCalls(registry, broken(place));
    expect(await session.call('t')).toMatchObject({ success: true, output: 'ran' });
    expect(handler).toHaveBeenCalledTimes(1);
    expect(faults[0]).toBe(`a call could not be traced: broken at ${place}`);
  });

  test('one that runs a phase twice, or not at all, runs it once', async () => {
    const handler = vi.fn(() => 'ran');
    const { session, registry } = setup([define('t', { handler })]);
    for (const times of [0, 2])
      traceCalls(registry, {
        begin: () => ({
          within: (_, run) => Array.from({ length: times }, run) as never,
          left: () => {},
          ended: () => {},
        }),
      });
    expect(await session.call('t')).toMatchObject({ success: true });
    expect(handler).toHaveBeenCalledTimes(1);
  });
});

describe('detaching', () => {
  test('ends for later calls; running ones are followed to their end', async () => {
    const held = gate<void>();
    const { session, registry, notes, stop } = traced([
      define('t', { handler: () => held.promise }),
    ]);
    const call = session.call('t');
    stop();
    stop();
    held.open();
    await call;
    await session.call('t');
    expect(notes.filter((note) => /begin|ended/.test(note))).toEqual(['begin t', 'ended ok']);
    expect(traceCalls(registry, recorder().tracer)).toBeTypeOf('function');
  });

  test('anything but a registry is refused', () => {
    expect(() => traceCalls({}, recorder().tracer)).toThrow(/HostToolRegistry/);
  });

  test('what would follow nothing is refused', () => {
    const { registry } = setup([define('t')]);
    for (const tracer of [{}, undefined, { begins: () => undefined }])
      expect(() => traceCalls(registry, tracer as never)).toThrow(/`tracer`.*`begin`/);
  });
});
