/** Sessions that list few tools, and find the others. */
import { describe, expect, test, vi } from 'vitest';
import { z } from 'zod';
import { registryStateOf } from '../../../src/core/registry/state-of.ts';
import {
  type AnyEvent,
  type DiscoveryOptions,
  defineTool,
  HostToolRegistry,
  MisuseError,
  type RegistryOptions,
  type SessionOptions,
} from '../../../src/index.ts';
import { finderSlot } from '../../../src/parts/discovery/found-tools.ts';

type Tool = Parameters<HostToolRegistry['register']>[0];

function tool(name: string, description: string, more: object = {}): Tool {
  return defineTool({
    name,
    description,
    parameters: z.object({ to: z.string().optional() }),
    handler: () => `${name} ran`,
    ...more,
  } as never);
}

const mail = tool('send_email', 'Sends an e-mail.');
const weather = tool('get_weather', 'Tells the weather of a city.');
const files = tool('list_files', 'Lists the files of a folder.');
const rocket = tool('launch_rocket', 'Launches a rocket.');

function open(
  discovery: DiscoveryOptions | undefined,
  more: { registry?: RegistryOptions; session?: Partial<SessionOptions>; tools?: Tool[] } = {},
) {
  const registry = new HostToolRegistry(more.registry);
  registry.registerAll(more.tools ?? [mail, weather, files, rocket]);
  const session = registry.createSession({ sessionId: 's', ...more.session, discovery });
  const events: AnyEvent[] = [];
  session.events.on('*', (event) => events.push(event));
  return {
    registry,
    session,
    events,
    names: () => session.tools().map(({ name }) => name),
    async find(query: string, limit?: number) {
      const { output, error } = await session.call('find_tools', {
        query,
        ...(limit === undefined ? {} : { limit }),
      });
      if (error !== undefined) throw new Error(error.message);
      return (output as { tools: { name: string; parameters?: object }[] }).tools;
    },
  };
}

describe('session.search', () => {
  test('finds tools by what they do, and says why', () => {
    const { session } = open(undefined, {
      registry: { rules: [{ effect: 'ask', tools: 'send_*' }] },
    });
    expect(session.search('mail somebody')).toEqual([
      {
        name: 'send_email',
        description: 'Sends an e-mail.',
        score: 1,
        requiresApproval: true,
        why: ['mail'],
      },
    ]);
  });

  test.each([
    ['a rule denies', { registry: { rules: [{ effect: 'deny', tools: 'launch_*' }] } }],
    ['an override disables', { session: { overrides: { disable: ['launch_rocket'] } } }],
    [
      'is internal',
      { tools: [mail, tool('launch_rocket', 'Launches.', { exposure: 'internal' })] },
    ],
    [
      'waits for a fact',
      { tools: [mail, tool('launch_rocket', 'L.', { requires: [{ fact: 'go', equals: true }] })] },
    ],
    [
      'lacks its knobs',
      {
        tools: [
          mail,
          tool('launch_rocket', 'L.', { policy: { knobs: z.object({ a: z.string() }) } }),
        ],
      },
    ],
  ] as const)('does not find what %s', (_, more) => {
    const { session } = open(undefined, more as never);
    expect(session.search('launch a rocket')).toEqual([]);
  });

  test('does not find what is outside of the profile', () => {
    const { registry } = open(undefined);
    registry.defineProfile({ id: 'small', tools: ['send_email'] });
    const session = registry.createSession({ sessionId: 't', profile: 'small' });
    expect(session.search('launch rocket weather mail').map(({ name }) => name)).toEqual([
      'send_email',
    ]);
  });

  test('follows changes of the registry, of facts and of the session’s own tools', () => {
    const { registry, session } = open(undefined);
    const found = (query: string) => session.search(query).map(({ name }) => name);
    const added = registry.register(tool('play_music', 'Plays music.'));
    expect(found('music')).toEqual(['play_music']);
    added.unregister();
    expect(found('music')).toEqual([]);
    session.register(tool('own_music', 'Plays music.'));
    expect(found('music')).toEqual(['own_music']);
    expect(registry.createSession({ sessionId: 'other' }).search('music')).toEqual([]);
  });

  test.each([
    ['', 'an empty text'],
    [' \n', 'an empty text'],
    ['x'.repeat(4_097), '4097 characters'],
    [7, 'number'],
  ])('refuses %j', (query, got) => {
    const { session } = open(undefined);
    expect(() => session.search(query as string)).toThrow(MisuseError);
    expect(() => session.search(query as string)).toThrow(got);
  });

  test('a limit is from 1 to 100', () => {
    const { session } = open(undefined);
    expect(session.search('weather files mail rocket', { limit: 2 })).toHaveLength(2);
    for (const limit of [0, 101, 1.5])
      expect(() => session.search('weather', { limit })).toThrow('limit');
  });

  test('one source cannot push the host’s tools out of the first five', () => {
    const { registry, session } = open(undefined);
    const scope = registry.scope('plugin:loud');
    for (let at = 0; at < 20; at++)
      scope.register(tool(`loud_${at}`, 'weather weather city weather city', {}));
    expect(
      session
        .search('weather of a city')
        .slice(0, 5)
        .map(({ name }) => name),
    ).toContain('get_weather');
  });
});

