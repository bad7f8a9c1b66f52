/**
 * Ways around a gate that were reported for other projects: one test each, which shows that it is
 * closed here. `docs/public-reports.md` tells of them.
 */
import { afterEach, describe, expect, test, vi } from 'vitest';
import {
  type ApprovalRequest,
  defineTool,
  type Hook,
  HostToolRegistry,
  mount,
  type SessionOptions,
  type ToolContext,
  type ToolSession,
} from '../src/index.ts';
import { TestCoordinator } from '../src/surfaces/testing/index.ts';
import { createWorkflow, runHostLoop, toolSpecs } from '../src/surfaces/workflow/index.ts';

const parameters = { type: 'object', properties: { path: { type: 'string' } } } as const;

/** A tool that must not run, what it was run with, and a tool that calls it. */
function world(
  more: Partial<SessionOptions> = {},
  rm: Record<string, unknown> = { requiresApproval: true },
  forRegistry: object = {},
) {
  const ran: unknown[] = [];
  const registry = new HostToolRegistry({
    logger: { warn: () => {}, error: () => {} },
    ...forRegistry,
  });
  const definition = defineTool({
    name: 'rm',
    description: 'Removes a file.',
    parameters,
    handler: (input) => void ran.push(input),
    ...rm,
  });
  const parent = defineTool({
    name: 'agent',
    description: 'Lets another agent work.',
    parameters,
    uses: ['rm'],
    handler: async (input, { tools }: ToolContext) =>
      (await tools.call('rm', input)).error?.code ?? 'it ran',
  });
  registry.registerAll([definition, parent]);
  const session = registry.createSession({
    sessionId: 's',
    principal: 'ann',
    ...more,
  } as SessionOptions);
  return { registry, session, ran, definition };
}

/** An approver that keeps what it was asked, and rejects all but what it is told to allow. */
function rejecting(
  keep: (request: ApprovalRequest) => unknown,
  allows: (request: ApprovalRequest) => boolean = () => false,
): SessionOptions['approver'] {
  return (request) => {
    keep(request);
    return allows(request) ? 'allow_once' : 'reject_once';
  };
}

/** Every way by which a call of `rm` can come in: what each of them answers. */
const ways: Readonly<
  Record<string, (session: ToolSession, input: { path: string }) => Promise<string | undefined>>
> = {
  'session.call': async (session, input) => (await session.call('rm', input)).error?.code,
  'a host tool': async (session, input) =>
    (
      await session
        .tools()
        .find(({ name }) => name === 'rm')
        ?.execute(input)
    )?.error?.code,
  'a batch': async (session, input) =>
    (await session.executeBatch([{ id: 'b', name: 'rm', arguments: input }])).results[0]?.result
      .error?.code,
  'a tool that calls others': async (session, input) =>
    String((await session.call('agent', input)).output),
  'a mount': async (session, input) => {
    const coordinator = new TestCoordinator();
    await mount(session, coordinator);
    const mounted = coordinator.get('tools', 'rm') as {
      execute(input: unknown): ReturnType<ToolSession['call']>;
    };
    return (await mounted.execute(input)).error?.code;
  },
  'a host loop': async (session, input) => {
    const workflow = createWorkflow({
      tools: toolSpecs(session),
      profiles: { all: ['rm'] },
      profile: 'all',
    });
    let turn = 0;
    const generate = () =>
      turn++ === 0 ? { toolCalls: [{ id: 'l', name: 'rm', arguments: input }] } : { text: 'Done.' };
    return (await runHostLoop({ workflow, session, generate, input: 'Go.' })).results[0]?.result
      .error?.code;
  },
};
const everyWay = Object.entries(ways);

