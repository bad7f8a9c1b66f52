/**
 * Host code may do anything inside a gate: whatever it does, each call ends once, is counted once,
 * leaves nothing behind, and an ended call does not run.
 */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { stateOf } from '../../../src/core/session/session.ts';
import {
  type AnyEvent,
  defineTool,
  HostToolRegistry,
  type ToolResult,
} from '../../../src/index.ts';

/** Every place at which host code runs inside a call. */
const gates = [
  'tool:pre',
  'policy:check',
  'approval:required',
  'approval:granted',
  'tool:post',
  'tool:error',
  'before hook',
  'refinement',
  'registry policy',
  'session policy',
  'check',
  'requiresApproval',
  'approver',
  'resourceKey',
  'started',
  'handler',
  'toJSON',
  'output refinement',
  'after hook',
] as const;
type Gate = (typeof gates)[number];

const actions = [
  'close the session',
  'close the other session',
  'close the registry',
  'abort',
  'throw',
  'reject later',
  'register a tool',
  'unregister the tool',
  'update the tool',
  'disable the tool',
  'change the profile',
  'add a rule that denies',
  'add a rule that asks',
  'revoke the grants',
  'call another tool',
  'call the same tool',
] as const;
type Action = (typeof actions)[number];

interface Plan {
  readonly gate: Gate;
  readonly action: Action;
  /**
   * Act at once, after a microtask, or after a turn of the event loop; the gate waits for it where
   * it may.
   */
  readonly when: 'at once' | 'in a microtask' | 'in a turn';
  /** At which of the gate's turns. */
  readonly turn: number;
}

const plans = fc.array(
  fc.record<Plan>({
    gate: fc.constantFrom(...gates),
    action: fc.constantFrom(...actions),
    when: fc.constantFrom('at once' as const, 'in a microtask' as const, 'in a turn' as const),
    turn: fc.nat(2),
  }),
  { minLength: 1, maxLength: 3 },
);

const turnOfTheLoop = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