test('a large registry is read before the first search, a small one is not', async () => {
  const many = Array.from({ length: 501 }, (_, at) => tool(`tool_${at}`, `Does the work ${at}.`));
  const { registry, session } = open(undefined, { tools: many });
  const finder = finderSlot.of(registryStateOf(registry));
  await vi.waitFor(() => expect(finder?.epoch).toBe(registryStateOf(registry).epoch));
  expect(session.search('work 77')[0]?.name).toBe('tool_77');
  // What joined meanwhile is read by the search.
  registry.register(weather);
  expect(session.search('weather')[0]?.name).toBe('get_weather');
  const few = open(undefined, { tools: many.slice(1) });
  expect(finderSlot.of(registryStateOf(few.registry))).toBeUndefined();
});

test('a registry that closes while it is read reads no further', async () => {
  const many = Array.from({ length: 2_000 }, (_, at) =>
    tool(`tool_${at}`, Array.from({ length: 60 }, (_, word) => `word${at}x${word}`).join(' ')),
  );
  const { registry } = open(undefined, { tools: many });
  await registry.close();
  const finder = finderSlot.of(registryStateOf(registry));
  await finder?.reading;
  expect(finder?.epoch).not.toBe(registryStateOf(registry).epoch);
});

describe('discovery', () => {
  test('lists what is kept, and find_tools; what is found joins at the end', async () => {
    const { names, find } = open({ keep: 'list_*' });
    expect(names()).toEqual(['list_files', 'find_tools']);
    expect(await find('weather in Paris')).toEqual([
      {
        name: 'get_weather',
        description: 'Tells the weather of a city.',
        requiresApproval: false,
        parameters: weather.parameters,
      },
    ]);
    await find('mail');
    expect(names()).toEqual(['list_files', 'find_tools', 'get_weather', 'send_email']);
    await find('weather');
    expect(names()).toEqual(['list_files', 'find_tools', 'get_weather', 'send_email']);
  });

  test('without any kept tool it lists find_tools', () => {
    expect(open({}).names()).toEqual(['find_tools']);
    expect(open({ keep: 'nothing_*' }, { tools: [] }).names()).toEqual(['find_tools']);
  });

  test('what it lists keeps its bytes', async () => {
    const { session, find } = open({ keep: ['list_files', 'send_*'] });
    const before = session.tools();
    await find('weather');
    expect(session.tools().slice(0, before.length)).toEqual(before);
  });

  test('what was not found is not listed, and can be called by name', async () => {
    const { session } = open({});
    expect(session.effectiveTools().dropped).toContainEqual({
      name: 'send_email',
      code: 'not_discovered',
    });
    expect(await session.explain('send_email', {})).toMatchObject({
      visible: false,
      hiddenBy: 'not_discovered',
    });
    expect(await session.call('send_email', {})).toMatchObject({ output: 'send_email ran' });
  });

  test('listeners get what was discovered', async () => {
    const { events, find } = open({});
    await find('weather');
    expect(events.filter(({ type }) => type === 'tools:changed')).toMatchObject([
      { added: ['get_weather'], removed: [], modified: [], reason: 'discovered' },
    ]);
    await find('weather');
    expect(events.filter(({ type }) => type === 'tools:changed')).toHaveLength(1);
  });

  test('over the budget of tokens, what was not called for longest leaves', async () => {
    const { session, names, find } = open({ maxTokens: 90 });
    await find('weather');
    await find('mail');
    await session.call('get_weather', {});
    await find('rocket');
    expect(names()).toEqual(['find_tools', 'get_weather', 'launch_rocket']);
  });

  test('a tool beyond the budget is named without its schema, and is not listed', async () => {
    const { names, find } = open({ maxTokens: 1 });
    expect(await find('weather')).toEqual([
      { name: 'get_weather', description: 'Tells the weather of a city.', requiresApproval: false },
    ]);
    expect(names()).toEqual(['find_tools']);
  });

  test('the answer fits the budget: schemas are left out first, then tools', async () => {
    const search = async (maxOutputChars: number) => {
      const { registry } = open(undefined);
      registry.defineProfile({
        id: 'p',
        tools: ['send_email', 'get_weather', 'list_files'],
        limits: { maxOutputChars },
      });
      const session = registry.createSession({ sessionId: 't', profile: 'p', discovery: {} });
      const result = await session.call('find_tools', { query: 'weather mail files' });
      expect(result.metadata.truncated).toBeUndefined();
      const { tools } = result.output as { tools: { parameters?: object }[] };
      return [
        tools.length,
        tools.filter(({ parameters }) => parameters !== undefined).length,
        session.tools().length,
      ];
    };
    expect(await search(10_000)).toEqual([3, 3, 4]);
    expect(await search(400)).toEqual([3, 1, 4]);
    expect(await search(120)).toEqual([1, 0, 4]);
  });

  test('a call finds at most as many as the session allows', async () => {
    const { find } = open({ limit: 2 });
    expect(await find('weather mail files rocket')).toHaveLength(2);
    expect(await find('weather mail files rocket', 1)).toHaveLength(1);
    expect(await find('weather mail files rocket', 50)).toHaveLength(2);
  });

  test('find_tools passes the gates as any other tool does', async () => {
    const denied = open({}, { registry: { rules: [{ effect: 'deny', tools: 'find_tools' }] } });
    expect(denied.names()).toEqual([]);
    expect(await denied.session.call('find_tools', { query: 'x' })).toMatchObject({
      error: { code: 'policy_denied' },
    });
    const counted = open({});
    await counted.find('weather');
    expect(counted.session.metrics().calls).toBe(1);
  });

  test.each([
    [{ query: '' }, 'Describe the task in a few words'],
    [{ query: ' ' }, 'Describe the task in a few words'],
    [{ query: 'x'.repeat(4_097) }, '4097 characters'],
    [{}, 'undefined'],
    [{ query: 'x', limit: 0 }, 'from 1 to 100'],
    [{ query: 'x', limt: 1 }, 'limt'],
  ])('%j is invalid input', async (input, message) => {
    const { error } = await open({}).session.call('find_tools', input);
    expect(error).toMatchObject({ code: 'invalid_input' });
    expect(error?.message).toContain(message);
  });

  test('its first search among many tools lets other work run in between', async () => {
    const words = (n: number) => Array.from({ length: 300 }, (_, at) => `word${n}x${at}`).join(' ');
    const tools = Array.from({ length: 200 }, (_, n) => tool(`tool_${n}`, words(n)));
    const { find } = open({}, { tools: [...tools, rocket] });
    let turns = 0;
    let over = false;
    const turn = (): void => {
      turns++;
      if (!over) setImmediate(turn);
    };
    setImmediate(turn);
    expect(await find('launch a rocket')).toMatchObject([{ name: 'launch_rocket' }]);
    over = true;
    expect(turns).toBeGreaterThan(1);
  });

  test('a session that is created with discovery reads the tools before anybody asks', async () => {
    const { registry } = open({});
    const finder = finderSlot.of(registryStateOf(registry));
    const isRead = () => finder?.epoch === registryStateOf(registry).epoch;
    expect(isRead()).toBe(false);
    await vi.waitFor(() => expect(isRead()).toBe(true));
    expect(finderSlot.of(registryStateOf(open(undefined).registry))).toBeUndefined();
  });

  test('what is removed while it reads is not found', async () => {
    const words = (n: number) => Array.from({ length: 300 }, (_, at) => `word${n}x${at}`).join(' ');
    const tools = Array.from({ length: 200 }, (_, n) => tool(`tool_${n}`, words(n)));
    const { find, registry } = open({}, { tools });
    const registration = registry.register(rocket);
    const finding = find('launch a rocket');
    registration.unregister();
    expect(await finding).toEqual([]);
    expect(await find('word7x3')).toMatchObject([{ name: 'tool_7' }]);
  });

  test('a profile need not list it', async () => {
    const { registry } = open(undefined);
    registry.defineProfile({ id: 'small', tools: ['send_email', 'get_weather'] });
    const session = registry.createSession({ sessionId: 't', profile: 'small', discovery: {} });
    expect(session.tools().map(({ name }) => name)).toEqual(['find_tools']);
    await session.call('find_tools', { query: 'weather rocket' });
    expect(session.tools().map(({ name }) => name)).toEqual(['find_tools', 'get_weather']);
  });

  test('a found tool that is hidden is not listed, and keeps its place', async () => {
    const locked = tool('open_door', 'Opens a door.', { requires: [{ fact: 'in', equals: true }] });
    const { session, names, find } = open(
      {},
      { tools: [mail, weather, locked], session: { facts: { in: true } } },
    );
    await find('door');
    await find('weather');
    session.setFacts({ in: false });
    expect(names()).toEqual(['find_tools', 'get_weather']);
    session.setFacts({ in: true });
    expect(names()).toEqual(['find_tools', 'open_door', 'get_weather']);
  });

  test('what reads long outputs is listed, if a tool offloads', () => {
    const { names } = open(
      {},
      {
        registry: { offload: {} },
        tools: [tool('dump', 'Dumps.', { outputStrategy: 'offload', maxOutputChars: 1_000 })],
      },
    );
    expect(names()).toEqual(['read_tool_output', 'find_tools']);
    expect(open({}, { registry: { offload: {} } }).names()).toEqual(['find_tools']);
  });

  test('a host’s own tool of that name wins', () => {
    const own = tool('find_tools', 'Mine.');
    expect(() => open({}, { tools: [own] })).toThrow('Rename your tool, or leave out `discovery`');
    const { registry, session, names } = open({});
    registry.register(own);
    expect(session.tool('find_tools')?.description).toBe('Mine.');
    expect(names()).not.toContain('get_weather');
  });

  test('a tool of another source does not win', async () => {
    const { registry, session, names, find } = open({ keep: 'list_*' });
    const scope = registry.scope('plugin:loud');
    scope.register(tool('find_tools', 'Mine.', { handler: () => 'fooled' }));
    const later = registry.createSession({ sessionId: 'later', discovery: { keep: 'find_*' } });
    for (const one of [session, later]) {
      expect(one.tool('find_tools')?.description).not.toBe('Mine.');
      const { output } = await one.call('find_tools', { query: 'weather' });
      expect(output).toMatchObject({ tools: [{ name: 'get_weather' }] });
      expect(one.search('find tools mine').map(({ name }) => name)).not.toContain('find_tools');
    }
    expect(names()).toEqual(['list_files', 'find_tools', 'get_weather']);
    expect(later.tools().map(({ name }) => name)).toEqual(['find_tools', 'get_weather']);
    expect(await find('mine')).toEqual([]);
    const plain = registry.createSession({ sessionId: 'plain' });
    expect(plain.tool('find_tools')?.description).toBe('Mine.');
  });

  test('a tool of the session cannot take the place of find_tools', () => {
    const { session, registry } = open({});
    expect(() => session.register(tool('find_tools', 'Mine.'))).toThrow('Choose another name');
    const plain = registry.createSession({ sessionId: 'plain' });
    plain.register(tool('find_tools', 'Mine.'));
    expect(plain.tool('find_tools')?.description).toBe('Mine.');
  });

  test('sessions with and without discovery of one registry do not mix', async () => {
    const { registry, names, find } = open({});
    await find('weather');
    const plain = registry.createSession({ sessionId: 'plain' });
    const other = registry.createSession({ sessionId: 'other', discovery: {} });
    expect(plain.tools()).toHaveLength(4);
    expect(other.tools().map(({ name }) => name)).toEqual(['find_tools']);
    expect(names()).toEqual(['find_tools', 'get_weather']);
  });

  test('a batch may call find_tools and what is not listed', async () => {
    const { session } = open({});
    const { results } = await session.executeBatch([
      { id: 'a', name: 'find_tools', arguments: { query: 'weather' } },
      { id: 'b', name: 'send_email', arguments: {} },
    ]);
    expect(results.map(({ result }) => result.success)).toEqual([true, true]);
  });

  test.each([
    [{ keep: 7 }, 'discovery.keep'],
    [{ keep: [''] }, 'discovery.keep'],
    [{ maxTokens: 0 }, 'discovery.maxTokens'],
    [{ limit: 101 }, 'discovery.limit'],
    [{ embed: 'x' }, 'discovery.embed'],
    [{ kep: 'x' }, 'keep'],
    [true, 'discovery'],
  ])('%j is a wrong option', (discovery, message) => {
    expect(() => open(discovery as never)).toThrow(message);
  });
});

