/** What a host changes while a session lives: grants, definitions, registrations, rules. */
import { describe, expect, test } from 'vitest';
import { type ApprovalAnswer, defineTool, HostToolRegistry } from '../../../src/index.ts';
import { gate, turns } from './world.ts';

const anything = { type: 'object' } as const;

describe('a grant that is taken back before its call has started', () => {
  function world(first: ApprovalAnswer = 'allow_always', second: ApprovalAnswer = 'reject_once') {
    const held = gate<number>();
    const registry = new HostToolRegistry();
    let runs = 0;
    registry.register(
      defineTool({
        name: 'hold',
        description: 'd',
        parameters: anything,
        resourceKey: 'k',
        handler: () => held.promise,
      }),
    );
    registry.register(
      defineTool({
        name: 'pay',
        description: 'd',
        parameters: anything,
        resourceKey: 'k',
        requiresApproval: true,
        handler: () => ++runs,
      }),
    );
    const answers = [first, second] as const;
    let asked = 0;
    const session = registry.createSession({
      sessionId: 's',
      approver: () => answers[Math.min(asked++, 1)] as ApprovalAnswer,
    });
    return { held, registry, session, runs: () => runs, asked: () => asked };
  }

  test('while it waits for a lock: a person is asked again', async () => {
    const { held, session, runs, asked } = world();
    await session.call('pay');
    const holding = session.call('hold');
    const waiting = session.call('pay');
    await turns();
    for (const { id } of session.approvals.grants()) session.approvals.revoke(id);
    held.open(1);
    await holding;
    expect(await waiting).toMatchObject({
      success: false,
      error: { code: 'approval_denied', reason: 'rejected' },
    });
    expect({ runs: runs(), asked: asked() }).toEqual({ runs: 1, asked: 2 });
  });

  test('while it waits for a lock, with its last use: a person is asked again', async () => {
    const { held, session, runs, asked } = world({ decision: 'allow_always', grant: { uses: 1 } });
    await session.call('pay');
    const [grant] = session.approvals.grants();
    const holding = session.call('hold');
    const waiting = session.call('pay');
    await turns();
    expect(session.approvals.grants()).toEqual([]);
    expect(session.approvals.revoke(grant?.id as string)).toBe(true);
    held.open(1);
    await holding;
    expect(await waiting).toMatchObject({
      success: false,
      error: { code: 'approval_denied', reason: 'rejected' },
    });
    expect({ runs: runs(), asked: asked() }).toEqual({ runs: 1, asked: 2 });
  });

  test('with its last use, and whose call has started or ended, is gone', async () => {
    const { held, session } = world({ decision: 'allow_always', grant: { uses: 1 } });
    await session.call('pay');
    const [grant] = session.approvals.grants();
    const holding = session.call('hold');
    const controller = new AbortController();
    const waiting = session.call('pay', {}, { signal: controller.signal });
    await turns();
    controller.abort();
    await waiting;
    expect(session.approvals.revoke(grant?.id as string)).toBe(false);
    held.open(1);
    await holding;
  });

  test('by a later rejection of the whole tool: it stays rejected', async () => {
    const { held, session, runs } = world('allow_always', {
      decision: 'reject_always',
      grant: { match: 'tool' },
    });
    await session.call('pay');
    const holding = session.call('hold');
    const waiting = session.call('pay');
    await turns();
    await session.call('pay', { other: 1 });
    held.open(1);
    await holding;
    expect(await waiting).toMatchObject({
      success: false,
      error: { code: 'approval_denied', reason: 'rejected_always' },
    });
    expect(runs()).toBe(1);
  });

  test('by a listener of the grant', async () => {
    const { registry, session, runs } = world();
    await session.call('pay');
    registry.events.on(
      'approval:granted',
      ({ approvalId }) => void session.approvals.revoke(approvalId),
    );
    expect(await session.call('pay')).toMatchObject({ error: { code: 'approval_denied' } });
    expect(runs()).toBe(1);
  });

  test('or that has run out by then', async () => {
    const held = gate<number>();
    let now = 0;
    const registry = new HostToolRegistry({ now: () => now });
    registry.register(
      defineTool({
        name: 'hold',
        description: 'd',
        parameters: anything,
        resourceKey: 'k',
        handler: () => held.promise,
      }),
    );
    registry.register(
      defineTool({
        name: 'pay',
        description: 'd',
        parameters: anything,
        resourceKey: 'k',
        requiresApproval: true,
        handler: () => 1,
      }),
    );
    let asked = 0;
    const session = registry.createSession({
      sessionId: 's',
      approver: () =>
        asked++ === 0 ? { decision: 'allow_always', grant: { expiresInMs: 50 } } : 'reject_once',
    });
    await session.call('pay');
    const holding = session.call('hold');
    const waiting = session.call('pay');
    await turns();
    now = 60;
    held.open(1);
    await holding;
    expect(await waiting).toMatchObject({ error: { code: 'approval_denied', reason: 'rejected' } });
  });

  test('a grant that is used up by its call is no grant taken back', async () => {
    const { held, registry, runs } = world();
    const session = registry.createSession({
      sessionId: 'two',
      approver: () => ({ decision: 'allow_always', grant: { uses: 1 } }),
    });
    await session.call('pay');
    const holding = session.call('hold');
    const waiting = session.call('pay');
    await turns();
    held.open(1);
    await holding;
    expect(await waiting).toMatchObject({ success: true });
    expect(runs()).toBe(2);
  });
});

