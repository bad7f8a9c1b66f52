/** Sessions of sub-agents in the places where sessions are used. */

import { expect, test } from 'vitest';
import { z } from 'zod';
import { stateOf } from '../../../src/core/session/session.ts';
import { defineTool, HostToolRegistry, mount } from '../../../src/index.ts';
import { TestCoordinator } from '../../../src/surfaces/testing/index.ts';

const tool = (name: string, more: object = {}) =>
  defineTool({
    name,
    description: `Does ${name}.`,
    parameters: z.object({ a: z.number().default(0) }),
    handler: () => name,
    ...more,
  });

function sessionOf(options: object = {}, more: object = {}) {
  const registry = new HostToolRegistry();
  registry.registerAll([tool('read'), tool('write', more)]);
  return registry.createSession({ sessionId: 's', ...options });
}

test('a batch of a sub-agent is judged call by call', async () => {
  const inner = sessionOf({ rules: [{ effect: 'deny', tools: 'write', when: { a: 1 } }] }).delegate(
    {
      agent: 'a',
    },
  );
  const { results } = await inner.executeBatch([
    { id: '1', name: 'read', arguments: {} },
    { id: '2', name: 'write', arguments: { a: 1 } },
  ]);
  expect(results.map(({ result }) => result.success)).toEqual([true, false]);
});

test('a mount follows the outer session', async () => {
  const session = sessionOf();
  const mounted = await mount(session.delegate({ agent: 'a' }), new TestCoordinator());
  expect(mounted.mounted).toEqual(['read', 'write']);
  session.setOverrides({ disable: ['write'] });
  await mounted.refresh();
  expect(mounted.mounted).toEqual(['read']);
  await session.close();
  await mounted.refresh();
  expect(mounted.mounted).toEqual([]);
});

test('programs of a sub-agent call its tools through its gates', async () => {
  const inner = sessionOf({ code: {} }).delegate({ agent: 'a', tools: ['read'] });
  expect(inner.effectiveTools().names).toEqual(['run_code']);
  const ran = await inner.call('run_code', { code: 'return await tools.read({})' });
  expect(ran.output).toBe('read');
  expect(inner.declarations()).not.toContain('write');
  expect((await inner.call('run_code', { code: 'return await tools.write({})' })).success).toBe(
    false,
  );
});

test('discovery finds what a sub-agent may use', () => {
  const inner = sessionOf({ discovery: {} }).delegate({ agent: 'a', tools: ['read'] });
  expect(inner.effectiveTools().names).toEqual(['find_tools']);
  expect(inner.search('write read').map(({ name }) => name)).toEqual(['read']);
});

test('facts of a sub-agent do not open what a tool of its own uses', async () => {
  const registry = new HostToolRegistry();
  registry.registerAll([
    tool('locked', { requires: [{ fact: 'open', equals: true }] }),
    tool('opener', {
      uses: ['locked'],
      handler: async (_: unknown, { tools }: { tools: { call(n: string, i: object): unknown } }) =>
        tools.call('locked', {}),
    }),
  ]);
  registry.defineProfile({ id: 'p', tools: ['opener'] });
  const session = registry.createSession({ sessionId: 's', profile: 'p' });
  const inner = session.delegate({ agent: 'a' });
  inner.setFacts({ open: true });
  expect((await session.call('opener', {})).output).toMatchObject({ success: false });
  expect((await inner.call('opener', {})).output).toMatchObject({ success: false });
  session.setFacts({ open: true });
  expect((await inner.call('opener', {})).output).toMatchObject({ success: true });
});

test('secrets stay hidden where the outer session is asked', async () => {
  const lines: unknown[] = [];
  const log = (data: object) =>
    lines.push(JSON.stringify(data, (_, value) => value?.stack ?? value));
  const registry = new HostToolRegistry({ logger: { warn: log, error: log } });
  registry.register(
    defineTool({
      name: 'sign_in',
      description: 'Signs in.',
      parameters: z.object({ password: z.string().meta({ secret: true }) }),
      handler: () => 1,
    }),
  );
  const session = registry.createSession({
    sessionId: 's',
    policies: [
      {
        id: 'throws',
        check: ({ input }) => {
          throw new Error(`Bad password ${String(input.password)}`);
        },
      },
    ],
  });
  const result = await session
    .delegate({ agent: 'a' })
    .call('sign_in', { password: 'hunter2-hunter2' });
  expect(result.error?.reason).toBe('policy_threw');
  expect(lines).toHaveLength(1);
  expect(JSON.stringify([lines, result])).not.toContain('hunter2');
});

test('a session that delegates again and again keeps nothing of those that have closed', async () => {
  const session = sessionOf();
  for (let count = 0; count < 20; count++) await session.delegate({ agent: 'a' }).close();
  const state = stateOf(session);
  expect(state.listing.followers?.size).toBe(1);
  // One of them is that of the registry.
  expect(state.life.atClose?.length).toBe(2);
});
