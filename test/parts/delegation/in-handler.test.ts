/** Handlers delegate: the sub-agent acts within the running call. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { z } from 'zod';
import {
  defineTool,
  HostToolRegistry,
  type Rule,
  type ToolContext,
  type ToolResult,
  type ToolSession,
} from '../../../src/index.ts';

const plain = (name: string) =>
  defineTool({ name, description: `Does ${name}.`, parameters: z.object({}), handler: () => name });

function registryOf(
  handler: (context: ToolContext) => unknown,
  uses: readonly string[] = ['read', 'write'],
) {
  const registry = new HostToolRegistry({ maxDelegationDepth: 2 });
  registry.registerAll([plain('read'), plain('write')]);
  registry.register(
    defineTool({
      name: 'research',
      description: 'Asks an agent.',
      parameters: z.object({}),
      uses,
      handler: async (_, context) => (await handler(context)) ?? null,
    }),
  );
  const events: { type: string; toolName: string; parentCallId?: string; actor: unknown }[] = [];
  registry.events.on('tool:pre', (event) => void events.push(event as never));
  return { registry, events, session: registry.createSession({ sessionId: 's' }) };
}

const reasonOf = ({ error }: ToolResult) => error?.reason ?? error?.code;

function made(context: ToolContext, more: object = {}): ToolSession {
  const session = context.delegate?.({ agent: 'helper', ...more });
  if (session === undefined) throw new Error('There is no `delegate`.');
  return session;
}

test('its calls are calls of the running one, by the agent', async () => {
  const { session, events } = registryOf(async (context) => {
    return (await made(context).call('read', {})).output;
  });
  const result = await session.call('research', {}, { callId: 'c' });
  expect(result.output).toBe('read');
  expect(events[1]).toMatchObject({
    toolName: 'read',
    parentCallId: 'c',
    actor: { chain: [{ agent: 'helper', sessionId: 's/helper/1' }] },
  });
});

test('it ends with the call, and so does what it has delegated itself', async () => {
  const kept: ToolSession[] = [];
  const { session } = registryOf((context) => {
    const inner = made(context);
    kept.push(inner, inner.delegate({ agent: 'second' }));
  });
  await session.call('research', {});
  for (const one of kept) expect(reasonOf(await one.call('read', {}))).toBe('session_closed');
});

test('a context whose call has ended delegates no more', async () => {
  const contexts: ToolContext[] = [];
  const { session } = registryOf((context) => void contexts.push(context));
  await session.call('research', {});
  expect(() => contexts[0]?.delegate?.({ agent: 'late' })).toThrow('has ended');
});

test('it has no tool that `uses` does not name, and `tools` narrows that', async () => {
  const reasons: unknown[] = [];
  const { session } = registryOf(
    async (context) => {
      reasons.push(reasonOf(await made(context).call('write', {})));
      reasons.push(reasonOf(await made(context, { tools: [] }).call('read', {})));
    },
    ['read'],
  );
  await session.call('research', {});
  expect(reasons).toEqual(['not_declared', 'not_in_profile']);
});

test('an agent that calls the tool again is stopped, and so is a chain that is too long', async () => {
  const reasons: unknown[] = [];
  const { session } = registryOf(
    async (context) => {
      const inner = made(context);
      reasons.push(reasonOf(await inner.call('research', {})));
      expect(() => inner.delegate({ agent: 'b' }).delegate({ agent: 'c' })).toThrow(
        'maxDelegationDepth',
      );
    },
    ['research'],
  );
  await session.call('research', {});
  expect(reasons).toEqual(['cycle']);
});

test('a rule that denies the agent denies its calls alone', async () => {
  const { registry, session } = registryOf(async (context) => {
    const inner = await made(context).call('read', {});
    return [reasonOf(inner), (await context.tools.call('read', {})).success];
  });
  registry.addRules([{ effect: 'deny', actor: { agent: 'helper' }, reason: 'no_agents' }]);
  expect((await session.call('research', {})).output).toEqual(['no_agents', true]);
});

test('what it does, the handler itself could have done, whatever is given', async () => {
  const tools = fc.constantFrom('read', 'write', '*', 'r*');
  const rule = fc
    .record({
      effect: fc.constantFrom('allow', 'deny'),
      tools,
      actor: fc.option(
        fc.constantFrom({ depth: 0 }, { depth: { gte: 1 } }, { agent: 'helper' }, { agent: 'x' }),
        { nil: undefined },
      ),
    })
    .map(({ actor, ...one }) => ({ ...one, ...(actor && { actor }) }) as Rule);
  const rules = fc.array(rule, { maxLength: 3 });
  let ran = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.record({
        all: rules,
        own: rules,
        given: rules,
        uses: fc.subarray(['read', 'write'], { minLength: 1 }),
        tools: fc.option(fc.subarray(['read', 'write']), { nil: undefined }),
        deep: fc.boolean(),
      }),
      async (one) => {
        const did = { self: [] as boolean[], agent: [] as boolean[] };
        const names = ['read', 'write'];
        const { registry } = registryOf(async (context) => {
          for (const name of names) did.self.push((await context.tools.call(name, {})).success);
          let inner = made(context, { rules: one.given, tools: one.tools });
          if (one.deep) inner = inner.delegate({ agent: 'second' });
          for (const name of names) did.agent.push((await inner.call(name, {})).success);
        }, one.uses);
        registry.addRules([{ effect: 'allow', tools: 'research' }, ...one.all]);
        const session = registry.createSession({ sessionId: 'p', rules: one.own });
        await session.call('research', {});
        for (const [at, isAllowed] of did.agent.entries()) {
          if (isAllowed) ran++;
          expect(did.self[at] || !isAllowed).toBe(true);
        }
        await registry.close();
      },
    ),
  );
  // So that the law is about something.
  expect(ran).toBeGreaterThan(0);
});
