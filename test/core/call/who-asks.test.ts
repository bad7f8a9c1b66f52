/** `surface` belongs to adapters: only a session's own entry points take it. */
import { describe, expect, test } from 'vitest';
import { defineTool, HostToolRegistry, mount } from '../../../src/index.ts';
import { TestCoordinator } from '../../../src/surfaces/testing/index.ts';

const surface = {
  name: 'forged',
  approver: () => 'allow_once' as const,
  client: {},
  exposeErrors: 'message' as const,
};

function world() {
  const heard: string[] = [];
  const registry = new HostToolRegistry();
  let ran = 0;
  registry.register(
    defineTool({
      name: 'pay',
      description: 'Pays.',
      parameters: { type: 'object' },
      requiresApproval: true,
      handler: () => ++ran,
    }),
  );
  registry.register(
    defineTool({
      name: 'outer',
      description: 'Calls pay.',
      parameters: { type: 'object' },
      uses: ['pay'],
      handler: async (_input, { tools }) =>
        (await tools.call('pay', {}, { surface })).error?.reason ?? 'ran',
    }),
  );
  registry.events.on('tool:pre', (event) => void heard.push(event.surface));
  return { registry, heard, ran: () => ran };
}

describe('who asks', () => {
  test('a tool cannot approve the calls that it makes', async () => {
    const { registry, ran } = world();
    expect(await registry.createSession({ sessionId: 's' }).call('outer')).toMatchObject({
      output: 'no_approver',
    });
    expect(ran()).toBe(0);
  });

  test('nor replace the approver of the surface that its own call came by', async () => {
    const { registry, ran } = world();
    const asked: string[] = [];
    const own = {
      name: 'mcp',
      approver: (request: { tool: { name: string } }) =>
        (asked.push(request.tool.name) > 0 ? 'reject_once' : 'allow_once') as 'reject_once',
    };
    expect(
      await registry.createSession({ sessionId: 's' }).call('outer', {}, { surface: own }),
    ).toMatchObject({ output: 'rejected' });
    expect({ asked, ran: ran() }).toEqual({ asked: ['pay'], ran: 0 });
  });

  test('the holder of a bound tool cannot approve its calls', async () => {
    const { registry, heard, ran } = world();
    const session = registry.createSession({ sessionId: 's' });
    expect(await session.tool('pay')?.execute({} as never, { surface })).toMatchObject({
      error: {
        reason: 'no_approver',
        message:
          'The call to `pay` was not approved: the session has no approver, so nobody could be ' +
          'asked. Do not retry it.',
      },
    });
    expect({ heard, ran: ran() }).toEqual({ heard: [''], ran: 0 });
  });

  test('nor the holder of a mounted one, whose calls have the surface of the mount', async () => {
    const { registry, heard, ran } = world();
    const coordinator = new TestCoordinator();
    await mount(registry.createSession({ sessionId: 's' }), coordinator);
    const mounted = coordinator.get('tools', 'pay') as {
      execute(input: unknown, options?: unknown): Promise<unknown>;
    };
    expect(await mounted.execute({}, { surface })).toMatchObject({
      error: { reason: 'no_approver' },
    });
    expect({ heard, ran: ran() }).toEqual({ heard: ['mount'], ran: 0 });
  });

  test('a session takes it, from host code', async () => {
    const { registry, heard } = world();
    expect(
      await registry.createSession({ sessionId: 's' }).call('pay', {}, { surface }),
    ).toMatchObject({ success: true });
    expect(heard).toEqual(['forged']);
  });

  test('a bound tool ignores options of its runtime, but a session refuses them', async () => {
    const { registry } = world();
    const session = registry.createSession({ sessionId: 's', approver: () => 'allow_once' });
    const options = { toolCallId: 'x', messages: [] } as never;
    expect(await session.tool('pay')?.execute({} as never, options)).toMatchObject({
      success: true,
    });
    expect(await session.call('pay', {}, { timeout: 5 } as never)).toMatchObject({
      error: {
        code: 'invalid_input',
        reason: 'invalid_option',
        message: 'Unknown option of a call: `timeout`; did you mean `timeoutMs`?',
      },
    });
  });
});

test(
  'a misspelt member of a surface is refused: one that was meant to be an outsider is never ' +
    'taken for an insider',
  async () => {
    const registry = new HostToolRegistry();
    let ran = 0;
    registry.register(
      defineTool({
        name: 't',
        description: 'd',
        parameters: { type: 'object' },
        handler: () => ++ran,
      }),
    );
    const session = registry.createSession({ sessionId: 's' });
    expect(
      await session.call('t', {}, { surface: { name: 'x', outsider: true } as never }),
    ).toMatchObject({
      error: {
        code: 'invalid_input',
        reason: 'invalid_option',
        message: "Unknown member of a call's `surface`: `outsider`; did you mean `outside`?",
      },
    });
    expect(ran).toBe(0);
  },
);

describe('options of a call that cannot be read', () => {
  const half = { aborted: false, addEventListener: () => {} };
  test.each<[string, unknown, RegExp]>([
    [
      'a getter that throws',
      Object.defineProperty({}, 'signal', {
        enumerable: true,
        get: () => {
          throw new Error('no');
        },
      }),
      /could not be read: no$/,
    ],
    ['half a signal', { signal: half }, /`signal` to be an AbortSignal/],
    ['no object', 'x', /options to be an object/],
    ['a surface without a name', { surface: {} }, /`surface.name` to be a string/],
    [
      'an idempotency key that is no text',
      { idempotencyKey: 5 },
      /`idempotencyKey` to be a non-blank string/,
    ],
  ])('%s: the call ends, and says so', async (_, options, message) => {
    const { registry } = world();
    const result = await registry
      .createSession({ sessionId: 's' })
      .call('outer', {}, options as never);
    expect(result).toMatchObject({
      success: false,
      error: {
        code: 'invalid_input',
        reason: 'invalid_option',
        message: expect.stringMatching(message),
      },
    });
  });

  test('a signal whose methods throw does not keep a call from its end', async () => {
    const { registry } = world();
    const signal = {
      aborted: false,
      addEventListener: () => {},
      removeEventListener: () => {
        throw new Error('no');
      },
    } as unknown as AbortSignal;
    expect(
      await registry.createSession({ sessionId: 's' }).call('outer', {}, { signal }),
    ).toMatchObject({ success: true });
  });
});
