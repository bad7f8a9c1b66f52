/** Events say who acted: the principal, the surface, the profile, and the input of what failed. */
import { describe, expect, test, vi } from 'vitest';
import { z } from 'zod';
import {
  type AnyEvent,
  type AnyTool,
  defineTool,
  HostToolRegistry,
  type RegistryOptions,
  type SessionOptions,
} from '../../../src/index.ts';

const anything = { type: 'object' } as const;
const t = defineTool({
  name: 't',
  description: 'Answers.',
  parameters: anything,
  handler: () => 'ran',
});

function setup(
  tools: readonly AnyTool<unknown>[] = [t],
  session: Partial<SessionOptions> = {},
  registry: RegistryOptions = {},
) {
  const host = new HostToolRegistry(registry);
  host.registerAll(tools);
  host.defineProfile({ id: 'reader', tools: [] });
  const events: AnyEvent[] = [];
  host.events.on('*', (event) => void events.push(event));
  const made = host.createSession({ sessionId: 's', ...session });
  const of = <T extends AnyEvent['type']>(type: T) =>
    events.filter((event): event is Extract<AnyEvent, { type: T }> => event.type === type);
  return { registry: host, session: made, events, of };
}

/** Whom each event names. */
function named(events: readonly AnyEvent[]): unknown[] {
  return events.map((event) =>
    event.type === 'tools:changed' ? [event.type] : [event.type, event.principal, event.surface],
  );
}

describe('who acted', () => {
  test('every event of a session names principal and surface, "" without one', async () => {
    const busy = defineTool({
      name: 'busy',
      description: 'Reports.',
      parameters: anything,
      handler: (_input, context) => {
        context.progress(1);
        context.emit('note');
        context.emit('note', 1);
        throw new Error('broken');
      },
    });
    const rules = [{ id: 'trial', effect: 'deny', tools: 'busy', shadow: true }] as const;
    const types = ['tool:pre', 'policy:check', 'policy:shadow', 'tool:progress', 'tool:event'];
    for (const [principal, surface] of [
      ['user:ann', 'mcp'],
      [undefined, undefined],
    ]) {
      const { session, events } = setup([busy], principal === undefined ? {} : { principal }, {
        rules,
      });
      const options = surface === undefined ? {} : { surface: { name: surface } };
      await session.call('busy', {}, options);
      await session.close();
      const [who = '', through = ''] = [principal, surface];
      expect(named(events)).toEqual([
        ['session:start', who, ''],
        ...[...types, 'tool:event', 'tool:error'].map((type) => [type, who, through]),
        ['session:end', who, ''],
      ]);
    }
  });

  test('so do events of approvals, denials and late handlers', async () => {
    vi.useFakeTimers();
    const slow = defineTool({
      name: 'slow',
      description: 'Takes its time.',
      parameters: anything,
      timeoutMs: 10,
      handler: () => new Promise((resolve) => setTimeout(resolve, 50)),
    });
    const { session, events } = setup(
      [t, slow],
      {
        principal: 'ann',
        approver: ({ input }) => (input.yes === true ? 'allow_once' : 'reject_once'),
      },
      {
        rules: [
          { effect: 'ask', tools: 't' },
          { effect: 'deny', tools: 't', when: { no: true } },
        ],
      },
    );
    const surface = { name: 'web' };
    await session.call('t', { yes: true }, { surface });
    await session.call('t', { yes: false }, { surface });
    await session.call('t', { no: true }, { surface });
    const late = session.call('slow', {}, { surface });
    await vi.advanceTimersByTimeAsync(100);
    await late;
    const types = new Set(events.map(({ type }) => type));
    for (const type of [
      'approval:required',
      'approval:granted',
      'approval:denied',
      'policy:violation',
      'tool:late',
    ] as const)
      expect(types).toContain(type);
    expect(new Set(named(events.slice(1)).map((one) => (one as string[]).slice(1).join()))).toEqual(
      new Set(['ann,web']),
    );
  });

  test('a call that a handler makes has the surface of its parent', async () => {
    const outer = defineTool({
      name: 'outer',
      description: 'Calls t.',
      parameters: anything,
      uses: ['t'],
      handler: async (_input, { tools }) => (await tools.call('t', {})).success,
    });
    const { session, of } = setup([t, outer]);
    await session.call('outer', {}, { surface: { name: 'mcp' } });
    expect(of('tool:pre').map(({ toolName, surface }) => [toolName, surface])).toEqual([
      ['outer', 'mcp'],
      ['t', 'mcp'],
    ]);
  });

  test('`session:start` names the profile, "" without one', () => {
    const { registry, of } = setup();
    registry.createSession({ sessionId: 'two', profile: 'reader' });
    expect(of('session:start').map(({ profile }) => profile)).toEqual(['', 'reader']);
  });

  test('a refused resume names the surface of the attempt', async () => {
    const { session, of } = setup(
      [t],
      { principal: 'ann', approvalMode: 'suspend' },
      { rules: [{ effect: 'ask' }], approvals: { secret: 'x'.repeat(32) } },
    );
    const first = await session.call('t', {});
    const token = ('approval' in first ? first.approval?.token : undefined) ?? '';
    await session.approvals.resume(token, 'allow_once');
    await session.approvals.resume(token, 'allow_once');
    expect(of('tool:error').at(-1)).toMatchObject({
      principal: 'ann',
      surface: '',
      input: null,
      error: { reason: 'token_used' },
    });
  });
});

