import fc from 'fast-check';
import { describe, expect, test, vi } from 'vitest';
import { z } from 'zod';
import { HostToolRegistry as FullRegistry } from '../../../src/assembly/full-registry.ts';
import {
  type AnyEvent,
  type AnyTool,
  allow,
  HostToolRegistry,
  hostToolRegistry,
  type RegistryOptions,
  type ToolRegistration,
} from '../../../src/index.ts';
import { define, thrownBy } from '../call/define.ts';
import { gate, turns } from '../call/world.ts';

const tools = (...names: string[]) => names.map((name) => define(name));
const registryOf = (...names: string[]) => {
  const registry = new HostToolRegistry();
  registry.registerAll(tools(...names));
  return registry;
};
/** What `tools:changed` told, without its time. */
const heardBy = (source: { events: HostToolRegistry['events'] }) => {
  const heard: unknown[] = [];
  source.events.on(
    'tools:changed',
    ({ added, removed, modified }) => void heard.push({ added, removed, modified }),
  );
  return heard;
};

describe('register', () => {
  test('adds a tool at the end; names and definitions are listed in insertion order', () => {
    const registry = registryOf('b', 'a');
    const registration = registry.register(define('c'));
    expect(registration.name).toBe('c');
    expect(registry.listNames()).toEqual(['b', 'a', 'c']);
    expect(registry.listTools().map(({ name }) => name)).toEqual(['b', 'a', 'c']);
    expect(registry.get('c')).toBe(registry.listTools()[2]);
    expect(registry.get('d')).toBeUndefined();
    expect(registry.get('toString')).toBeUndefined();
    expect(registry.count).toBe(3);
  });

  test('a duplicate name throws, names the tool and the remedy, and changes nothing', () => {
    const registry = registryOf('a');
    const before = [registry.get('a'), registry.revision];
    const heard = heardBy(registry);
    expect(thrownBy(() => registry.register(define('a')))).toMatchObject({
      code: 'duplicate_name',
      message: expect.stringMatching(/`a`.*registerOrReplace/),
    });
    expect([registry.get('a'), registry.revision]).toEqual(before);
    expect(heard).toEqual([]);
  });

  test('the lists that it answers are copies', () => {
    const registry = registryOf('a');
    (registry.listNames() as string[]).push('x');
    (registry.listTools() as unknown[]).length = 0;
    expect(registry.listNames()).toEqual(['a']);
    expect(registry.count).toBe(1);
  });

  test('the logger gets patterns that RE2 cannot express', () => {
    const warn = vi.fn();
    const registry = new HostToolRegistry({ logger: { warn, error: vi.fn() } });
    registry.register(
      define('t', {
        parameters: { type: 'object', properties: { a: { type: 'string', pattern: '(?=a)' } } },
      }),
    );
    expect(warn).toHaveBeenCalledTimes(1);
    expect(warn.mock.calls[0]).toMatchObject([{ tool: 't' }, expect.stringContaining('RE2')]);
  });

  test('the same definition may be in two registries', () => {
    const definition = define('a');
    const [one, two] = [new HostToolRegistry(), new HostToolRegistry()];
    one.register(definition);
    two.register(definition);
    one.unregister('a');
    expect(two.get('a')).toBe(definition);
  });
});