async function play(list: readonly Plan[], callers: number): Promise<void> {
  const events: AnyEvent[] = [];
  const ran: string[] = [];
  /** Calls whose handler started when their end had been told already. */
  const startedAfterTheirEnd: string[] = [];
  const results: Promise<ToolResult>[] = [];
  const caller = new AbortController();
  const turns = new Map<Gate, number>();
  let ready = false;
  let depth = 0;
  let reentries = 0;

  /** Runs what is planned for a gate. Answers a promise where the plan says to wait. */
  const at = (gate: Gate): void | Promise<void> => {
    if (!ready) return undefined;
    const turn = turns.get(gate) ?? 0;
    turns.set(gate, turn + 1);
    let waiting: Promise<void> | undefined;
    for (const plan of list) {
      if (plan.gate !== gate || plan.turn !== turn) continue;
      if (plan.when === 'at once') act(plan.action);
      else {
        const before = waiting ?? Promise.resolve();
        waiting = before
          .then(plan.when === 'in a turn' ? turnOfTheLoop : undefined)
          .then(() => act(plan.action));
      }
    }
    return waiting;
  };
  const passing = async (gate: Gate): Promise<boolean> => {
    await at(gate);
    return true;
  };
  /** For gates that answer at once: what they left waiting is looked after here. */
  const now = (gate: Gate): void => {
    const waiting = at(gate);
    waiting?.catch(() => {});
  };

  const registry = new HostToolRegistry({
    logger: {
      warn: () => Promise.reject(new Error('logger')),
      error: () => Promise.reject(new Error('logger')),
    },
    policies: [{ id: 'registry', check: () => at('registry policy')?.then(() => undefined) }],
  });
  /** Both handlers call this first. */
  const starts = ({
    sessionId,
    callId,
  }: {
    readonly sessionId: string;
    readonly callId: string;
  }): void => {
    const isEnd = (event: AnyEvent): boolean =>
      (event.type === 'tool:post' || event.type === 'tool:error') &&
      event.sessionId === sessionId &&
      event.callId === callId;
    if (events.some(isEnd)) startedAfterTheirEnd.push(`${sessionId} ${callId}`);
  };
  const other = defineTool({
    name: 'other',
    description: 'Another.',
    parameters: { type: 'object' },
    handler: (_, context) => {
      starts(context);
      return 'other';
    },
  });
  const tool = defineTool({
    name: 'tool',
    description: 'The tool.',
    parameters: z.object({ n: z.number().refine(() => passing('refinement')) }),
    outputSchema: z.object({ n: z.number().refine(() => passing('output refinement')) }),
    uses: ['other'],
    policy: { check: ({ allow }) => at('check')?.then(() => allow()) ?? allow() },
    requiresApproval: () => at('requiresApproval')?.then(() => true as const) ?? true,
    resourceKey: () => {
      now('resourceKey');
      return 'key';
    },
    handler: async ({ n }, context) => {
      starts(context);
      ran.push(context.callId);
      await at('handler');
      return {
        n,
        toJSON() {
          now('toJSON');
          return { n };
        },
      } as unknown as { n: number };
    },
  });
  const registration = registry.register(tool);
  registry.register(other);
  registry.defineProfile({ id: 'p', tools: ['tool', 'other'] });
  registry.defineProfile({ id: 'none', tools: ['other'] });
  const open = (sessionId: string) =>
    registry.createSession({
      sessionId,
      profile: 'p',
      policies: [{ id: 'session', check: () => at('session policy')?.then(() => undefined) }],
      hooks: [{ before: () => at('before hook'), after: () => at('after hook') }],
      approver: () => at('approver')?.then(() => 'allow_always' as const) ?? 'allow_always',
      limits: { callsPerMinute: 1_000 },
    });
  const session = open('one');
  const bystander = open('two');
  registry.events.on('*', (event) => void events.push(event));
  for (const gate of gates.slice(0, 6))
    registry.events.on(gate as 'tool:pre', () => at(gate) as void);

  const act = (action: Action): void => {
    switch (action) {
      case 'close the session':
        return void session.close();
      case 'close the other session':
        return void bystander.close();
      case 'close the registry':
        return void registry.close();
      case 'abort':
        return caller.abort(new Error('enough'));
      case 'throw':
        throw new Error('thrown by host code');
      case 'reject later':
        return void Promise.reject(new Error('late')).catch(() => {});
      case 'register a tool':
        registry.registerOrReplace(
          defineTool({
            name: 'new',
            description: 'New.',
            parameters: { type: 'object' },
            handler: () => 1,
          }),
        );
        return undefined;
      case 'unregister the tool':
        return void registration.unregister();
      case 'update the tool':
        return registration.update({ timeoutMs: 5_000 });
      case 'disable the tool':
        return registration.disable();
      case 'change the profile':
        return session.setProfile('none');
      case 'add a rule that denies':
        return void registry.addRules([{ effect: 'deny', when: { n: 1 } }]);
      case 'add a rule that asks':
        return void registry.addRules([{ effect: 'ask' }]);
      case 'revoke the grants':
        for (const { id } of session.approvals.grants()) session.approvals.revoke(id);
        return undefined;
      case 'call another tool':
      case 'call the same tool':
        // Once inside the other, and not for ever.
        if (depth > 0 || ++reentries > 5) return undefined;
        depth++;
        try {
          results.push(session.call(action === 'call the same tool' ? 'tool' : 'other', { n: 2 }));
        } finally {
          depth--;
        }
    }
  };

  ready = true;
  const surface = {
    name: 'test',
    ...(list.some(({ gate }) => gate === 'started') ? { started: () => now('started') } : {}),
  };
  for (let index = 0; index < callers; index++) {
    results.push(
      (index % 2 === 0 ? session : bystander).call(
        'tool',
        { n: 1 },
        { callId: `call-${index}`, signal: caller.signal, surface },
      ),
    );
  }
  // Calls that others start meanwhile are waited for as well.
  for (let index = 0; index < results.length; index++)
    expect(await results[index]).toHaveProperty('metadata.callId');
  for (let round = 0; round < 5; round++) await turnOfTheLoop();
  ready = false;

  const ends = new Map<string, number>();
  const announced = new Set<string>();
  const key = (event: { sessionId: string; callId: string }): string =>
    `${event.sessionId} ${event.callId}`;
  for (const event of events) {
    if (event.type === 'tool:pre') {
      expect(announced.has(key(event)), 'a call is announced once').toBe(false);
      announced.add(key(event));
    } else if ('callId' in event && event.type !== 'tool:late') {
      expect(announced.has(key(event)), `${event.type} comes after tool:pre`).toBe(true);
      expect(ends.has(key(event)), `${event.type} does not come after the end`).toBe(false);
      if (event.type === 'tool:post' || event.type === 'tool:error')
        ends.set(key(event), events.indexOf(event));
    }
  }
  expect(ends.size, 'each call that was announced has one end').toBe(announced.size);
  expect(new Set(ran).size, 'no handler runs twice').toBe(ran.length);
  expect(startedAfterTheirEnd, 'no handler starts after the end of its call').toEqual([]);
  for (const each of results) {
    const { success, metadata } = await each;
    if (metadata.status === 'rejected')
      expect(ran, 'no handler of a rejected call ran').not.toContain(metadata.callId);
    if (success)
      expect(ran.concat('other'), 'what succeeded ran').toContain(
        metadata.toolName === 'other' ? 'other' : metadata.callId,
      );
  }
  for (const one of [session, bystander]) {
    const { sessionId } = one;
    const told = events.filter((event) => 'callId' in event && event.sessionId === sessionId);
    const succeeded = told.filter(({ type }) => type === 'tool:post').length;
    const failed = told.filter(({ type }) => type === 'tool:error').length;
    const metrics = one.metrics();
    // Calls to a session that was closed already, and calls ended before they were announced, have
    // no events.
    expect(metrics.succeeded, 'metrics count what events tell').toBe(succeeded);
    expect(
      (metrics.calls ?? 0) - succeeded,
      'metrics count what events tell',
    ).toBeGreaterThanOrEqual(failed);
    const state = stateOf(one);
    expect({
      inFlight: state.calls.inFlight,
      queued: state.calls.queued,
      ids: state.calls.ids?.size ?? 0,
      waiting: state.desk?.waiting.size ?? 0,
    }).toEqual({
      inFlight: 0,
      queued: 0,
      ids: 0,
      waiting: 0,
    });
  }
  const { registry: state } = stateOf(session);
  expect(state.calls, 'no call is left in flight').toBeUndefined();
  expect(state.nesting).toBe(0);
  expect(state.waiting.deadlines.size, 'no deadline is left').toBe(0);
  // Whoever closes and drains is not kept waiting, and a session that is open still works.
  await registration.drain();
  if (!stateOf(bystander).closed && !state.closed)
    expect((await bystander.call('other')).metadata.status).not.toBe('cancelled');
  await registry.close();
}

