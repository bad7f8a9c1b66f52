import { afterEach, describe, expect, test, vi } from 'vitest';
import { stateOf } from '../../../src/core/session/session.ts';
import { HostToolRegistry, type ToolContext, type ToolResult } from '../../../src/index.ts';
import { gate, outcome, tool, turns, world } from './world.ts';

type Context = ToolContext;
const calls =
  (name: string, input?: unknown, options?: object) =>
  (_: never, context: Context): Promise<ToolResult> =>
    context.tools.call(name, input, options);
/** The child's result as the parent's output. */
const codeOf =
  (name: string, input?: unknown) =>
  async (_: never, context: Context): Promise<unknown> => {
    const { success, output, error, metadata } = await context.tools.call(name, input);
    return success
      ? { output, id: metadata.callId }
      : { code: error.code, reason: error.reason ?? null };
  };

describe('rule 13: a tool calls others', () => {
  afterEach(() => void vi.useRealTimers());

  test('only those that `uses` names, by name or definition', async () => {
    const w = world();
    const other = tool(() => 'hi', { name: 'other' });
    w.add(
      other,
      tool(codeOf('other'), { name: 'by_name', uses: ['other'] }),
      tool(codeOf('other'), { name: 'by_definition', uses: [other] }),
      tool(codeOf('other'), { name: 'undeclared' }),
    );
    expect((await w.session.call('by_name')).output).toMatchObject({ output: 'hi' });
    expect((await w.session.call('by_definition')).output).toMatchObject({ output: 'hi' });
    expect((await w.session.call('undeclared')).output).toEqual({
      code: 'tool_not_available',
      reason: 'not_declared',
    });
    await w.settle();
  });

  test('and keeps none of them once they have ended, however they end', async () => {
    const w = world();
    const sizes: (number | undefined)[] = [];
    w.add(
      tool(() => 1, { name: 'works' }),
      tool(() => Promise.reject(new Error('no')), { name: 'fails' }),
      tool(
        async (_: never, context: Context) => {
          for (const name of ['works', 'fails', 'missing']) await context.tools.call(name);
          const { calls: own } = stateOf(w.session).registry;
          sizes.push(own?.extra?.children?.size);
          return 1;
        },
        { name: 'outer', uses: ['works', 'fails', 'missing'] },
      ),
    );
    expect((await w.session.call('outer')).success).toBe(true);
    expect(sizes).toEqual([0]);
  });

  test('through the whole spine: validation, rules, hooks, events', async () => {
    const seen: string[] = [];
    const w = world({
      rules: [{ effect: 'deny', tools: 'denied', reason: 'not_here' }],
      hooks: [{ before: ({ tool: { name } }) => void seen.push(name) }],
    });
    w.add(
      tool(() => 1, { name: 'denied' }),
      tool(() => 1, { name: 'strict', parameters: { type: 'object', required: ['n'] } }),
    );
    w.add(
      tool(codeOf('denied'), { name: 'a', uses: ['denied'] }),
      tool(codeOf('strict', {}), { name: 'b', uses: ['strict'] }),
      tool(codeOf('nobody'), { name: 'c', uses: ['nobody'] }),
    );
    expect((await w.session.call('a')).output).toEqual({
      code: 'policy_denied',
      reason: 'not_here',
    });
    expect((await w.session.call('b')).output).toMatchObject({ code: 'invalid_input' });
    expect((await w.session.call('c')).output).toMatchObject({ code: 'tool_not_found' });
    expect(seen).toContain('strict');
    await w.settle();
  });

  test('child ids count below their parent, whatever the handler asks for', async () => {
    const w = world();
    w.add(
      tool(() => 1, { name: 'leaf' }),
      tool(
        async (_: never, context: Context) => [
          (await context.tools.call('leaf', {}, { callId: 'mine' })).metadata.callId,
          (await context.tools.call('leaf')).metadata.callId,
        ],
        { name: 'a', uses: ['leaf'] },
      ),
    );
    expect((await w.session.call('a', {}, { callId: 'top' })).output).toEqual(['top/1', 'top/2']);
    expect(
      w
        .of('tool:pre')
        .filter(({ toolName }) => toolName === 'leaf')
        .map(({ parentCallId }) => parentCallId),
    ).toEqual(['top', 'top']);
  });

  test('a tool that is in the chain already is `tool_cycle`, itself included', async () => {
    const w = world();
    w.add(tool(codeOf('self'), { name: 'self', uses: ['self'] }));
    expect((await w.session.call('self')).output).toEqual({ code: 'tool_cycle', reason: 'cycle' });
  });

  test('eight child calls deep is the most', async () => {
    const w = world();
    for (let level = 0; level <= 9; level++)
      w.add(
        tool(
          async (_: never, context: Context) => {
            const { success, output, error } = await context.tools.call(`l${level + 1}`);
            return success ? output : [level, error.code];
          },
          { name: `l${level}`, uses: [`l${level + 1}`] },
        ),
      );
    expect((await w.session.call('l0')).output).toEqual([8, 'tool_cycle']);
    w.registry.registerOrReplace(tool(() => 'bottom', { name: 'l8' }));
    expect((await w.session.call('l0')).output).toBe('bottom');
  });

  test('internal tools are for their users alone: never listed, unknown by name', async () => {
    const w = world();
    w.add(
      tool(() => 'inside', { name: 'secret_step', exposure: 'internal' }),
      tool(codeOf('secret_step'), { name: 'a', uses: ['secret_step'] }),
    );
    expect(w.session.effectiveTools().names).not.toContain('secret_step');
    expect(w.session.effectiveTools().dropped).toEqual([]);
    expect(outcome(await w.session.call('secret_step'))).toBe('tool_not_found');
    expect(w.session.tool('secret_step')).toBeUndefined();
    expect((await w.session.call('a')).output).toMatchObject({ output: 'inside' });
  });

  test('`uses` replaces the profile; facts, disabling and denials still hold', async () => {
    const registry = new HostToolRegistry();
    registry.registerAll([
      tool(() => 'ran', { name: 'outside' }),
      tool(() => 'ran', { name: 'gated', requires: [{ fact: 'ready', equals: true }] }),
      tool(() => 'ran', { name: 'off' }),
      tool(() => 'ran', { name: 'denied' }),
      ...['outside', 'gated', 'off', 'denied'].map((name) =>
        tool(codeOf(name), { name: `use_${name}`, uses: [name] }),
      ),
    ]);
    registry.defineProfile({
      id: 'p',
      tools: ['use_outside', 'use_gated', 'use_off', 'use_denied'],
    });
    const session = registry.createSession({
      sessionId: 's',
      profile: 'p',
      overrides: { disable: ['off'] },
      rules: [{ effect: 'deny', tools: 'denied' }],
    });
    const via = async (name: string): Promise<unknown> =>
      (await session.call(`use_${name}`)).output;
    expect(await via('outside')).toMatchObject({ output: 'ran' });
    expect(await via('gated')).toEqual({ code: 'tool_not_available', reason: 'fact_unmet' });
    expect(await via('off')).toEqual({ code: 'tool_not_available', reason: 'disabled' });
    expect(await via('denied')).toMatchObject({ code: 'policy_denied' });
    session.setFacts({ ready: true });
    expect(await via('gated')).toMatchObject({ output: 'ran' });
    expect(outcome(await session.call('outside'))).toBe('tool_not_available');
  });

  test("the parent's timeout ends the child, and bounds the deadline that it reads", async () => {
    vi.useFakeTimers();
    const w = world();
    let seen: { deadline?: number | undefined; signal?: AbortSignal } = {};
    w.add(
      tool(
        (_: never, context: Context) => {
          seen = { deadline: context.deadline, signal: context.signal };
          return new Promise(() => {});
        },
        { name: 'child', timeoutMs: 60_000 },
      ),
      tool(calls('child'), { name: 'parent', uses: ['child'], timeoutMs: 100 }),
    );
    const start = Date.now();
    const called = w.session.call('parent');
    await vi.advanceTimersByTimeAsync(100);
    expect(outcome(await called)).toBe('timeout');
    expect((seen.deadline ?? 0) - start).toBeLessThanOrEqual(101);
    expect(seen.signal?.aborted).toBe(true);
    expect(w.of('tool:error').map(({ toolName, error }) => [toolName, error.code])).toEqual([
      ['child', 'cancelled'],
      ['parent', 'timeout'],
    ]);
    await w.settle();
  });

  test("an abort of the parent's signal, and its end, end the child", async () => {
    const w = world();
    const hold = gate();
    w.add(
      tool(() => new Promise(() => {}), { name: 'child' }),
      tool(calls('child'), { name: 'waits', uses: ['child'] }),
      tool(
        (_: never, context: Context) => {
          void context.tools.call('child');
          return 'left';
        },
        { name: 'leaves', uses: ['child'] },
      ),
    );
    const controller = new AbortController();
    const called = w.session.call('waits', {}, { signal: controller.signal });
    controller.abort();
    expect(outcome(await called)).toBe('cancelled');
    expect(outcome(await w.session.call('leaves'))).toBe('left');
    hold.open();
    await w.settle();
  });

  test('a context that outlives its call calls nothing', async () => {
    const w = world();
    const handler = vi.fn();
    let kept: Context | undefined;
    w.add(
      tool(handler, { name: 'child' }),
      tool(
        (_: never, context: Context) => {
          kept = context;
        },
        { name: 'parent', uses: ['child'] },
      ),
    );
    await w.session.call('parent');
    expect(outcome((await kept?.tools.call('child')) as ToolResult)).toBe('cancelled');
    expect(handler).not.toHaveBeenCalled();
    await w.settle();
  });

  test("a parent's approval is not its child's: the child asks for itself", async () => {
    const asked: string[] = [];
    const w = world({
      approver: ({ tool: { name } }) => {
        asked.push(name);
        return name === 'parent' ? 'allow_always' : 'reject_once';
      },
    });
    w.add(
      tool(() => 1, { name: 'child', requiresApproval: true }),
      tool(codeOf('child'), { name: 'parent', uses: ['child'], requiresApproval: true }),
    );
    expect((await w.session.call('parent')).output).toMatchObject({ code: 'approval_denied' });
    expect(asked).toEqual(['parent', 'child']);
  });

  test("in suspend mode a child's ask is refused: `approval_in_child`", async () => {
    const w = world(
      { approvalMode: 'suspend', principal: 'ann' },
      { approvals: { secret: 'a key of thirty-two characters or more' } },
    );
    w.add(
      tool(() => 1, { name: 'child', requiresApproval: true }),
      tool(codeOf('child'), { name: 'parent', uses: ['child'] }),
    );
    expect((await w.session.call('parent')).output).toEqual({
      code: 'approval_denied',
      reason: 'approval_in_child',
    });
  });

  test("a child's wait for a person counts in its parent's time", async () => {
    vi.useFakeTimers();
    const w = world({ approver: () => new Promise(() => {}) });
    w.add(
      tool(() => 1, { name: 'child', requiresApproval: true }),
      tool(calls('child'), { name: 'parent', uses: ['child'], timeoutMs: 100 }),
    );
    const called = w.session.call('parent');
    await vi.advanceTimersByTimeAsync(100);
    expect(outcome(await called)).toBe('timeout');
    expect(await w.session.approvals.pending()).toEqual([]);
    await w.settle();
  });

  test('slots and locks of a parent never deadlock its child', async () => {
    const w = world({ limits: { maxConcurrentCalls: 1 } });
    w.add(
      tool(() => 'ran', { name: 'child', resourceKey: 'file', maxConcurrency: 1 }),
      tool(codeOf('child'), {
        name: 'parent',
        uses: ['child'],
        resourceKey: 'file',
        maxConcurrency: 1,
      }),
    );
    const both = await Promise.all([w.session.call('parent'), w.session.call('parent')]);
    expect(both.map(({ output }) => output)).toEqual([
      expect.objectContaining({ output: 'ran' }),
      expect.objectContaining({ output: 'ran' }),
    ]);
    await turns();
    await w.settle();
  });
});

