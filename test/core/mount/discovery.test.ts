/** A coordinator follows what a session finds. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { defineTool, HostToolRegistry, type MountedTool, mount } from '../../../src/index.ts';
import { TestCoordinator } from '../../../src/surfaces/testing/index.ts';

const topics = ['mail', 'weather', 'rocket', 'invoice', 'calendar', 'music'];

function open(maxTokens?: number) {
  const registry = new HostToolRegistry();
  registry.registerAll([
    ...topics.map((topic) =>
      defineTool({
        name: `use_${topic}`,
        description: `Does the ${topic}.`,
        parameters: z.object({}),
        handler: () => `${topic} ran`,
      }),
    ),
    defineTool({
      name: 'read_file',
      description: 'Reads.',
      parameters: z.object({}),
      handler: () => 'read',
    }),
  ]);
  registry.defineProfile({ id: 'all', tools: [...topics.map((one) => `use_${one}`), 'read_file'] });
  registry.defineProfile({ id: 'few', tools: ['read_file', 'use_music', 'use_mail'] });
  const session = registry.createSession({
    sessionId: 's',
    profile: 'all',
    discovery: { keep: 'read_*', ...(maxTokens === undefined ? {} : { maxTokens }) },
  });
  return { registry, session };
}

const namesOn = (coordinator: TestCoordinator): string[] => [
  ...(coordinator.get('tools') as Map<string, MountedTool>).keys(),
];

describe.each(['sync', 'async'] as const)('on a coordinator that is %s', (mode) => {
  const on = async (maxTokens?: number) => {
    const { session } = open(maxTokens);
    const coordinator = new TestCoordinator({ mode });
    const mounted = await mount(session, coordinator);
    const call = (name: string, input: object = {}) =>
      (coordinator.get('tools', name) as MountedTool).execute(input);
    return { session, coordinator, mounted, call };
  };

  test('what a model finds through a mounted find_tools is mounted, and runs', async () => {
    const { coordinator, mounted, call } = await on();
    expect(namesOn(coordinator)).toEqual(['read_file', 'find_tools']);
    expect(await call('find_tools', { query: 'weather' })).toMatchObject({ success: true });
    await mounted.refresh();
    expect(namesOn(coordinator)).toEqual(['read_file', 'find_tools', 'use_weather']);
    expect(await call('use_weather')).toMatchObject({ output: 'weather ran' });
  });

  test('what leaves over the budget is unmounted', async () => {
    const { coordinator, mounted, call } = await on(60);
    for (const query of ['mail', 'weather', 'rocket']) await call('find_tools', { query });
    await mounted.refresh();
    expect(namesOn(coordinator)).not.toContain('use_mail');
    expect(namesOn(coordinator)).toContain('use_rocket');
  });

  test('a profile takes away what is outside of it', async () => {
    const { session, coordinator, mounted, call } = await on();
    for (const query of ['rocket', 'mail']) await call('find_tools', { query });
    session.setProfile('few');
    await mounted.refresh();
    expect(namesOn(coordinator)).toEqual(['read_file', 'find_tools', 'use_mail']);
    await call('find_tools', { query: 'rocket invoice music' });
    await mounted.refresh();
    expect(namesOn(coordinator)).toEqual(['read_file', 'find_tools', 'use_mail', 'use_music']);
  });

  test('after unmount, what is found is mounted no more', async () => {
    const { session, coordinator, mounted } = await on();
    await mounted.unmount();
    await session.call('find_tools', { query: 'mail' });
    expect(namesOn(coordinator)).toEqual([]);
  });
});

test('a mount shows what the session lists, whatever is found, hidden and called', async () => {
  const step = fc.oneof(
    fc.constantFrom(...topics).map((query) => ({ do: 'find' as const, query })),
    fc.constantFrom(...topics).map((topic) => ({ do: 'call' as const, topic })),
    fc.constantFrom('all', 'few').map((profile) => ({ do: 'profile' as const, profile })),
    fc.subarray(topics).map((off) => ({ do: 'disable' as const, off })),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 12 }), async (steps) => {
      const { session } = open(80);
      const coordinator = new TestCoordinator({ mode: 'async' });
      const mounted = await mount(session, coordinator);
      for (const one of steps) {
        const before = session.tools().map(({ name }) => name);
        if (one.do === 'find') await session.call('find_tools', { query: one.query });
        if (one.do === 'call') await session.call(`use_${one.topic}`, {});
        if (one.do === 'profile') session.setProfile(one.profile);
        if (one.do === 'disable')
          session.setOverrides({ disable: one.off.map((topic) => `use_${topic}`) });
        const after = session.tools().map(({ name }) => name);
        // What stays listed keeps its order, and what joins comes after it.
        if (one.do === 'find' || one.do === 'call') {
          const stayed = before.filter((name) => after.includes(name));
          expect(after.slice(0, stayed.length)).toEqual(stayed);
        }
        await mounted.refresh();
        expect(namesOn(coordinator).sort()).toEqual([...after].sort());
        for (const name of after) expect(session.tool(name)).toBeDefined();
      }
    }),
    { numRuns: 60 },
  );
});
