/**
 * What a session shows its model: computed by one function, stable to the byte, kept until
 * something changes, and told with the reason when it does.
 */
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { stateOf } from '../../../src/core/session/session.ts';
import {
  type AnyTool,
  defineTool,
  type HostTool,
  HostToolRegistry,
  mount,
  type SessionOptions,
  type ToolSession,
} from '../../../src/index.ts';
import { createTestSession, TestCoordinator } from '../../../src/surfaces/testing/index.ts';
import { computeEffective, type ToolSpec } from '../../../src/surfaces/workflow/index.ts';
import { planBatch } from '../../../src/surfaces/workflow/plan-batch.ts';
import { outcome, tool } from '../call/world.ts';

const ready = { fact: 'host.ready', equals: true } as const;
const named = (name: string, more: Record<string, unknown> = {}): AnyTool<unknown> =>
  tool(() => name, { name, ...more });

/** Six tools that differ in all that listings and plans look at. */
const kit = (): AnyTool<unknown>[] => [
  named('open', { provides: ['host.ready'] }),
  named('read', {
    requires: [ready],
    annotations: { readOnly: true },
    parameters: z.object({ path: z.string(), deep: z.boolean().default(false) }),
  }),
  named('write', { requires: [ready], resourceKey: 'disk' }),
  named('edit', {
    parallelSafe: true,
    resourceKey: ({ file }: { file: string }) => file,
    parameters: z.object({ file: z.string() }),
  }),
  named('search', { parallelSafe: true }),
  named('deploy', { policy: { knobs: z.object({ env: z.string() }) } }),
];
const start = (
  options: Partial<SessionOptions> = {},
): { readonly registry: HostToolRegistry; readonly session: ToolSession } => {
  const registry = new HostToolRegistry();
  registry.registerAll(kit());
  return { registry, session: registry.createSession({ sessionId: 's', ...options }) };
};

/** What a model is given, to the byte. */
const bytesOf = (tools: readonly HostTool[]): string[] =>
  tools.map(({ name, description, inputSchema }) =>
    JSON.stringify({ name, description, inputSchema }),
  );
const listing = (session: ToolSession): string[] => bytesOf(session.effectiveTools().tools);
/** What `tools:changed` tells of a session from now on. */
const heard = (session: ToolSession): object[] => {
  const told: object[] = [];
  session.events.on(
    'tools:changed',
    ({ type: _type, at: _at, ...rest }: { type?: string; at: number }) => void told.push(rest),
  );
  return told;
};