describe('a call that a person rejected', () => {
  // langchain-ai/langchain#40492
  test.each(everyWay)('does not run when it is sent again, by %s', async (_, send) => {
    const asked: unknown[] = [];
    const { session, ran } = world({ approver: rejecting(({ input }) => asked.push(input)) });
    const call = { callId: 'the-call' };
    expect((await session.call('rm', { path: 'a' }, call)).error?.code).toBe('approval_denied');
    expect((await session.call('rm', { path: 'a' }, call)).error?.code).toBe('approval_denied');
    expect(await send(session, { path: 'a' })).toBe('approval_denied');
    expect(ran).toEqual([]);
    expect(asked).toHaveLength(3);
  });

  // langchain-ai/langchain#40492
  test('does not run with the other calls of its batch, which do', async () => {
    const { session, ran } = world({
      approver: ({ input }) => (input.path === 'no' ? 'reject_once' : 'allow_once'),
    });
    const calls = ['yes', 'no', 'also'].map((path) => ({
      id: path,
      name: 'rm',
      arguments: { path },
    }));
    const { results } = await session.executeBatch(calls);
    expect(results.map(({ result }) => result.error?.code)).toEqual([
      undefined,
      'approval_denied',
      undefined,
    ]);
    expect(ran).toEqual([{ path: 'yes' }, { path: 'also' }]);
  });
});

describe('a verdict is read by the library, not by the tool', () => {
  // google/adk-python#7148
  test.each<[string, (ran: unknown[]) => Record<string, unknown>]>([
    ['a handler', (ran) => ({ handler: () => void ran.push('handler') })],
    [
      'a generator',
      (ran) => ({
        handler: async function* () {
          ran.push('generator');
          yield 1;
        },
      }),
    ],
    [
      'a handler of each session',
      (ran) => ({
        handler: undefined,
        scope: 'session',
        create: () => ({ handler: () => void ran.push('created') }),
      }),
    ],
    [
      'an executor',
      (ran) => ({ handler: undefined, executor: { execute: () => void ran.push('executor') } }),
    ],
  ])('a denied call reaches no %s that looks at nothing', async (_, more) => {
    const ran: unknown[] = [];
    const { session } = world(
      { approver: () => 'reject_once' },
      { requiresApproval: true, ...more(ran) },
    );
    expect((await session.call('rm', {})).error?.code).toBe('approval_denied');
    expect(ran).toEqual([]);
  });

  // google/adk-python#7148
  test(
    'a call that was suspended and is declined afterwards does not run, and cannot be approved ' +
      'any more',
    async () => {
      const { session, ran } = world(
        { approvalMode: 'suspend' },
        { requiresApproval: true },
        { approvals: { secret: 's'.repeat(32) } },
      );
      expect((await session.call('rm', { path: 'a' })).error?.code).toBe('approval_pending');
      const [pending] = await session.approvals.pending();
      const token = pending?.token ?? '';
      expect(
        (await session.approvals.resume(token, { decision: 'reject_once', by: 'ann' })).error?.code,
      ).toBe('approval_denied');
      expect(
        (await session.approvals.resume(token, { decision: 'allow_once', by: 'ann' })).error,
      ).toMatchObject({
        code: 'approval_denied',
        reason: 'token_used',
      });
      expect(ran).toEqual([]);
    },
  );
});

describe('a tool that is found late', () => {
  const late = (ran: unknown[]) =>
    defineTool({
      name: 'late',
      description: 'Removes.',
      parameters,
      requiresApproval: true,
      handler: () => void ran.push('late'),
    });

  // mastra-ai/mastra#15776
  test.each<[string, (session: ToolSession, registry: HostToolRegistry, ran: unknown[]) => void]>([
    ['registered while the session runs', (_, registry, ran) => void registry.register(late(ran))],
    [
      'registered in a scope',
      (_, registry, ran) => void registry.scope('plugin').register(late(ran)),
    ],
    ['given to the session alone', (session, _, ran) => void session.register(late(ran))],
  ])('asks as it would have from the start: %s', async (_, add) => {
    const asked: string[] = [];
    const { session, registry, ran } = world({
      approver: rejecting(({ tool }) => asked.push(tool.name)),
    });
    add(session, registry, ran);
    const found = session.tools().find(({ name }) => name === 'late');
    expect(found?.requiresApproval).toBe(true);
    expect((await found?.execute({}))?.error?.code).toBe('approval_denied');
    expect((await session.call('late', {})).error?.code).toBe('approval_denied');
    expect([asked, ran]).toEqual([['late', 'late'], []]);
  });
});