describe('registerAll is all or nothing', () => {
  test.each<[string, () => AnyTool<unknown>[]]>([
    ['a duplicate of a registered name', () => tools('x', 'a', 'y')],
    ['a duplicate within', () => tools('x', 'y', 'x')],
    ['a twin of a registered name', () => tools('x', 'A')],
    ['something that is no definition', () => [define('x'), {} as never]],
    ['a schema that cannot be used', () => [define('x'), define('y', { parameters: z.string() })]],
  ])('%s', (_, make) => {
    const registry = registryOf('a');
    const heard = heardBy(registry);
    const { revision } = registry;
    expect(thrownBy(() => registry.registerAll(make()))).toMatchObject({ name: 'MisuseError' });
    expect(registry.listNames()).toEqual(['a']);
    expect(registry.revision).toBe(revision);
    expect(heard).toEqual([]);
    registry.registerAll(tools('x', 'y'));
  });

  test('it returns the registrations in order, with one tools:changed', () => {
    const registry = new HostToolRegistry();
    const heard = heardBy(registry);
    expect(registry.registerAll(tools('a', 'b')).map(({ name }) => name)).toEqual(['a', 'b']);
    expect(registry.registerAll([])).toEqual([]);
    expect(heard).toEqual([{ added: ['a', 'b'], removed: [], modified: [] }]);
    expect(thrownBy(() => registry.registerAll('a' as never))).toMatchObject({
      code: 'invalid_definition',
    });
  });
});

describe('registerOrReplace', () => {
  test('says whether it replaced, and a replaced tool keeps its place', () => {
    const registry = registryOf('a', 'b', 'c');
    const heard = heardBy(registry);
    const next = define('b', { description: 'Another.' });
    expect(registry.registerOrReplace(next)).toBe(true);
    expect(registry.registerOrReplace(define('d'))).toBe(false);
    expect(registry.listNames()).toEqual(['a', 'b', 'c', 'd']);
    expect(registry.get('b')).toBe(next);
    expect(heard).toEqual([
      { added: [], removed: [], modified: ['b'] },
      { added: ['d'], removed: [], modified: [] },
    ]);
  });

  test('a bad definition changes nothing', () => {
    const registry = registryOf('a');
    const before = registry.get('a');
    expect(thrownBy(() => registry.registerOrReplace({ name: 'a' } as never))).toMatchObject({
      code: 'invalid_definition',
    });
    expect(
      thrownBy(() => registry.registerOrReplace(define('a', { parameters: z.number() }))),
    ).toMatchObject({ code: 'invalid_schema' });
    expect(registry.get('a')).toBe(before);
  });

  test('the next call runs the new one', async () => {
    const registry = registryOf('a');
    const session = registry.createSession({ sessionId: 's' });
    const held = session.tool('a');
    registry.registerOrReplace(define('a', { handler: () => 'new' }));
    expect(await held?.execute({})).toMatchObject({ output: 'new' });
    expect(session.tool('a')).not.toBe(held);
  });
});

describe('unregister and clear', () => {
  test('unregister says whether there was one', () => {
    const registry = registryOf('a', 'b');
    expect([
      registry.unregister('a'),
      registry.unregister('a'),
      registry.unregister('never'),
    ]).toEqual([true, false, false]);
    expect(registry.listNames()).toEqual(['b']);
  });

  test('clear returns the number of tools, with one tools:changed if there were any', () => {
    const registry = registryOf('a', 'b');
    const heard = heardBy(registry);
    expect([registry.clear(), registry.clear()]).toEqual([2, 0]);
    expect(registry.count).toBe(0);
    expect(heard).toEqual([{ added: [], removed: ['a', 'b'], modified: [] }]);
  });

  test('a tool that is registered again comes last', () => {
    const registry = registryOf('a', 'b');
    registry.unregister('a');
    registry.register(define('a'));
    expect(registry.listNames()).toEqual(['b', 'a']);
  });
});