describe('a session shows what computeEffective and planBatch say, and nothing else', () => {
  const specs: ToolSpec[] = [
    { name: 'open', provides: ['host.ready'] },
    { name: 'read', requires: [ready], parallelSafe: true },
    { name: 'write', requires: [ready], resourceKey: 'disk' },
    { name: 'edit', parallelSafe: true },
    { name: 'search', parallelSafe: true },
    { name: 'deploy', blocked: ['knobs_missing'] },
  ];
  test.each<[string, Partial<SessionOptions>, string[] | undefined]>([
    ['nothing set', {}, undefined],
    ['facts', { facts: { 'host.ready': true } }, undefined],
    ['a profile', { profile: 'p' }, ['search', 'read', 'open']],
    [
      'a profile, facts and overrides',
      {
        profile: 'p',
        facts: { 'host.ready': true },
        overrides: { enable: ['write', 'edit'], disable: ['open'] },
      },
      ['search', 'read', 'open'],
    ],
    [
      'force, which beats no gate',
      { profile: 'none', overrides: { force: ['write', 'search'] } },
      [],
    ],
    [
      'disable, which beats all',
      { overrides: { disable: ['open', 'search'], force: ['search'] } },
      undefined,
    ],
  ])('%s', (_, options, profile) => {
    const registry = new HostToolRegistry();
    registry.registerAll(kit());
    registry.defineProfile({ id: 'p', tools: ['search', 'read', 'open'] });
    registry.defineProfile({ id: 'none', tools: [] });
    const session = registry.createSession({ sessionId: 's', ...options });
    const wanted = computeEffective({
      tools: specs,
      ...(profile === undefined ? {} : { profile }),
      overrides: { session: options.overrides ?? {} },
      facts: options.facts ?? {},
    });
    const { names, dropped, prerequisites, hash, tools, revision } = session.effectiveTools();
    expect({ names, dropped, prerequisites, hash }).toEqual(wanted);
    expect(tools.map(({ name }) => name)).toEqual(names);
    expect(session.tools()).toBe(tools);
    expect(revision).toBe(registry.revision);
    const calls = specs.flatMap(({ name }) => [
      { id: `${name} 1`, name, arguments: {} },
      { id: `${name} 2`, name, arguments: { file: 'x' } },
    ]);
    // The one key that comes from an input, and is none where the input is invalid.
    const keyed = calls.map((call) =>
      call.id === 'edit 2' ? { ...call, resourceKey: 'x' } : call,
    );
    expect(session.plan(calls)).toEqual(planBatch(keyed, specs, names));
  });

  test('`executeBatch` runs the plan that `plan` shows', async () => {
    const { session } = start({ facts: { 'host.ready': true } });
    const calls = ['search', 'edit', 'write', 'nobody', 'edit', 'deploy', 'search'].map(
      (name, index) => ({ id: `${index}`, name, arguments: { file: 'x' } }),
    );
    const before = session.plan(calls);
    const { plan } = await session.executeBatch(calls);
    expect(plan).toEqual(before);
    expect(plan.hash).toBe(before.hash);
    expect(session.plan(calls).hash).toBe(before.hash);
  });

  test('internal tools are in no listing, no drop list and no plan', () => {
    const { registry, session } = start();
    registry.register(named('inner', { exposure: 'internal' }));
    const { names, dropped } = session.effectiveTools();
    expect([...names, ...dropped.map(({ name }) => name)]).not.toContain('inner');
    expect(session.plan([{ id: '1', name: 'inner' }]).calls[0]?.code).toBe('tool_not_found');
  });

  test('names that every object has are tools and facts like others', async () => {
    const registry = new HostToolRegistry();
    registry.registerAll(
      ['constructor', 'toString', 'hasOwnProperty'].map((name) =>
        named(name, { requires: [{ fact: name, equals: 1 }] }),
      ),
    );
    const session = registry.createSession({ sessionId: 's' });
    expect(session.effectiveTools().dropped.map(({ code }) => code)).toEqual([
      'fact_unmet:constructor',
      'fact_unmet:toString',
      'fact_unmet:hasOwnProperty',
    ]);
    session.setFacts(JSON.parse('{"constructor":1,"__proto__":1}') as never);
    expect(session.effectiveTools().names).toEqual(['constructor']);
    const { plan, results } = await session.executeBatch([
      { id: '__proto__', name: 'constructor' },
      { id: 'constructor', name: '__proto__' },
      { id: 'toString', name: 'toString' },
    ]);
    expect(plan.groups).toEqual([['__proto__']]);
    expect(results.map(({ result }) => outcome(result))).toEqual([
      'constructor',
      'tool_not_found',
      'tool_not_available',
    ]);
  });

  test.each([
    [
      'an override',
      (session: ToolSession) => session.setOverrides({ enable: ['search', 'serch'] }),
      'unknown_tool',
      /`serch`.*`search`/,
    ],
    [
      'a choice of profile',
      (session: ToolSession) => session.setProfile('pp'),
      'unknown_profile',
      /`p`.*`pp`/,
    ],
    [
      "a profile's tools",
      (_: ToolSession, registry: HostToolRegistry) =>
        registry.defineProfile({ id: 'p', tools: ['serch'] }),
      'unknown_tool',
      /`serch`.*`search`/,
    ],
  ])(
    'an unknown name in %s throws, names the nearest, and changes nothing',
    (_, change, code, message) => {
      const { registry, session } = start({ overrides: { disable: ['search'] } });
      registry.defineProfile({ id: 'p', tools: ['open'] });
      const told = heard(session);
      const before = session.effectiveTools();
      expect(() => change(session, registry)).toThrow(
        expect.objectContaining({ code, message: expect.stringMatching(message) }),
      );
      expect(session.effectiveTools()).toEqual(before);
      expect(session.effectiveTools().names).toBe(before.names);
      expect(registry.profile('p')).toEqual({ id: 'p', tools: ['open'] });
      expect(told).toEqual([]);
    },
  );
});