describe('deny beats ask', () => {
  const deny = {
    id: 'never',
    effect: 'deny',
    tools: 'rm',
    when: { path: { glob: 'secret*' } },
    reason: 'no',
  } as const;
  const asks = {
    'a rule': { rules: [{ effect: 'ask', tools: 'rm' }] },
    'a policy': { policies: [{ id: 'asks', check: () => ({ effect: 'ask' }) }] },
  } as const;

  // anthropics/claude-code#39344
  test.each(Object.entries(asks))(
    'whoever asks beside it: %s, and the tool itself',
    async (_, ask) => {
      for (const [forRegistry, forSession] of [
        [{ rules: [deny] }, ask],
        [ask, { rules: [deny] }],
        [
          {},
          { ...ask, rules: ['rules' in ask ? ask.rules[0] : { effect: 'ask', tools: 'rm' }, deny] },
        ],
      ]) {
        const approver = vi.fn(() => 'allow_always' as const);
        const { session, ran } = world(
          { approver, ...forSession } as never,
          { requiresApproval: true },
          forRegistry,
        );
        expect((await session.call('rm', { path: 'secret.txt' })).error).toMatchObject({
          code: 'policy_denied',
          ruleId: 'never',
        });
        expect(approver).not.toHaveBeenCalled();
        expect(ran).toEqual([]);
      }
    },
  );
});

describe('a hook', () => {
  afterEach(() => void vi.useRealTimers());

  // anthropics/claude-code#82143, anthropics/claude-code#94362
  test.each<[string, unknown]>([
    [
      'throws',
      () => {
        throw new Error('no such file');
      },
    ],
    ['rejects', () => Promise.reject(new Error('permission denied'))],
    ['answers nonsense', () => 'deny'],
    ['answers an action that nobody knows', () => ({ action: 'block' })],
    ['answers false', () => false],
    [
      'answers by a getter that throws',
      () => ({
        get action() {
          throw new Error('no');
        },
      }),
    ],
    ['answers another input that is none', () => ({ action: 'modify', input: 5 })],
  ])('that %s lets no call through', async (_, before) => {
    for (const [, send] of everyWay) {
      const { session, ran } = world({ hooks: [{ before } as Hook] }, {});
      expect(await send(session, { path: 'a' })).not.toBeUndefined();
      expect(ran).toEqual([]);
    }
    const { session } = world({ hooks: [{ before } as Hook] }, {});
    expect((await session.call('rm', {})).error?.code).toBe('policy_error');
  });

  // anthropics/claude-code#82143
  test('that never answers is given up, and its call refused', async () => {
    vi.useFakeTimers();
    const { session, ran } = world(
      { hooks: [{ before: () => new Promise(() => {}) }] },
      {},
      { policyTimeoutMs: 1_000 },
    );
    const result = session.call('rm', {});
    await vi.advanceTimersByTimeAsync(1_000);
    expect((await result).error?.code).toBe('policy_error');
    expect(ran).toEqual([]);
  });

  // anthropics/claude-code#94362
  test.each([5, 'guard.py', {}, { befor: () => {} }])(
    'that could never be called is refused when it is added: %j',
    (hook) => {
      expect(() => world({ hooks: [hook] } as never)).toThrow(
        expect.objectContaining({ name: 'MisuseError' }),
      );
    },
  );

  // anthropics/claude-code#44534
  test.each(everyWay)(
    'that denies is heeded for every tool and by every way: %s',
    async (_, send) => {
      const heard: string[] = [];
      const before: Hook['before'] = ({ tool }) => {
        heard.push(tool.name);
        return tool.name === 'rm' ? { action: 'deny', reason: 'not_here' } : undefined;
      };
      const { session, ran } = world({ hooks: [{ before }] }, {});
      expect(await send(session, { path: 'a' })).toBe('policy_denied');
      expect(heard.at(-1)).toBe('rm');
      expect(ran).toEqual([]);
    },
  );

  // anthropics/claude-code#44534
  test('that denies a tool that starts others starts none of them', async () => {
    const { session, ran } = world(
      {
        hooks: [
          {
            before: ({ tool }) =>
              tool.name === 'agent' ? { action: 'deny', reason: 'no_agents' } : undefined,
          },
        ],
      },
      { parallelSafe: true },
    );
    const { results } = await session.executeBatch([
      { id: '1', name: 'agent', arguments: { path: 'by the agent' } },
      { id: '2', name: 'rm', arguments: { path: 'alone' } },
    ]);
    expect(results.map(({ result }) => result.error?.reason)).toEqual(['no_agents', undefined]);
    expect(ran).toEqual([{ path: 'alone' }]);
  });
});

