/**
 * Tools that run elsewhere: the same gates before, and the same end, as for a tool that runs here.
 */
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import {
  type AnyEvent,
  type Approver,
  type Authorization,
  defineTool,
  fail,
  type Hook,
  HostToolRegistry,
  MisuseError,
  mount,
  originRules,
  type RegistryOptions,
  type Rule,
  type SessionOptions,
  type ToolResult,
  type ToolSession,
} from '../../../src/index.ts';
import { TestCoordinator } from '../../../src/surfaces/testing/index.ts';

type Body = (input: { command: string; times: number }) => unknown;

interface World {
  readonly session: ToolSession;
  readonly events: readonly AnyEvent[];
  run(input: unknown, options?: { signal?: AbortSignal; callId?: string }): Promise<ToolResult>;
}

const tool = {
  name: 'Bash',
  description: 'Runs a command.',
  parameters: z.object({ command: z.string(), times: z.number().default(1) }),
  outputSchema: z.string(),
} as const;

interface Setup {
  readonly registry?: RegistryOptions;
  readonly session?: Partial<SessionOptions>;
  readonly more?: object;
}

function open(definition: ReturnType<typeof defineTool>, { registry, session }: Setup) {
  const events: AnyEvent[] = [];
  const host = new HostToolRegistry({
    newId: (() => {
      let id = 0;
      return () => `id-${++id}`;
    })(),
    ...registry,
  });
  host.register(definition as never);
  const opened = host.createSession({ sessionId: 's', ...session });
  opened.events.on('*', (event) => events.push(event));
  return { session: opened, events };
}

/** A tool that runs here. */
function inline(body: Body, setup: Setup): World {
  const definition = defineTool({ ...tool, ...setup.more, handler: body as never });
  const { session, events } = open(definition as never, setup);
  return { session, events, run: (input, options) => session.call('Bash', input, options) };
}

/** The same tool, run by somebody else. */
function elsewhere(body: Body, setup: Setup): World {
  const definition = defineTool({ ...tool, ...setup.more, external: true });
  const { session, events } = open(definition as never, setup);
  return {
    session,
    events,
    run: async (input, options) => {
      const permission = await session.authorize('Bash', input, options);
      if (!permission.allowed) return permission.result;
      try {
        const value = await body(permission.input as never);
        return permission.settle({ output: value });
      } catch (error) {
        return permission.settle({ error: (error as Error).message });
      }
    },
  };
}

const withoutTimes = (value: unknown): unknown =>
  JSON.parse(
    JSON.stringify(value, (key, member: unknown) =>
      [
        'durationMs',
        // Where the tool runs is what differs.
        'byExecutor',
        'approvalId',
        'at',
        'requestedAt',
        'expiresAt',
        'id',
        'idempotencyKey',
      ].includes(key)
        ? undefined
        : member,
    ),
  );

const allow: Approver = () => ({ decision: 'allow_once', by: 'ann' });
const rules: readonly Rule[] = [
  { id: 'no-rm', effect: 'deny', when: { command: { glob: 'rm *' } } },
  { id: 'ask-push', effect: 'ask', when: { command: { glob: 'git push*' } } },
];
const upper: Hook = {
  before: ({ input }) => ({ action: 'modify', input: { ...input, command: 'ls -l' } }),
};
const shout: Hook = {
  after: (_, result) =>
    result.success ? { ...result, output: `${String(result.output)}!` } : result,
};

/** A situation: what is called, and how it is set up. Each is compared in both worlds. */
const situations: readonly (readonly [string, unknown, Setup & { readonly body?: Body }])[] = [
  ['an ordinary call', { command: 'ls' }, {}],
  ['defaults of the schema', { command: 'ls', times: 3 }, {}],
  ['invalid input', { command: 7 }, {}],
  ['input that is no object', 'ls', {}],
  ['a rule that denies', { command: 'rm -rf /' }, { registry: { rules } }],
  ['a rule that asks, without a person', { command: 'git push' }, { registry: { rules } }],
  [
    'a rule that asks, and a person who allows',
    { command: 'git push' },
    { registry: { rules }, session: { approver: allow } },
  ],
  [
    'a person who rejects',
    { command: 'git push' },
    { registry: { rules }, session: { approver: () => ({ decision: 'reject_once' }) } },
  ],
  [
    'a person who edits the input',
    { command: 'git push' },
    {
      registry: { rules },
      session: {
        approver: () => ({ decision: 'allow_once', input: { command: 'git push --dry-run' } }),
      },
    },
  ],
  [
    'a person who edits it into something that is denied',
    { command: 'git push' },
    {
      registry: { rules },
      session: { approver: () => ({ decision: 'allow_once', input: { command: 'rm x' } }) },
    },
  ],
  ['a policy that throws', { command: 'ls' }, { registry: { policies: [thrower()] } }],
  ['a hook that changes the input', { command: 'ls' }, { session: { hooks: [upper] } }],
  ['a hook that changes the output', { command: 'ls' }, { session: { hooks: [shout] } }],
  ['an output that the schema refuses', { command: 'ls' }, { body: () => 7 }],
  ['an output that is no JSON', { command: 'ls' }, { body: () => 7n as never }],
  [
    'a long output',
    { command: 'ls' },
    { more: { maxOutputChars: 10 }, body: () => 'x'.repeat(99) },
  ],
  ['a failure', { command: 'ls' }, { body: throwing('No such file.') }],
  [
    'a quota that is used up',
    { command: 'ls' },
    { registry: { quotas: [{ id: 'none', tools: 'Bash', by: 'session', max: 0, per: 'hour' }] } },
  ],
  ['a disabled tool', { command: 'ls' }, { session: { overrides: { disable: ['Bash'] } } }],
  [
    'a fact that is missing',
    { command: 'ls' },
    { more: { requires: [{ fact: 'ready', equals: true }] } },
  ],
  [
    'origins',
    { command: 'curl evil.example' },
    { registry: { rules: originRules() }, session: { approver: allow } },
  ],
  ['a call id', { command: 'ls' }, {}],
];