describe('a live session follows', () => {
  const changes: readonly (readonly [
    reason: string,
    what: string,
    change: (registry: HostToolRegistry, session: ToolSession) => unknown,
    told: object,
  ])[] = [
    [
      'facts',
      'a fact',
      (_, session) => session.setFacts({ 'host.ready': true }),
      { added: ['read', 'write'], removed: [], modified: [] },
    ],
    [
      'profile',
      'another profile',
      (_, session) => session.setProfile('p'),
      { added: [], removed: ['open', 'edit'], modified: [] },
    ],
    [
      'profile',
      'a profile of another content',
      (registry) => registry.defineProfile({ id: 'all', tools: ['open'] }),
      { added: [], removed: ['edit', 'search'], modified: [] },
    ],
    [
      'overrides',
      'overrides',
      (_, session) => session.setOverrides({ disable: ['open'] }),
      { added: [], removed: ['open'], modified: [] },
    ],
    [
      'registry',
      'a tool that goes',
      (registry) => registry.unregister('search'),
      { added: [], removed: ['search'], modified: [] },
    ],
    [
      'registry',
      'a tool that is replaced',
      (registry) => registry.registerOrReplace(named('search', { description: 'New.' })),
      { added: [], removed: [], modified: ['search'] },
    ],
    [
      'session',
      'a tool of its own',
      (_, session) => session.register(named('mine')),
      { added: ['mine'], removed: [], modified: [] },
    ],
    [
      'rules',
      'a rule that hides',
      (registry) => registry.addRules([{ effect: 'deny', tools: 'edit' }]),
      { added: [], removed: ['edit'], modified: [] },
    ],
  ];
  const live = (): ReturnType<typeof start> => {
    const { registry } = start();
    registry.defineProfile({ id: 'all', tools: ['open', 'read', 'write', 'edit', 'search'] });
    registry.defineProfile({ id: 'p', tools: ['search'] });
    return { registry, session: registry.createSession({ sessionId: 'live', profile: 'all' }) };
  };

  test.each(changes)('`tools:changed` says what and why: %s, by %s', (reason, _, change, told) => {
    const { registry, session } = live();
    const events = heard(session);
    const before = session.effectiveTools().names;
    change(registry, session);
    expect(events).toEqual([{ ...told, reason }]);
    const { added, removed } = told as { added: string[]; removed: string[] };
    expect([...session.effectiveTools().names].sort()).toEqual(
      [...before.filter((name) => !removed.includes(name)), ...added].sort(),
    );
  });

  test('a change without a visible effect is not announced', () => {
    const { registry, session } = live();
    const events = heard(session);
    session.setFacts({ weather: 'fine' });
    session.setOverrides({ enable: ['open'] });
    session.setProfile('all');
    registry.addRules([{ effect: 'deny', tools: 'nobody' }]);
    registry.register(named('elsewhere'));
    expect(events).toEqual([]);
  });

  test('the registry announces its own changes, with the same reason', () => {
    const { registry, session } = live();
    const told: unknown[] = [];
    registry.events.on('tools:changed', ({ reason, added }) => void told.push([reason, added]));
    registry.register(named('more'));
    session.setFacts({ 'host.ready': true });
    expect(told).toEqual([['registry', ['more']]]);
  });

  test.each(changes)('a mount follows: %s, by %s', async (_, __, change) => {
    const { registry, session } = live();
    const coordinator = new TestCoordinator();
    const mounted = await mount(session, coordinator);
    change(registry, session);
    await mounted.refresh();
    expect([...mounted.mounted].sort()).toEqual([...session.effectiveTools().names].sort());
    expect(mounted.failed).toEqual([]);
    await session.close();
  });

  test('`explain` says why a tool is hidden, and what would unlock it', async () => {
    const { registry, session } = live();
    session.setOverrides({ disable: ['edit'] });
    registry.addRules([{ id: 'no-search', effect: 'deny', tools: 'search', reason: 'quiet' }]);
    registry.register(named('other'));
    const why = async (name: string) => {
      const { visible, hiddenBy, unlockedBy, code } = await session.explain(name);
      return { visible, hiddenBy, unlockedBy, code };
    };
    expect(await why('open')).toEqual({ visible: true });
    expect(await why('read')).toEqual({
      visible: false,
      hiddenBy: 'fact_unmet:host.ready',
      unlockedBy: ['open'],
      code: 'tool_not_available',
    });
    expect(await why('edit')).toEqual({
      visible: false,
      hiddenBy: 'disabled',
      code: 'tool_not_available',
    });
    expect(await why('search')).toEqual({
      visible: false,
      hiddenBy: 'denied',
      code: 'policy_denied',
    });
    expect(await why('other')).toEqual({
      visible: false,
      hiddenBy: 'not_in_profile',
      code: 'tool_not_available',
    });
    expect((await session.explain('search')).ruleId).toBe('no-search');
    for (const { name, code } of session.effectiveTools().dropped)
      expect((await session.explain(name)).hiddenBy).toBe(code);
    session.setFacts({ 'host.ready': true });
    expect(await why('read')).toMatchObject({ visible: true });
  });

  test('a fact that no tool provides has no prerequisite', async () => {
    const { registry, session } = start();
    registry.unregister('open');
    expect(session.effectiveTools().prerequisites).toEqual([]);
    expect(await session.explain('read')).not.toHaveProperty('unlockedBy');
  });
});