describe('embed', () => {
  /** One number per topic: what a text says of heat and of post. */
  const embed = async (texts: readonly string[]) =>
    texts.map((text) => [
      /weather|warm|rain/i.test(text) ? 1 : 0.01,
      /mail|letter|post/i.test(text) ? 1 : 0.01,
    ]);

  test('what means the same is found without a common word', async () => {
    const { find } = open({ embed, limit: 1 });
    expect(await find('is it warm outside')).toMatchObject([{ name: 'get_weather' }]);
    expect(await find('write a letter')).toMatchObject([{ name: 'send_email' }]);
  });

  test('what is hidden while it thinks is not found', async () => {
    let go: () => void = () => undefined;
    const going = new Promise<void>((resolve) => {
      go = resolve;
    });
    const { session, find, names } = open({ embed: (texts) => going.then(() => embed(texts)) });
    const finding = find('launch a rocket');
    session.setOverrides({ disable: ['launch_rocket'] });
    go();
    expect((await finding).map(({ name }) => name)).not.toContain('launch_rocket');
    session.setOverrides({});
    expect(names()).not.toContain('launch_rocket');
  });

  test('each definition is asked about once', async () => {
    const asked = vi.fn(embed);
    const { find } = open({ embed: asked });
    await find('warm');
    await find('rain');
    expect(asked.mock.calls.map(([texts]) => texts.length)).toEqual([4, 1, 1]);
  });

  test('calls at the same time ask about each definition once', async () => {
    const asked = vi.fn(embed);
    const { find } = open({ embed: asked });
    await Promise.all([find('warm'), find('rain'), find('a letter')]);
    expect(asked.mock.calls.map(([texts]) => texts.length)).toEqual([4, 1, 1, 1]);
  });

  test('lists of 32 and of 64 bits are taken as they are', async () => {
    for (const List of [Float32Array, Float64Array]) {
      const { find } = open({
        embed: async (texts) => (await embed(texts)).map((numbers) => List.from(numbers)),
        limit: 1,
      });
      expect(await find('is it warm outside')).toMatchObject([{ name: 'get_weather' }]);
    }
  });

  test('one that never answers is given up, for all who wait, and words alone count', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const error = vi.fn();
    const { find } = open(
      { embed: () => new Promise(() => {}) },
      { registry: { logger: { warn: () => undefined, error } } },
    );
    const finding = Promise.all([find('weather'), find('mail')]);
    await vi.waitFor(() => expect(vi.getTimerCount()).toBeGreaterThan(0));
    await vi.advanceTimersByTimeAsync(10_000);
    expect((await finding).map(([first]) => first?.name)).toEqual(['get_weather', 'send_email']);
    expect(error).toHaveBeenCalledTimes(2);
    vi.useRealTimers();
  });

  test('tools that mean nothing to it keep the order of the words', async () => {
    const { find } = open({ embed: async (texts) => texts.map(() => [0, 0]) });
    const names = (await find('the weather in a city')).map(({ name }) => name);
    expect(names[0]).toBe('get_weather');
    const { find: plain } = open({});
    const [first] = await plain('files mail');
    expect((await find('files mail'))[0]?.name).toBe(first?.name);
  });

  test('a model that changes is asked again', async () => {
    let width = 2;
    const asked = vi.fn(async (texts: readonly string[]) =>
      (await embed(texts)).map((numbers) => [...numbers, 0, 0].slice(0, width)),
    );
    const error = vi.fn();
    const { find } = open(
      { embed: asked, limit: 1 },
      { registry: { logger: { warn: () => undefined, error } } },
    );
    await find('warm');
    width = 3;
    expect(await find('weather')).toMatchObject([{ name: 'get_weather' }]);
    expect(error).toHaveBeenCalledTimes(1);
    expect(await find('is it warm outside')).toMatchObject([{ name: 'get_weather' }]);
    expect(asked.mock.calls.map(([texts]) => texts.length)).toEqual([4, 1, 1, 4, 1]);
  });

  test('it may change facts, profiles and tools meanwhile', async () => {
    const { registry, session, find, names } = open({
      embed: async (texts) => {
        session.setFacts({ go: texts.length });
        session.setProfile('few');
        registry.unregister('launch_rocket');
        registry.unregister('get_weather');
        registry.register(tool('get_weather', 'Another one.'));
        return embed(texts);
      },
    });
    registry.defineProfile({ id: 'few', tools: ['send_email', 'get_weather'] });
    const found = (await find('weather mail rocket files')).map(({ name }) => name);
    // The new `get_weather` is not the tool that was found.
    expect(found).toEqual(['send_email']);
    expect(names()).toEqual(['find_tools', 'send_email']);
  });

  test.each([
    ['throws', () => Promise.reject(new Error('away'))],
    [
      'throws at once',
      () => {
        throw new Error('away');
      },
    ],
    ['gives nothing', () => undefined],
    ['gives a text', async () => 'xxxx'],
    ['gives too many answers', async (texts: readonly string[]) => [...texts, 'x'].map(() => [1])],
    ['gives holes', async (texts: readonly string[]) => texts.map(() => new Array(3))],
    ['gives infinity', async (texts: readonly string[]) => texts.map(() => [1e200, 1e200])],
    ['gives objects', async (texts: readonly string[]) => texts.map(() => ({ 0: 1, length: 1 }))],
    ['gives too few answers', async () => []],
    ['gives what is not numbers', async (texts: readonly string[]) => texts.map(() => ['x'])],
    ['gives no numbers', async (texts: readonly string[]) => texts.map(() => [Number.NaN])],
  ])('one that %s is logged, and words alone count', async (_, broken) => {
    const error = vi.fn();
    const { find } = open(
      { embed: broken as never },
      { registry: { logger: { warn: () => undefined, error } } },
    );
    expect(await find('weather')).toMatchObject([{ name: 'get_weather' }]);
    expect(error).toHaveBeenCalledTimes(1);
  });
});