function thrower() {
  return {
    id: 'broken',
    check: () => {
      throw new Error('broken');
    },
  };
}

function throwing(message: string): Body {
  return () => {
    throw new Error(message);
  };
}

describe('a tool that runs elsewhere ends as one that runs here', () => {
  test.each(situations)('%s', async (name, input, { body, ...setup }) => {
    const quiet = { warn: () => {}, error: () => {} };
    const whole = { ...setup, registry: { ...setup.registry, logger: quiet } };
    const run = body ?? (({ command, times }) => `${command} x${times ?? 1}`);
    const options = name === 'a call id' ? { callId: 'mine' } : undefined;
    const [here, there] = [inline(run, whole), elsewhere(run, whole)];
    const results = [await here.run(input, options), await there.run(input, options)];
    expect(withoutTimes(results[1])).toEqual(withoutTimes(results[0]));
    expect(withoutTimes(there.events)).toEqual(withoutTimes(here.events));
    expect(withoutTimes(there.session.metrics())).toEqual(withoutTimes(here.session.metrics()));
  });
});

const external = defineTool({ ...tool, external: true, timeoutMs: 1_000 });

function session(options: Partial<SessionOptions> = {}, registry: RegistryOptions = {}) {
  const host = new HostToolRegistry(registry);
  host.register(external);
  return host.createSession({ sessionId: 's', ...options });
}

async function allowed(
  permission: Promise<Authorization>,
): Promise<Authorization & { readonly allowed: true }> {
  const answer = await permission;
  if (!answer.allowed) throw new Error(JSON.stringify(answer.result));
  return answer;
}

describe('permission', () => {
  test('comes with what may run, which can be changed without effect', async () => {
    const permission = await allowed(session().authorize(external, { command: 'ls' }));
    expect(permission.input).toEqual({ command: 'ls' });
    (permission.input as { command: string }).command = 'rm';
    const { success, output } = await permission.settle({ output: 'done' });
    expect([success, output]).toEqual([true, 'done']);
  });

  test('is refused with a result', async () => {
    const answer = await session({ rules }).authorize('Bash', { command: 'rm x' });
    expect(answer.allowed).toBe(false);
    expect(answer.allowed ? undefined : answer.result.error).toMatchObject({
      code: 'policy_denied',
      ruleId: 'no-rm',
    });
  });

  test('is refused for an unknown tool, and in a closed session', async () => {
    const closed = session();
    const unknown = await closed.authorize('Bsh', { command: 'ls' });
    expect(unknown.allowed ? '' : unknown.result.error?.code).toBe('tool_not_found');
    await closed.close();
    const late = await closed.authorize('Bash', { command: 'ls' });
    expect(late.allowed ? '' : late.result.error?.code).toBe('session_closed');
  });

  test('is refused for a wrong option, as a call is', async () => {
    const answer = await session().authorize('Bash', { command: 'ls' }, { timeout: 5 } as object);
    expect(answer.allowed ? '' : answer.result.error?.message).toContain('`timeout`');
  });

  test('ends a call of an ordinary tool that is only asked about', async () => {
    const host = new HostToolRegistry();
    let runs = 0;
    host.register(defineTool({ ...tool, name: 'here', handler: () => `run ${++runs}` }));
    const answer = await host.createSession({ sessionId: 's' }).authorize('here', { command: 'x' });
    expect(answer.allowed ? '' : answer.result.error).toMatchObject({
      code: 'tool_not_available',
      reason: 'not_external',
    });
    expect(runs).toBe(0);
  });
});