describe('the handler that `create` made for a session', () => {
  function world() {
    const log: string[] = [];
    let made = 0;
    const create = () => {
      const id = ++made;
      let calls = 0;
      return { handler: () => `${id}:${++calls}`, dispose: () => void log.push(`closed ${id}`) };
    };
    const registry = new HostToolRegistry();
    const session = registry.createSession({ sessionId: 's' });
    const definition = defineTool({
      name: 'connection',
      description: 'd',
      parameters: anything,
      create,
    });
    return { log, registry, session, definition, create };
  }

  test('lives on when the definition around it is updated', async () => {
    const { log, registry, session, definition } = world();
    const registration = registry.register(definition);
    await session.call('connection');
    registration.update({ timeoutMs: 5_000, description: 'Another.' });
    expect((await session.call('connection')).output).toBe('1:2');
    expect(log).toEqual([]);
    registration.unregister();
    await turns();
    expect(log).toEqual(['closed 1']);
  });

  test('is closed when another `create` takes its place', async () => {
    const { log, registry, session, definition, create } = world();
    registry.register(definition);
    await session.call('connection');
    registry.registerOrReplace(
      defineTool({
        name: 'connection',
        description: 'd',
        parameters: anything,
        create: () => create(),
      }),
    );
    await turns();
    expect(log).toEqual(['closed 1']);
    expect((await session.call('connection')).output).toBe('2:1');
  });

  test('is closed when its tool goes, without anybody asking for it again', async () => {
    const { log, registry, session, definition } = world();
    const scope = registry.scope('plugin');
    scope.register(definition);
    await session.call('connection');
    await scope.dispose();
    await turns();
    expect(log).toEqual(['closed 1']);
  });

  test('is not closed under a call that runs on an earlier definition', async () => {
    const { registry } = world();
    const log: string[] = [];
    const held = gate<number>();
    const create = () => ({ handler: () => held.promise, dispose: () => void log.push('closed') });
    const registration = registry.register(
      defineTool({ name: 'slow', description: 'd', parameters: anything, create }),
    );
    const session = registry.createSession({ sessionId: 'slow' });
    const running = session.call('slow');
    await turns();
    registration.update({ timeoutMs: 5_000 });
    session.tools();
    registration.unregister();
    await turns();
    expect(log).toEqual([]);
    held.open(1);
    expect(await running).toMatchObject({ success: true });
    await turns();
    expect(log).toEqual(['closed']);
  });

  test('a failure to make it is not kept by the definition that follows', async () => {
    const { registry } = world();
    const held = gate<never>();
    let tries = 0;
    const create = () => (++tries === 1 ? (held.promise as never) : { handler: () => tries });
    const registration = registry.register(
      defineTool({ name: 'flaky', description: 'd', parameters: anything, create }),
    );
    const session = registry.createSession({ sessionId: 'flaky' });
    const first = session.call('flaky');
    await turns();
    registration.update({ timeoutMs: 5_000 });
    session.tools();
    held.fail(new Error('no'));
    expect(await first).toMatchObject({ success: false });
    expect(await session.call('flaky')).toMatchObject({ success: true, output: 2 });
  });
});