describe('a registration', () => {
  const withRegistration = (): {
    registry: HostToolRegistry;
    registration: ToolRegistration;
    heard: unknown[];
  } => {
    const registry = registryOf('x');
    const registration = registry.register(define('a', { timeoutMs: 100 }));
    return { registry, registration, heard: heardBy(registry) };
  };

  test('update changes description, timeoutMs and requiresApproval, with one tools:changed', () => {
    const { registry, registration, heard } = withRegistration();
    const before = registry.get('a');
    registration.update({ description: 'Better.', requiresApproval: true, timeoutMs: 50 });
    expect(registry.get('a')).toMatchObject({ name: 'a', description: 'Better.' });
    expect(registry.get('a')?.fingerprint).not.toBe(before?.fingerprint);
    expect(before?.description).toBe('Does a.');
    expect(registry.createSession({ sessionId: 's' }).tool('a')?.requiresApproval).toBe(true);
    expect(registry.listNames()).toEqual(['x', 'a']);
    expect(heard).toEqual([{ added: [], removed: [], modified: ['a'] }]);
  });

  test.each<[string, object]>([
    ['a blank description', { timeoutMs: 5, description: ' ' }],
    ['a timeout of 0', { description: 'Fine.', timeoutMs: 0 }],
    ['an approval that is no boolean', { description: 'Fine.', requiresApproval: 'yes' }],
    ['a field that it does not change', { description: 'Fine.', handler: () => 1 }],
  ])('update is all or nothing: %s', (_, patch) => {
    const { registry, registration, heard } = withRegistration();
    const before = registry.get('a');
    expect(thrownBy(() => registration.update(patch))).toMatchObject({
      code: 'invalid_definition',
      message: expect.stringContaining('`a`'),
    });
    expect(registry.get('a')).toBe(before);
    expect(heard).toEqual([]);
  });

  test('disable and enable are announced once each', async () => {
    const { registry, registration, heard } = withRegistration();
    registration.disable();
    registration.disable();
    expect(
      registry
        .createSession({ sessionId: 's' })
        .tools()
        .map(({ name }) => name),
    ).toEqual(['x']);
    registration.enable();
    registration.enable();
    expect(heard).toHaveLength(2);
  });

  test('once the tool is removed or replaced, it does nothing', () => {
    const { registry, registration } = withRegistration();
    registry.registerOrReplace(define('a', { description: 'Another.' }));
    registration.disable();
    registration.update({ description: 'Mine.' });
    expect(registration.unregister()).toBe(false);
    registration[Symbol.dispose]();
    expect(registry.get('a')?.description).toBe('Another.');
    expect(registry.createSession({ sessionId: 's' }).tool('a')).toBeDefined();
  });

  test('it survives updates, and unregisters once', () => {
    const { registry, registration } = withRegistration();
    registration.update({ description: 'One.' });
    registration.update({ description: 'Two.' });
    expect([registration.unregister(), registration.unregister()]).toEqual([true, false]);
    expect(registry.listNames()).toEqual(['x']);
  });

  test('drain resolves when no call on the tool is in flight', async () => {
    const going = gate();
    const registry = new HostToolRegistry();
    const registration = registry.register(define('a', { handler: () => going.promise }));
    await registration.drain();
    const calling = registry.createSession({ sessionId: 's' }).call('a');
    registration.unregister();
    const drained = vi.fn();
    const draining = registration.drain().then(drained);
    await turns();
    expect(drained).not.toHaveBeenCalled();
    going.open();
    expect(await calling).toMatchObject({ success: true });
    await draining;
  });
});