describe('rule 13: the ids of child calls', () => {
  test('pass over an id that a caller has given to a call in flight', async () => {
    const w = world();
    const held = gate<number>();
    w.add(
      tool(() => held.promise, { name: 'waits' }),
      tool(() => 1, { name: 'inner' }),
      tool(
        (async (
          _: never,
          {
            tools,
          }: {
            tools: { call(name: string, input: object): Promise<{ metadata: { callId: string } }> };
          },
        ) => (await tools.call('inner', {})).metadata.callId) as never,
        {
          name: 'outer',
          uses: ['inner'],
        },
      ),
    );
    const squatter = w.session.call('waits', {}, { callId: 'x/1' });
    expect(await w.session.call('outer', {}, { callId: 'x' })).toMatchObject({
      success: true,
      output: 'x/2',
    });
    held.open(1);
    await squatter;
  });

  test('successive calls inside a gate are not nested in each other', async () => {
    const w = world();
    w.add(
      tool(() => 1, { name: 'inner' }),
      tool(() => 1, { name: 'outer' }),
    );
    const results: Promise<ToolResult>[] = [];
    w.session.use({
      before: ({ tool: { name } }) =>
        void (
          name === 'outer' &&
          results.push(...Array.from({ length: 100 }, () => w.session.call('inner')))
        ),
    });
    results.push(w.session.call('outer'));
    expect((await Promise.all(results)).filter(({ success }) => success)).toHaveLength(101);
    expect(stateOf(w.session).registry.nesting).toBe(0);
  });

  test('a handler that gives an unknown option gets an error', async () => {
    const w = world();
    w.add(
      tool(() => 1, { name: 'inner' }),
      tool(
        async (_: never, { tools }: Context) =>
          (await tools.call('inner', {}, { timeout: 5 } as never)).error?.reason,
        { name: 'outer', uses: ['inner'] },
      ),
    );
    expect((await w.session.call('outer')).output).toBe('invalid_option');
  });

  test('calls made inside the gates of others end before the stack does', async () => {
    const w = world();
    w.add(tool(() => 1, { name: 'a' }));
    const results: Promise<{ error?: { code: string; reason?: string } | undefined }>[] = [];
    w.session.use({ before: () => void results.push(w.session.call('a')) });
    results.push(w.session.call('a'));
    const codes = (await Promise.all(results)).map(({ error }) => error?.code ?? 'ok');
    expect(codes.filter((code) => code === 'tool_cycle')).toHaveLength(1);
    expect(codes.filter((code) => code === 'ok')).toHaveLength(64);
    await expect(
      Promise.race([
        w.registry.close(),
        new Promise((resolve) => void setImmediate(resolve, 'late')),
      ]),
    ).resolves.not.toBe('late');
  });
});