describe('whether a tool requires approval', () => {
  const tool = defineTool({ name: 'a', description: 'A.', parameters: anything, handler: () => 1 });
  const shown = (registry: HostToolRegistry, options: object = {}): boolean | undefined => {
    registry.register(tool);
    return registry.createSession({ sessionId: 's', ...options }).tools()[0]?.requiresApproval;
  };

  test('knows rules and defaults that ask for every call, and no others', () => {
    expect(shown(new HostToolRegistry({ rules: [{ effect: 'ask', tools: 'a' }] }))).toBe(true);
    expect(shown(new HostToolRegistry(), { rules: [{ effect: 'ask' }] })).toBe(true);
    expect(shown(new HostToolRegistry({ default: 'ask' }))).toBe(true);
    expect(shown(new HostToolRegistry({ rules: [{ effect: 'ask', when: { n: 1 } }] }))).toBe(false);
    expect(shown(new HostToolRegistry({ rules: [{ effect: 'ask', tools: 'b' }] }))).toBe(false);
    expect(
      shown(new HostToolRegistry({ default: 'ask', rules: [{ effect: 'allow', when: { n: 1 } }] })),
    ).toBe(false);
    expect(
      shown(new HostToolRegistry({ default: 'ask' }), {
        policies: [{ id: 'p', check: () => undefined }],
      }),
    ).toBe(false);
  });

  test('follows the rules of a session that lives', () => {
    const registry = new HostToolRegistry();
    registry.register(tool);
    const session = registry.createSession({ sessionId: 's' });
    expect(session.tools()[0]?.requiresApproval).toBe(false);
    const remove = registry.addRules([{ effect: 'ask' }]);
    expect(session.tools()[0]?.requiresApproval).toBe(true);
    remove();
    expect(session.tools()[0]?.requiresApproval).toBe(false);
  });
});

describe('a name that only looks like one that a rule restricts', () => {
  const named = (name: string) =>
    defineTool({ name, description: 'd', parameters: anything, handler: () => 1 });
  test('is restricted; it is not allowed', async () => {
    const name = 'sh\u0435ll_exec';
    const denied = new HostToolRegistry({ rules: [{ effect: 'deny', tools: 'shell*' }] });
    denied.register(named(name));
    expect(await denied.createSession({ sessionId: 's' }).call(name)).toMatchObject({
      error: { code: 'policy_denied' },
    });
    const allowed = new HostToolRegistry({
      default: 'deny',
      rules: [{ effect: 'allow', tools: 'shell*' }],
    });
    allowed.register(named(name));
    expect(await allowed.createSession({ sessionId: 's' }).call(name)).toMatchObject({
      error: { code: 'policy_denied' },
    });
  });

  test('by source too; plain letters stay case-sensitive', async () => {
    const registry = new HostToolRegistry({
      rules: [
        { effect: 'deny', source: 'plugin*' },
        { effect: 'deny', tools: 'GIT' },
      ],
    });
    registry.scope('plug\u0456n').register(named('a'));
    registry.register(named('git'));
    const session = registry.createSession({ sessionId: 's' });
    expect(await session.call('a')).toMatchObject({ error: { code: 'policy_denied' } });
    expect(await session.call('git')).toMatchObject({ success: true });
  });
});

describe('a tool that an outsider must not know of', () => {
  test('gives the same answer as an unknown name', async () => {
    const registry = new HostToolRegistry();
    for (const name of ['shown', 'hidden'])
      registry.register(
        defineTool({ name, description: 'd', parameters: anything, handler: () => 1 }),
      );
    registry.defineProfile({ id: 'p', tools: ['shown'] });
    const session = registry.createSession({ sessionId: 's', profile: 'p' });
    const surface = { name: 'x', outside: true };
    const told = async (name: string): Promise<unknown> => {
      const { error, metadata } = await session.call(name, {}, { callId: 'c', surface });
      return JSON.parse(
        JSON.stringify({ error, metadata: { ...metadata, durationMs: 0 } }).replaceAll(
          name,
          'NAME',
        ),
      );
    };
    expect(await told('hidden')).toEqual(await told('nobody'));
    // The host's own call learns why.
    expect((await session.call('hidden')).metadata.fingerprint).toBeDefined();
  });
});