describe('host code inside gates', () => {
  test('whatever it does there, at once or after a wait, one call or several at once', async () => {
    await fc.assert(
      fc.asyncProperty(plans, fc.integer({ min: 1, max: 4 }), (list, callers) =>
        play(list, callers),
      ),
      {
        numRuns: 400,
        examples: gates.flatMap((gate) =>
          (['close the session', 'abort', 'close the registry'] as const).map(
            (action): [Plan[], number] => [[{ gate, action, when: 'at once', turn: 0 }], 1],
          ),
        ),
      },
    );
  }, 60_000);
});

describe('a call that host code ends inside a gate', () => {
  const ways: readonly [gate: Gate, act: 'close' | 'abort'][] = (
    [
      'tool:pre',
      'policy:check',
      'before hook',
      'registry policy',
      'check',
      'requiresApproval',
      'resourceKey',
      'approval:granted',
      'started',
    ] as const
  ).flatMap(
    (gate) =>
      [
        [gate, 'close'],
        [gate, 'abort'],
      ] as [Gate, 'close' | 'abort'][],
  );
  test.each(ways)(
    'at once, in %s by %s: its handler does not run, and it ends once',
    async (gate, act) => {
      const caller = new AbortController();
      const ends: string[] = [];
      let ran = 0;
      const end = (): undefined =>
        (act === 'close' ? void session.close() : void caller.abort()) as undefined;
      let armed = false;
      const on = (here: Gate): undefined => (armed && here === gate ? end() : undefined);
      const registry = new HostToolRegistry({
        policies: [{ id: 'p', check: () => on('registry policy') }],
      });
      registry.register(
        defineTool({
          name: 't',
          description: 'd',
          parameters: { type: 'object' },
          policy: { check: ({ allow }) => on('check') ?? allow() },
          requiresApproval: () => on('requiresApproval') ?? true,
          resourceKey: () => on('resourceKey') ?? 'k',
          handler: () => ran++,
        }),
      );
      const session = registry.createSession({
        sessionId: 's',
        hooks: [{ before: () => on('before hook') }],
        approver: () => 'allow_always',
      });
      // From here on a grant answers, so that nothing waits between the first gate and the handler.
      expect(await session.call('t')).toMatchObject({ success: true });
      ran = 0;
      armed = true;
      for (const type of ['tool:pre', 'policy:check', 'approval:granted'] as const)
        registry.events.on(type, () => on(type));
      for (const type of ['tool:post', 'tool:error'] as const)
        registry.events.on(type, () => void (armed && ends.push(type)));
      const result = await session.call(
        't',
        {},
        {
          signal: caller.signal,
          ...(gate === 'started' ? { surface: { name: 'x', started: () => on('started') } } : {}),
        },
      );
      expect(result).toMatchObject({
        success: false,
        error: { code: act === 'close' ? 'session_closed' : 'cancelled' },
      });
      expect({ ran, ends }).toEqual({ ran: 0, ends: ['tool:error'] });
      expect(session.metrics()).toMatchObject({ calls: 2, succeeded: 1, cancelled: 1 });
    },
  );

  test('does not keep the calls of other sessions from being closed and drained', async () => {
    let end = (): void => {};
    const registry = new HostToolRegistry({
      policies: [
        {
          id: 'p',
          check: ({ context }) =>
            context.sessionId === 'killed' ? (end() as undefined) : undefined,
        },
      ],
    });
    const registration = registry.register(
      defineTool({
        name: 't',
        description: 'd',
        parameters: { type: 'object' },
        handler: (_input, { signal }) =>
          new Promise((_resolve, reject) =>
            signal.addEventListener('abort', () => reject(signal.reason as Error)),
          ),
      }),
    );
    const survivor = registry.createSession({ sessionId: 'survivor' });
    const killed = registry.createSession({ sessionId: 'killed' });
    end = () => void killed.close();
    const running = survivor.call('t');
    await killed.call('t');
    let drained = false;
    const draining = registration.drain().then(() => {
      drained = true;
    });
    await turnOfTheLoop();
    expect(drained, 'a call is running').toBe(false);
    await survivor.close();
    expect(await running).toMatchObject({ error: { code: 'session_closed' } });
    await draining;
  });
});