describe('a scope', () => {
  test('registers under its prefix and source, lists and disposes its own tools only', async () => {
    const registry = registryOf('mine');
    const scope = registry.scope('plugin', { prefix: 'p_' });
    scope.registerAll(tools('a', 'b'));
    expect(scope.listNames()).toEqual(['p_a', 'p_b']);
    expect(registry.listNames()).toEqual(['mine', 'p_a', 'p_b']);
    const session = registry.createSession({ sessionId: 's' });
    expect(session.tool('p_a')?.source).toBe('plugin');
    expect(await session.call('p_a')).toMatchObject({ output: 'ran' });
    const heard = heardBy(registry);
    await scope.dispose();
    await scope.dispose();
    expect(registry.listNames()).toEqual(['mine']);
    expect(heard).toEqual([{ added: [], removed: ['p_a', 'p_b'], modified: [] }]);
    expect(thrownBy(() => scope.register(define('c')))).toMatchObject({ code: 'closed' });
    registry.scope('plugin');
  });

  test('is all or nothing too, and offers nothing else', () => {
    const registry = registryOf('a');
    const scope = registry.scope('plugin');
    expect(thrownBy(() => scope.registerAll(tools('b', 'a')))).toMatchObject({
      code: 'duplicate_name',
    });
    expect(scope.listNames()).toEqual([]);
    expect(Object.keys(scope).sort()).toEqual([
      'dispose',
      'drain',
      'listNames',
      'register',
      'registerAll',
      'source',
    ]);
    expect(Object.isFrozen(scope)).toBe(true);
  });

  test('bad rules make no scope', () => {
    const registry = new HostToolRegistry();
    expect(
      thrownBy(() => registry.scope('plugin', { rules: [{ effect: 'block' as never }] })),
    ).toMatchObject({ code: 'invalid_rule' });
    registry.scope('plugin');
  });

  test('the host may remove a scope’s tool; it is gone from the scope as well', () => {
    const registry = new HostToolRegistry();
    const scope = registry.scope('plugin');
    scope.register(define('a'));
    expect(registry.unregister('a')).toBe(true);
    expect(scope.listNames()).toEqual([]);
  });
});

describe('profiles', () => {
  test('an id again replaces the profile, and sessions follow', async () => {
    const registry = registryOf('a', 'b');
    registry.defineProfile({ id: 'p', tools: ['b', 'a'] });
    const session = registry.createSession({ sessionId: 's', profile: 'p' });
    const heard = heardBy(session);
    expect(session.tools().map(({ name }) => name)).toEqual(['b', 'a']);
    registry.defineProfile({ id: 'p', tools: ['a'] });
    expect(session.tools().map(({ name }) => name)).toEqual(['a']);
    expect(heard).toEqual([{ added: [], removed: ['b'], modified: [] }]);
    expect(registry.profile('p')).toEqual({ id: 'p', tools: ['a'] });
    expect(registry.profile('q')).toBeUndefined();
  });

  test('every heir follows a redefined profile, in whatever order they were defined', () => {
    const registry = registryOf('a', 'b');
    registry.defineProfile({ id: 'root', tools: ['a'] });
    registry.defineProfile({ id: 'heir', extends: 'root', tools: [] });
    registry.defineProfile({ id: 'middle', extends: 'root', tools: [] });
    registry.defineProfile({ id: 'heir', extends: ['root', 'middle'], tools: [] });
    const session = registry.createSession({ sessionId: 's', profile: 'heir' });
    registry.defineProfile({ id: 'root', tools: ['b'] });
    expect(session.effectiveTools().names).toEqual(['b']);
  });

  test('a profile that is defined again cannot extend its own heirs', () => {
    const registry = registryOf('a');
    registry.defineProfile({ id: 'root', tools: ['a'] });
    registry.defineProfile({ id: 'middle', extends: 'root', tools: [] });
    registry.defineProfile({ id: 'leaf', extends: ['middle'], tools: [] });
    const circle = thrownBy(() =>
      registry.defineProfile({ id: 'root', extends: 'leaf', tools: [] }),
    );
    expect(circle).toMatchObject({
      code: 'invalid_option',
      message: expect.stringMatching(/`root`.*`extends`.*`leaf`/),
    });
    expect(registry.profile('root')).toEqual({ id: 'root', tools: ['a'] });
  });

  test('what `profile()` gives back cannot be changed', () => {
    const registry = registryOf('a', 'b');
    registry.defineProfile({ id: 'p', tools: ['a'] });
    expect(() => (registry.profile('p') as unknown as { tools: string[] }).tools.push('b')).toThrow(
      TypeError,
    );
  });

  test.each<[string, unknown, string, RegExp]>([
    ['an unknown tool', { id: 'p', tools: ['a', 'nope'] }, 'unknown_tool', /`p`.*`nope`/s],
    [
      'an unknown knob',
      { id: 'p', tools: [{ name: 'k', knobs: { dept: 1 } }] },
      'unknown_knob',
      /`p`.*`k`.*`depth`.*`dept`/s,
    ],
    [
      'a knob that does not fit',
      { id: 'p', tools: [{ name: 'k', knobs: { depth: 'x' } }] },
      'unknown_knob',
      /`p`.*`k`.*depth/s,
    ],
    [
      'knobs of a tool that has none',
      { id: 'p', tools: [{ name: 'a', knobs: { x: 1 } }] },
      'unknown_knob',
      /`p`.*`a`.*`x`/s,
    ],
    ['an unknown parent', { id: 'p', extends: 'nope', tools: [] }, 'unknown_profile', /nope/],
    ['a bad rule', { id: 'p', tools: [], rules: [{ effect: 'no' }] }, 'invalid_rule', /effect/],
    ['a function', { id: 'p', tools: [() => 1] }, 'invalid_option', /JSON/],
  ])('%s throws when it is defined, and changes nothing', (_, profile, code, message) => {
    const registry = registryOf('a');
    registry.register(
      define('k', { policy: { knobs: z.object({ depth: z.number().default(1) }) } }),
    );
    expect(thrownBy(() => registry.defineProfile(profile as never))).toMatchObject({
      name: 'MisuseError',
      code,
      message: expect.stringMatching(message),
    });
    expect(registry.profile('p')).toBeUndefined();
    expect(thrownBy(() => registry.createSession({ sessionId: 's', profile: 'p' }))).toMatchObject({
      code: 'unknown_profile',
    });
  });

  test('an absent optional tool is not_registered, and appears when it is registered', () => {
    const registry = registryOf('a');
    registry.defineProfile({ id: 'p', tools: [{ name: 'later', optional: true }, 'a'] });
    const session = registry.createSession({ sessionId: 's', profile: 'p' });
    expect(session.effectiveTools()).toMatchObject({
      names: ['a'],
      dropped: [{ name: 'later', code: 'not_registered' }],
    });
    registry.register(define('later'));
    expect(session.effectiveTools().names).toEqual(['later', 'a']);
  });
});