describe(
  'prompt caches hold: a tool that did not change keeps its place among the others and its ' +
    'bytes',
  () => {
    const without = (lines: readonly string[], name: string): string[] =>
      lines.filter((line) => (JSON.parse(line) as { name: string }).name !== name);

    test('a replaced tool keeps its place, and the rest is identical byte for byte', () => {
      const { registry, session } = start();
      const before = listing(session);
      registry.registerOrReplace(
        named('edit', { description: 'Another.', parameters: z.object({ quite: z.number() }) }),
      );
      const after = listing(session);
      expect(without(after, 'edit')).toEqual(without(before, 'edit'));
      expect(after.findIndex((line) => line.includes('"edit"'))).toBe(
        before.findIndex((line) => line.includes('"edit"')),
      );
      expect(after).not.toEqual(before);
    });

    test('the same definition again, equal but made anew, is the same bytes', () => {
      const { registry, session } = start();
      const before = listing(session);
      for (const definition of kit().reverse()) registry.registerOrReplace(definition);
      expect(listing(session)).toEqual(before);
    });

    test('facts, overrides and rules that come and go', () => {
      const { registry, session } = start();
      const before = listing(session);
      session.setFacts({ 'host.ready': true, other: [1, { b: 1, a: 2 }] });
      const more = listing(session);
      expect(more.filter((line) => before.includes(line))).toEqual(before);
      session.setFacts({ 'host.ready': null, other: null });
      expect(listing(session)).toEqual(before);
      session.setOverrides({ disable: ['open', 'search'] });
      expect(listing(session)).toEqual(
        before.filter((line) => !/"name":"(open|search)"/.test(line)),
      );
      session.setOverrides({});
      const remove = registry.addRules([{ effect: 'deny', tools: '*' }]);
      expect(listing(session)).toEqual([]);
      remove();
      expect(listing(session)).toEqual(before);
    });

    test('a new tool comes last, and a removed one leaves the rest unchanged', () => {
      const { registry, session } = start();
      const before = listing(session);
      registry.register(named('aaa'));
      expect(listing(session).slice(0, -1)).toEqual(before);
      registry.unregister('aaa');
      registry.unregister('open');
      expect(listing(session)).toEqual(without(before, 'open'));
    });

    test(
      'another session, another registry, other order of facts and overrides: the same bytes and ' +
        'the same hash',
      () => {
        const facts = { 'host.ready': true, b: 1, a: { y: 1, x: 2 } };
        const { registry, session } = start({
          facts,
          overrides: { enable: ['search', 'open'], disable: ['edit'] },
        });
        const wanted = { bytes: listing(session), hash: session.effectiveTools().hash };
        const other = { a: { x: 2, y: 1 }, b: 1, 'host.ready': true };
        const again = registry.createSession({
          sessionId: 'again',
          facts: other,
          overrides: { disable: ['edit'], enable: ['open', 'search'] },
        });
        const elsewhere = start({ facts: other, overrides: { disable: ['edit'] } }).session;
        for (const one of [again, elsewhere])
          expect({ bytes: listing(one), hash: one.effectiveTools().hash }).toEqual(wanted);
      },
    );

    test('a profile gives the order, whatever the order of registration', () => {
      const listed = [kit(), kit().reverse()].map((definitions) => {
        const registry = new HostToolRegistry();
        registry.registerAll(definitions);
        registry.defineProfile({ id: 'p', tools: ['search', 'open', 'edit'] });
        return listing(
          registry.createSession({
            sessionId: 's',
            profile: 'p',
            overrides: { enable: ['write', 'read'] },
            facts: { 'host.ready': true },
          }),
        );
      });
      expect(listed[1]).toEqual(listed[0]);
      expect(listed[0]?.map((line) => (JSON.parse(line) as { name: string }).name)).toEqual([
        'search',
        'open',
        'edit',
        'read',
        'write',
      ]);
    });

    test('listings are frozen, so that no one can change them for others', () => {
      const { session } = start();
      const set = session.effectiveTools();
      for (const part of [
        set,
        set.names,
        set.tools,
        set.dropped,
        set.dropped[0],
        set.prerequisites,
        set.prerequisites[0],
        set.prerequisites[0]?.unlocks,
      ])
        expect(Object.isFrozen(part)).toBe(true);
      expect(Object.isFrozen(set.tools[1]?.inputSchema)).toBe(true);
    });
  },
);