describe('the input of a call that failed', () => {
  test('is what was sent, as in `tool:pre`', async () => {
    const { session, of } = setup([t], {}, { rules: [{ effect: 'deny', when: { a: 1 } }] });
    await session.call('t', { a: 1, b: [2] });
    await session.call('none', { tried: 'this' });
    await session.call('t', 'text');
    expect(of('tool:error').map(({ input }) => input)).toEqual([
      { a: 1, b: [2] },
      { tried: 'this' },
      null,
    ]);
    expect(of('tool:error').map(({ input }) => input)).toEqual(
      of('tool:pre').map(({ input }) => input),
    );
  });

  test('is the text that no repair could read', async () => {
    const { session, of } = setup([t], { repair: 'safe' });
    await session.call('t', '{"a": ');
    expect(of('tool:pre')[0]?.input).toBe('{"a": ');
    expect(of('tool:error')[0]?.input).toBe('{"a": ');
  });

  test('has its secrets redacted, also those of paths', async () => {
    const login = defineTool({
      name: 'login',
      description: 'Logs in.',
      parameters: z.object({
        user: z.string(),
        password: z.string().meta({ secret: true }),
        key: z.string(),
      }),
      handler: () => {
        throw new Error('refused');
      },
    });
    const { session, of } = setup([login], {}, { redact: ['key'] });
    await session.call('login', { user: 'hunter-22', password: 'hunter-22', key: 'k-1' });
    const shown = { user: '[redacted]', password: '[redacted]', key: '[redacted]' };
    expect(of('tool:error')[0]?.input).toEqual(shown);
    expect(of('tool:pre')[0]?.input).toEqual(shown);
  });

  test('is what defaults, hooks and people made of it', async () => {
    const make = (parameters: object) =>
      defineTool({
        name: 'fails',
        description: 'Fails.',
        parameters: parameters as never,
        handler: () => {
          throw new Error('broken');
        },
      }) as AnyTool<unknown>;
    const filled = make({ type: 'object', properties: { n: { type: 'number', default: 7 } } });
    const one = setup([filled]);
    await one.session.call('fails', {});
    expect(one.of('tool:pre')[0]?.input).toEqual({});
    expect(one.of('tool:error')[0]?.input).toEqual({ n: 7 });

    const hooked = setup([make(anything)], {
      hooks: [{ before: () => ({ action: 'modify', input: { hooked: true } }) }],
    });
    await hooked.session.call('fails', {});
    expect(hooked.of('tool:error')[0]?.input).toEqual({ hooked: true });

    const edited = setup(
      [make(anything)],
      { approver: () => ({ decision: 'allow_once', input: { edited: true } }) },
      { rules: [{ effect: 'ask' }] },
    );
    await edited.session.call('fails', {});
    expect(edited.of('tool:error')[0]?.input).toEqual({ edited: true });
  });

  test('is not what the handler made of it', async () => {
    const greedy = defineTool({
      name: 'greedy',
      description: 'Writes into its input.',
      parameters: anything,
      handler: (input: Record<string, unknown>) => {
        input.mine = 'changed';
        throw new Error('broken');
      },
    });
    const { session, of } = setup([greedy]);
    await session.call('greedy', { a: 1 });
    expect(of('tool:error')[0]?.input).toEqual({ a: 1 });
  });

  test('is a copy of its own for one listener, and frozen for several', async () => {
    const { session, registry, of } = setup([t], {}, { default: 'deny' });
    await session.call('t', { deep: { a: 1 } });
    registry.events.on('tool:error', () => {});
    await session.call('t', { deep: { a: 1 } });
    expect(
      of('tool:error').map(({ input }) => Object.isFrozen((input as { deep: object }).deep)),
    ).toEqual([false, true]);
  });
});