describe('revision and events', () => {
  test('the revision grows with every change of tools, and only then', () => {
    const registry = new HostToolRegistry();
    const seen = [registry.revision];
    const note = () => seen.push(registry.revision);
    const registration = registry.register(define('a'));
    note();
    registry.registerAll(tools('b', 'c'));
    note();
    registry.registerOrReplace(define('a'));
    note();
    registry.unregister('b');
    note();
    registry.clear();
    note();
    for (let index = 1; index < seen.length; index++)
      expect(seen[index]).toBe((seen[index - 1] as number) + 1);
    const last = registry.revision;
    registry.clear();
    registry.unregister('a');
    registration.unregister();
    registry.addRules([{ effect: 'deny' }]);
    thrownBy(() => registry.register({} as never));
    expect(registry.revision).toBe(last);
  });

  test('tools:changed fires once on the registry and once on each affected session', () => {
    const registry = registryOf('a', 'b');
    registry.defineProfile({ id: 'p', tools: ['a'] });
    const everything = registry.createSession({ sessionId: 'all' });
    const narrow = registry.createSession({ sessionId: 'narrow', profile: 'p' });
    const deaf = registry.createSession({ sessionId: 'deaf' });
    const heard = {
      registry: heardBy(registry),
      everything: heardBy(everything),
      narrow: heardBy(narrow),
    };
    registry.registerAll(tools('c', 'd'));
    expect(heard).toEqual({
      registry: [{ added: ['c', 'd'], removed: [], modified: [] }],
      everything: [{ added: ['c', 'd'], removed: [], modified: [] }],
      narrow: [],
    });
    registry.registerOrReplace(define('a'));
    expect(heard.narrow).toEqual([{ added: [], removed: [], modified: ['a'] }]);
    expect(heard.everything).toHaveLength(2);
    expect(deaf.tools()).toHaveLength(4);
  });

  test('the registry hears every session’s events but their tools:changed', async () => {
    const registry = registryOf('a');
    const heard: AnyEvent[] = [];
    registry.events.on('*', (event) => void heard.push(event));
    const session = registry.createSession({ sessionId: 'one', facts: { f: 1 } });
    session.events.on('tools:changed', () => {});
    session.setOverrides({ disable: ['a'] });
    session.setOverrides({});
    await session.call('a');
    await session.close();
    expect(heard.map(({ type }) => type)).toEqual([
      'session:start',
      'tool:pre',
      'policy:check',
      'tool:post',
      'session:end',
    ]);
  });

  test('a listener that changes the registry skips and doubles nothing', () => {
    const registry = new HostToolRegistry();
    const heard: string[] = [];
    registry.events.on('tools:changed', ({ added }) => {
      if (added.includes('a')) registry.register(define('b'));
    });
    registry.events.on('tools:changed', ({ added }) => void heard.push(...added));
    registry.register(define('a'));
    expect(heard).toEqual(['a', 'b']);
  });

  test('an unsubscribed listener hears nothing more; one that throws affects no other', () => {
    const registry = new HostToolRegistry();
    const listener = vi.fn();
    const off = registry.events.on('tools:changed', listener);
    registry.events.on('tools:changed', () => {
      throw new Error('no');
    });
    registry.register(define('a'));
    off();
    off();
    registry.register(define('b'));
    expect(listener).toHaveBeenCalledTimes(1);
    expect(registry.count).toBe(2);
  });
});