describe('an approval', () => {
  // UKGovernmentBEIS/inspect_ai#4944
  test(
    'is for the arguments that were shown, once: it opens no other call, whichever way that ' +
      'comes',
    async () => {
      for (const [, send] of everyWay) {
        const shown: unknown[] = [];
        const { session, ran } = world({
          approver: rejecting(
            ({ input }) => shown.push(input),
            ({ input }) => input.path === 'a',
          ),
        });
        expect((await session.call('rm', { path: 'a' })).success).toBe(true);
        expect(await send(session, { path: '/' })).toBe('approval_denied');
        expect(shown).toEqual([{ path: 'a' }, { path: '/' }]);
        expect(ran).toEqual([{ path: 'a' }]);
      }
    },
  );

  // UKGovernmentBEIS/inspect_ai#4944
  test(
    'cannot be gone round by reaching for the handler: nothing that a host or a surface holds ' +
      'has it',
    () => {
      const handler = () => 'ran';
      const { session, registry, definition } = world({}, { handler });
      const tool = session.tools().find(({ name }) => name === 'rm');
      for (const held of [definition, registry, session, tool])
        expect(reachable(held)).not.toContain(handler);
    },
  );

  // temporalio/sdk-typescript#2418
  test.each(everyWay)('that a tool demands is demanded by every way: %s', async (_, send) => {
    const { session, ran } = world();
    // Nobody is there to ask: that is a refusal, not a permission.
    expect(await send(session, { path: 'a' })).toBe('approval_denied');
    expect(ran).toEqual([]);
  });

  // temporalio/sdk-typescript#2418
  test.each(['requireConfirmation', 'requireApproval', 'needApproval', 'requiresAproval'])(
    'that is demanded by a field that does not exist is no definition: %s',
    (field) => {
      expect(() => world({}, { [field]: true })).toThrow(
        expect.objectContaining({ code: 'invalid_definition' }),
      );
    },
  );

  // temporalio/sdk-typescript#2418
  test.each(everyWay)('that is demanded as `needsApproval` is demanded by: %s', async (_, send) => {
    const { session, ran } = world({}, { requiresApproval: undefined, needsApproval: true });
    expect(await send(session, { path: 'a' })).toBe('approval_denied');
    expect(ran).toEqual([]);
  });
});

/** All that can be reached from here by reading members, three levels deep. */
function reachable(value: unknown, depth = 3): unknown[] {
  if ((typeof value !== 'object' && typeof value !== 'function') || value === null || depth === 0)
    return [value];
  return [
    value,
    ...Reflect.ownKeys(value).flatMap((key) =>
      reachable((value as Record<PropertyKey, unknown>)[key], depth - 1),
    ),
  ];
}