describe('listings are kept', () => {
  test('without changes, the same frozen arrays are returned, whatever is called', async () => {
    const { session } = start();
    const { names, tools, dropped, prerequisites } = session.effectiveTools();
    await session.call('search');
    await session.executeBatch([{ id: '1', name: 'search' }]);
    await session.explain('read');
    session.use({ before: () => undefined });
    const again = session.effectiveTools();
    expect(again.names).toBe(names);
    expect(again.tools).toBe(tools);
    expect(again.dropped).toBe(dropped);
    expect(again.prerequisites).toBe(prerequisites);
    expect(session.tools()).toBe(tools);
  });

  test('a change that shows nothing gives the same tools back', () => {
    const { registry, session } = start();
    const { tools } = session.effectiveTools();
    session.setFacts({ weather: 'fine' });
    expect(session.tools()).toBe(tools);
    registry.defineProfile({ id: 'unused', tools: ['open'] });
    expect(session.tools()).toBe(tools);
  });

  test(
    'after a change there is a new list, in which tools that did not change are the same ' +
      'objects',
    () => {
      const { registry, session } = start();
      const before = session.tools();
      registry.registerOrReplace(named('edit', { description: 'New.' }));
      const after = session.tools();
      expect(after).not.toBe(before);
      for (const [index, one] of after.entries()) {
        if (one.name === 'edit') expect(one).not.toBe(before[index]);
        else expect(one).toBe(before[index]);
      }
      expect(before.find(({ name }) => name === 'edit')?.description).not.toBe('New.');
    },
  );

  test('it is worked out once for all sessions that see the same, and anew after a change', () => {
    const { registry, session } = start({ facts: { a: 1, b: 2 } });
    const twin = registry.createSession({ sessionId: 'twin', facts: { b: 2, a: 1 } });
    const state = stateOf(session);
    const view = state.registry.viewOf(state);
    expect(state.registry.viewOf(stateOf(twin))).toBe(view);
    expect(twin.effectiveTools().names).toBe(session.effectiveTools().names);
    twin.setFacts({ a: 2 });
    expect(state.registry.viewOf(stateOf(twin))).not.toBe(view);
    expect(state.registry.viewOf(state)).toBe(view);
    twin.setFacts({ a: 1 });
    expect(state.registry.viewOf(stateOf(twin))).toBe(view);
    registry.register(named('more'));
    expect(state.registry.viewOf(state)).not.toBe(view);
    expect(session.effectiveTools().names).toContain('more');
  });

  test('sessions with many different facts do not pile up listings', () => {
    const { registry } = start();
    const sessions = Array.from({ length: 300 }, (_, number) =>
      registry.createSession({ sessionId: `${number}`, facts: { number } }),
    );
    for (const session of sessions)
      expect(session.effectiveTools().names).toEqual(['open', 'edit', 'search']);
    expect(sessions[0]?.tools()).toBe(sessions[0]?.tools());
  });

  test('a test session lists by the same rules', () => {
    const session = createTestSession({
      tools: [
        defineTool({
          name: 'one',
          description: 'One.',
          parameters: { type: 'object' },
          handler: () => 1,
        }),
      ],
    });
    expect(session.effectiveTools().names).toEqual(['one']);
  });
});