describe('options and closing', () => {
  test.each<[string, unknown, string]>([
    ['an unknown option', { polices: [] }, 'polices'],
    ['a default that is none', { default: 'block' }, 'default'],
    ['a timeout of 0', { defaultTimeoutMs: 0 }, 'defaultTimeoutMs'],
    ['a policy timeout that is too long', { policyTimeoutMs: 2 ** 31 }, 'policyTimeoutMs'],
    ['a grace that is none', { graceMs: 'x' }, 'graceMs'],
    ['locks that are none', { locks: 'global' }, 'locks'],
    ['policies that are no list', { policies: {} }, 'policies'],
    ['a policy without an id', { policies: [{ check: () => 1 }] }, '`policies[0]`'],
    ['rules that are no list', { rules: {} }, 'rules'],
    ['a clock that is none', { now: 5 }, 'now'],
    ['an id maker that is none', { newId: 'x' }, 'newId'],
    ['paths that are none', { redact: [''] }, 'redact'],
    ['null', null, 'options'],
  ])('%s throws and names the field', (_, options, field) => {
    expect(thrownBy(() => new HostToolRegistry(options as RegistryOptions))).toMatchObject({
      name: 'MisuseError',
      message: expect.stringContaining(field),
    });
  });

  test.each<[string, (registry: HostToolRegistry) => unknown, string]>([
    [
      'a policy',
      () => new HostToolRegistry({ policies: [{ id: 'p', chck: () => allow() }] } as never),
      'HostToolRegistry: `policies[0]`: unknown field `chck`; did you mean `check`?',
    ],
    [
      'a policy with a name',
      () => new HostToolRegistry({ policies: [{ name: 'p', check: () => allow() }] } as never),
      'HostToolRegistry: `policies[0]`: unknown field `name`; did you mean `id`?',
    ],
    [
      "a session's policy",
      (of) =>
        of.createSession({ sessionId: 's', policies: [{ id: 'p', chck: () => allow() }] } as never),
      'createSession: `policies[0]`: unknown field `chck`; did you mean `check`?',
    ],
    [
      "a tool's policy",
      () => define('t', { policy: { chck: () => allow() } }),
      'Tool `t`: unknown field `policy.chck`; did you mean `check`?',
    ],
    [
      'a hook',
      (of) => of.createSession({ sessionId: 's', hooks: [{ befor: () => {} }] } as never),
      'createSession: hooks[0]: unknown field `befor`; did you mean `before`?',
    ],
    [
      'a hook beside a known one',
      (of) =>
        of.createSession({
          sessionId: 's',
          hooks: [{ before: () => {} }, { before: () => {}, aftr: () => {} }],
        } as never),
      'createSession: hooks[1]: unknown field `aftr`; did you mean `after`?',
    ],
    [
      'a hook that is added',
      (of) => of.createSession({ sessionId: 's' }).use({ befor: () => {} } as never),
      'use: unknown field `befor`; did you mean `before`?',
    ],
    [
      'a profile with a name',
      (of) => of.defineProfile({ name: 'p', tools: [] } as never),
      'defineProfile: unknown field `name`; did you mean `id`?',
    ],
    [
      'a profile without an id',
      (of) => of.defineProfile({ ids: 'p', tools: [] } as never),
      'defineProfile: unknown field `ids`; did you mean `id`?',
    ],
    [
      'a profile',
      (of) => of.defineProfile({ id: 'p', tool: [] } as never),
      'profile `p`: unknown field `tool`; did you mean `tools`?',
    ],
  ])('a misspelt member of %s throws with the one that was meant', (_, make, message) => {
    expect(thrownBy(() => make(new HostToolRegistry()))).toMatchObject({
      name: 'MisuseError',
      message,
    });
  });

  test(
    'a policy or a hook may keep what it likes beside its functions, under names that resemble ' +
      'none of them',
    async () => {
      const policy = { id: 'p', calls: 0, checks: [], check: () => void policy.calls++ };
      const hook = { name: 'counts', seen: 0, before: () => void hook.seen++, beforeAll: true };
      const registry = new HostToolRegistry({ policies: [policy] });
      registry.register(define('a'));
      await registry.createSession({ sessionId: 's', hooks: [hook] }).call('a');
      expect([policy.calls, hook.seen]).toEqual([1, 1]);
    },
  );

  test('an instance of a class may have members in addition to the known ones', async () => {
    class Counting {
      readonly id = 'counts';
      calls = 0;
      check() {
        this.calls++;
        return undefined;
      }
      before() {
        this.calls++;
      }
    }
    const counting = new Counting();
    const registry = new HostToolRegistry({ policies: [counting] });
    registry.register(define('a'));
    await registry.createSession({ sessionId: 's', hooks: [counting] }).call('a');
    expect(counting.calls).toBe(2);
  });

  test('a closed registry refuses changes, and closing it twice is harmless', async () => {
    const registry = registryOf('a');
    const session = registry.createSession({ sessionId: 's' });
    await Promise.all([registry.close(), registry.close()]);
    for (const act of [
      () => registry.register(define('b')),
      () => registry.registerAll([]),
      () => registry.registerOrReplace(define('a')),
      () => registry.createSession({ sessionId: 't' }),
      () => registry.scope('x'),
      () => registry.defineProfile({ id: 'p', tools: [] }),
      () => session.setFacts({}),
    ])
      expect(thrownBy(act)).toMatchObject({ code: 'closed' });
    expect(await session.call('a')).toMatchObject({ error: { code: 'session_closed' } });
  });

  test('createSessionTools is the short form', async () => {
    const registry = registryOf('a', 'b');
    const [first] = registry.createSessionTools('s', { cwd: '/tmp' });
    expect(await first?.execute({})).toMatchObject({ success: true, output: 'ran' });
    expect(thrownBy(() => registry.createSessionTools('', {}))).toMatchObject({
      code: 'invalid_option',
    });
    await registry.close();
    expect(await first?.execute({})).toMatchObject({ error: { code: 'session_closed' } });
  });

  test('the process-wide registry is one, made on first use', () => {
    expect(hostToolRegistry).toBeInstanceOf(FullRegistry);
    const registration = hostToolRegistry.register(define('only_for_this_test'));
    expect(hostToolRegistry.listNames()).toContain('only_for_this_test');
    expect(registration.unregister()).toBe(true);
  });
});