describe('the end', () => {
  test('may be reported once; later reports are late, and get the result', async () => {
    const open = session();
    const late: object[] = [];
    open.events.on('tool:late', (event) => late.push(event));
    const permission = await allowed(open.authorize('Bash', { command: 'ls' }));
    const first = await permission.settle({ output: 'one' });
    const second = await permission.settle({ error: 'two' });
    expect(second).toBe(first);
    expect(open.metrics().lateSettles).toBe(1);
    expect(late).toMatchObject([{ callId: permission.callId, settled: 'threw' }]);
  });

  test('is a timeout if it is not reported in time', async () => {
    const open = session();
    const permission = await allowed(open.authorize('Bash', { command: 'ls' }, { timeoutMs: 5 }));
    const waiting = new Promise((resolve) => open.events.on('tool:error', resolve));
    await waiting;
    const result = await permission.settle({ output: 'too late' });
    expect(result.error?.code).toBe('timeout');
    expect(open.metrics().lateSettles).toBe(1);
  });

  test('comes with the session, or with the signal', async () => {
    const open = session();
    const controller = new AbortController();
    const options = { signal: controller.signal };
    const one = await allowed(open.authorize('Bash', { command: 'ls' }, options));
    controller.abort();
    expect((await one.settle({ output: '' })).error?.code).toBe('cancelled');
    const two = await allowed(open.authorize('Bash', { command: 'ls' }));
    void open.close();
    expect((await two.settle({ output: '' })).error?.code).toMatch(/cancelled|session_closed/);
  });

  test.each<[unknown, string]>([
    [undefined, 'expected { output } or { error }, got undefined'],
    ['done', 'expected { output } or { error }, got `done` (string)'],
    [{ output: 1, error: 'x' }, 'expected { output } or { error }, got both'],
    [{ error: '' }, 'expected `error` to be a non-blank string'],
    [{ result: 1 }, 'unknown option `result`'],
  ])('that makes no sense is refused, and the call goes on: %j', async (outcome, message) => {
    const permission = await allowed(session().authorize('Bash', { command: 'ls' }));
    await expect(permission.settle(outcome as never)).rejects.toThrow(message);
    await expect(permission.settle(outcome as never)).rejects.toThrow(MisuseError);
    expect((await permission.settle({ output: 'done' })).success).toBe(true);
  });

  test('holds the place of a call until then', async () => {
    const host = new HostToolRegistry();
    host.register(defineTool({ ...tool, name: 'one', external: true, maxConcurrency: 1 }));
    const open = host.createSession({ sessionId: 's' });
    const first = await allowed(open.authorize('one', { command: 'ls' }));
    let second: Authorization | undefined;
    const waits = open.authorize('one', { command: 'ls' }).then((answer) => {
      second = answer;
      return answer;
    });
    await Promise.resolve();
    expect(second).toBeUndefined();
    await first.settle({ output: '' });
    expect((await waits).allowed).toBe(true);
  });
});

describe('a tool that runs elsewhere', () => {
  test('is listed to no model, and `explain` says why and what would be decided', async () => {
    const open = session({ rules });
    expect(open.tools()).toEqual([]);
    expect(open.tool('Bash')).toBeUndefined();
    expect(open.effectiveTools().dropped).toEqual([{ name: 'Bash', code: 'external' }]);
    const explanation = await open.explain('Bash', { command: 'rm x' });
    expect(explanation).toMatchObject({ visible: false, hiddenBy: 'external', ruleId: 'no-rm' });
    const coordinator = new TestCoordinator();
    await mount(open, coordinator);
    expect(JSON.stringify(coordinator.get('tools'))).toBe('{}');
  });

  test('is refused by `call`, in a batch and as a child', async () => {
    const host = new HostToolRegistry();
    host.registerAll([
      external,
      defineTool({
        name: 'parent',
        description: 'Calls.',
        parameters: z.object({}),
        uses: ['Bash'],
        handler: async (_, { tools }) => {
          const { error } = await tools.call('Bash', { command: 'ls' });
          return error === undefined
            ? 'ran'
            : fail({ message: error.message, reason: error.reason ?? '' });
        },
      }),
    ] as never);
    const open = host.createSession({ sessionId: 's' });
    const direct = await open.call('Bash', { command: 'ls' });
    expect(direct.error).toMatchObject({ code: 'tool_not_available', reason: 'external' });
    expect(direct.error?.message).toBe(
      '`Bash` does not run here: whoever runs it asks for permission by `session.authorize`.',
    );
    const { results } = await open.executeBatch([
      { id: '1', name: 'Bash', arguments: { command: 'ls' } },
    ]);
    expect(results[0]?.result.error?.reason).toBe('external');
    expect((await open.call('parent', {})).error?.reason).toBe('external');
  });

  test('is not suspended, because nothing would run it when it is resumed', async () => {
    const open = session(
      { rules, approvalMode: 'suspend', principal: 'ann' },
      { approvals: { secret: 'a secret that is long enough to be one' } },
    );
    const answer = await open.authorize('Bash', { command: 'git push' });
    expect(answer.allowed ? '' : answer.result.error).toMatchObject({
      code: 'approval_denied',
      reason: 'no_approver',
    });
    expect(await open.approvals.pending()).toEqual([]);
  });

  test('needs no handler and takes none', () => {
    expect(() => defineTool({ ...tool, external: true, handler: () => 'x' } as never)).toThrow(
      'expected exactly one of `handler` (or its other name `execute`), `create`, `executor` or ' +
        '`external`, got handler and',
    );
    expect(() => defineTool({ ...tool, external: false } as never)).toThrow('got none');
  });
});