describe('against a model: a Map', () => {
  interface Model {
    readonly map: Map<string, string>;
    readonly heard: unknown[];
    told: number;
    revision: number;
  }
  const name = fc.constantFrom('a', 'b', 'c', 'd', 'e');
  const version = fc.constantFrom('1', '2', '3');
  type Real = {
    registry: HostToolRegistry;
    heard: unknown[];
    session: ReturnType<HostToolRegistry['createSession']>;
  };
  const tool = (key: string, text: string) => define(key, { description: text });
  const check = (model: Model, { registry, heard, session }: Real): void => {
    expect(registry.listNames()).toEqual([...model.map.keys()]);
    expect(registry.listTools().map(({ description }) => description)).toEqual([
      ...model.map.values(),
    ]);
    expect(registry.count).toBe(model.map.size);
    expect(registry.revision).toBe(model.revision);
    expect(heard).toHaveLength(model.told);
    expect(session.tools().map((one) => [one.name, one.description])).toEqual([...model.map]);
  };
  const changed = (model: Model): void => {
    model.told++;
    model.revision++;
  };
  const command = (
    shown: string,
    run: (model: Model, real: Real) => void,
  ): fc.Command<Model, Real> => ({
    check: () => true,
    run(model, real) {
      run(model, real);
      check(model, real);
    },
    toString: () => shown,
  });

  test('any sequence of register, registerAll, registerOrReplace, update and clear', () => {
    const commands = [
      fc.tuple(name, version).map(([key, text]) =>
        command(`register(${key})`, (model, { registry }) => {
          const thrown = thrownBy(() => registry.register(tool(key, text)));
          expect(thrown !== undefined).toBe(model.map.has(key));
          if (thrown !== undefined) return;
          model.map.set(key, text);
          changed(model);
        }),
      ),
      fc.tuple(fc.array(name, { maxLength: 3 }), version).map(([keys, text]) =>
        command(`registerAll(${keys})`, (model, { registry }) => {
          const refused =
            new Set(keys).size < keys.length || keys.some((key) => model.map.has(key));
          expect(
            thrownBy(() => registry.registerAll(keys.map((key) => tool(key, text)))) !== undefined,
          ).toBe(refused);
          if (refused || keys.length === 0) return;
          for (const key of keys) model.map.set(key, text);
          changed(model);
        }),
      ),
      fc.tuple(name, version).map(([key, text]) =>
        command(`registerOrReplace(${key})`, (model, { registry }) => {
          expect(registry.registerOrReplace(tool(key, text))).toBe(model.map.has(key));
          model.map.set(key, text);
          changed(model);
        }),
      ),
      name.map((key) =>
        command(`unregister(${key})`, (model, { registry }) => {
          const was = model.map.delete(key);
          expect(registry.unregister(key)).toBe(was);
          if (was) changed(model);
        }),
      ),
      fc.constant(
        command('clear()', (model, { registry }) => {
          expect(registry.clear()).toBe(model.map.size);
          if (model.map.size > 0) changed(model);
          model.map.clear();
        }),
      ),
    ];
    fc.assert(
      fc.property(fc.commands(commands, { maxCommands: 30 }), (list) => {
        fc.modelRun(() => {
          const registry = new HostToolRegistry();
          return {
            model: { map: new Map<string, string>(), heard: [], told: 0, revision: 0 },
            real: {
              registry,
              heard: heardBy(registry),
              session: registry.createSession({ sessionId: 's' }),
            },
          };
        }, list);
      }),
      { numRuns: 150 },
    );
  });
});
