/** Messages for a model name tools as that model was shown them. */
import { describe, expect, test } from 'vitest';
import { fail, jsonSchema, type ToolSession } from '../../../src/index.ts';
import { toAiSdkTools } from '../../../src/surfaces/ai-sdk/index.ts';
import {
  type AnthropicBlock,
  dispatchAnthropic,
  toAnthropicTools,
} from '../../../src/surfaces/anthropic/index.ts';
import { dispatchGemini } from '../../../src/surfaces/gemini/index.ts';
import { dispatchLangChain, toLangChainTools } from '../../../src/surfaces/langchain/index.ts';
import { dispatchOpenAI, toOpenAITools } from '../../../src/surfaces/openai/index.ts';
import { createTestSession, mockTool, recordEvents } from '../../../src/surfaces/testing/index.ts';

const needsText = jsonSchema<{ q: string }>({
  type: 'object',
  properties: { q: { type: 'string' } },
  required: ['q'],
});

const world = (): ToolSession =>
  createTestSession({
    tools: [
      mockTool({ name: 'host.open', provides: ['host.ready'] }),
      mockTool({ name: 'host.exec', requires: [{ fact: 'host.ready', equals: true }] }),
      mockTool({ name: 'weather.today', parameters: needsText }),
      mockTool({ name: 'meteo.nächste', parameters: needsText }),
      mockTool({ name: 'host.wire', requiresApproval: true }),
      mockTool({
        name: 'host.odd',
        outputSchema: jsonSchema({ type: 'object', required: ['x'] }),
        output: {},
      }),
      mockTool({
        name: 'host.outer',
        uses: ['weather.today'],
        handler: async (_input, { tools }) => {
          const inner = await tools.call('weather.today', {});
          return fail(inner.error?.message ?? 'none');
        },
      }),
      mockTool({
        name: 'host.quote',
        handler: () => 'The log says: `weather.today` failed, call `host.open` first.',
      }),
      mockTool({
        name: 'host.quote_failure',
        handler: () => {
          throw new Error('The log says: `weather.today` failed.');
        },
      }),
    ],
  });

type Ask = (session: ToolSession, name: string) => Promise<string>;

/** Every way in which a shown name can be called, with arguments that do not matter. */
const ways: readonly (readonly [string, Ask])[] = [
  [
    'dispatchOpenAI',
    async (session, name) => {
      const [answer] = await dispatchOpenAI(session, [
        { id: 'c', type: 'function', function: { name, arguments: '{}' } },
      ]);
      return answer?.content ?? '';
    },
  ],
  [
    'dispatchAnthropic',
    async (session, name) => {
      const [answer] = await dispatchAnthropic(session, [
        { type: 'tool_use', id: 'c', name, input: {} } as AnthropicBlock,
      ]);
      return String(answer?.content);
    },
  ],
  [
    'dispatchLangChain',
    async (session, name) => {
      const [answer] = await dispatchLangChain(session, {
        content: '',
        tool_calls: [{ id: 'c', name, args: {} }],
      });
      return String(answer?.content);
    },
  ],
];

describe.each(ways)('%s', (_way, ask) => {
  test.each([
    ['weather_toda', 'Did you mean `weather_today`?'],
    ['host_exec', '`host_exec` is not available until `host.ready` holds. Call `host_open` first.'],
    ['weather_today', 'The arguments of `weather_today` are invalid.'],
    ['meteo_n_chste', 'The arguments of `meteo_n_chste` are invalid.'],
    ['host_wire', 'The call to `host_wire` was not approved'],
    ['host_odd', 'The output of `host_odd` does not match'],
    ['host_outer', 'The arguments of `weather_today` are invalid.'],
  ])('a call to %s is answered in shown names', async (name, words) => {
    const text = await ask(world(), name);
    expect(text).toContain(words);
    expect(text.replaceAll('`host.ready`', '')).not.toMatch(/host\.|weather\.|meteo\./);
  });

  test('what a handler wrote stays as it wrote it, ids of other tools too', async () => {
    const session = world();
    expect(await ask(session, 'host_quote')).toContain(
      '`weather.today` failed, call `host.open` first.',
    );
    expect(await ask(session, 'host_quote_failure')).toContain('`weather.today` failed.');
  });
});

test('a provider that takes dots is answered with dots', async () => {
  const [first, second] = await dispatchGemini(world(), [
    { id: 'c', name: 'weather.today', args: {} },
    { id: 'd', name: 'meteo.n_chste', args: {} },
  ]);
  expect(first?.functionResponse.response).toMatchObject({
    error: { message: expect.stringContaining('`weather.today`') },
  });
  expect(second?.functionResponse.response).toMatchObject({
    error: { message: expect.stringContaining('`meteo.n_chste`') },
  });
});

test('names that differ only in refused characters are each answered as shown', async () => {
  const session = createTestSession({
    tools: ['a.b', 'a_b', 'a/b'].map((name) => mockTool({ name, parameters: needsText })),
  });
  const { nameMap } = toOpenAITools(session);
  for (const [shown] of nameMap) {
    const [answer] = await dispatchOpenAI(session, [
      { id: 'c', type: 'function', function: { name: shown, arguments: '{}' } },
    ]);
    expect(answer?.content).toContain(`The arguments of \`${shown}\` are invalid.`);
  }
});

test('two sessions with different names for one tool each get their own', async () => {
  const first = createTestSession({ tools: [mockTool({ name: 'a.b', parameters: needsText })] });
  const second = first.registry.createSession({ sessionId: 'second' });
  second.register(mockTool({ name: 'a_b', parameters: needsText }));
  const shownIn = (session: ToolSession): string =>
    [...toOpenAITools(session).nameMap].find(([, id]) => id === 'a.b')?.[0] ?? '';
  const names = [first, second].map(shownIn);
  expect(new Set(names).size).toBe(2);
  const answers = await Promise.all(
    [first, second].map((session, index) =>
      dispatchOpenAI(session, [
        { id: 'c', type: 'function', function: { name: names[index] as string, arguments: '{}' } },
      ]),
    ),
  );
  expect(answers.map(([answer]) => /`([^`]+)`/.exec(answer?.content ?? '')?.[1])).toEqual(names);
});

test('tools that run themselves answer in the names of their listing', async () => {
  const session = world();
  const agents = toOpenAITools(session, { api: 'agents' }).tools.find(
    ({ name }) => name === 'weather_today',
  );
  expect(await agents?.invoke(undefined, '{}')).toContain('`weather_today`');
  const runnable = toAnthropicTools(session, { runnable: true }).tools.find(
    ({ name }) => name === 'weather_today',
  );
  await expect(runnable?.run({})).rejects.toThrow('`weather_today`');
  const chain = toLangChainTools(session).tools.find(({ name }) => name === 'weather_today');
  expect(await chain?.invoke({})).toContain('`weather_today`');
  const sdk = toAiSdkTools(session).tools.weather_today;
  const output = await sdk?.execute({}, { toolCallId: 'c' });
  expect(sdk?.toModelOutput({ output })).toMatchObject({
    value: expect.stringContaining('`weather_today`'),
  });
});

test('a tool that was added after a listing has the name of the next one', async () => {
  const session = createTestSession({ tools: [mockTool({ name: 'host.open' })] });
  const { tools } = toAiSdkTools(session);
  session.register(mockTool({ name: 'host.opens' }));
  session.setOverrides({ disable: ['host.open'] });
  expect(await tools.host_open?.execute({}, { toolCallId: 'c' })).toMatchObject({
    error: { message: expect.stringContaining('`host_open`') },
  });
  const [answer] = await dispatchOpenAI(session, [
    { id: 'd', type: 'function', function: { name: 'host_openz', arguments: '{}' } },
  ]);
  expect(answer?.content).toContain('Did you mean `host_opens`?');
});

test('events, metadata and details name tools by their ids', async () => {
  const session = world();
  const { events } = recordEvents(session);
  const [answer] = await dispatchLangChain(session, {
    content: '',
    tool_calls: [{ id: 'c', name: 'host_exec', args: {} }],
  });
  expect(answer?.artifact).toMatchObject({
    metadata: { toolName: 'host.exec' },
    error: { details: { fact: 'host.ready', unlockedBy: 'host.open' } },
  });
  expect(events.find(({ type }) => type === 'tool:error')).toMatchObject({ toolName: 'host.exec' });
  const [unknown] = await dispatchLangChain(session, {
    content: '',
    tool_calls: [{ id: 'd', name: 'weather_toda', args: {} }],
  });
  expect(unknown?.artifact).toMatchObject({
    error: { details: { didYouMean: ['weather.today'] } },
  });
});

test('without a surface, or if its names are not available, ids are used', async () => {
  const session = world();
  const call = (surface: object | undefined) =>
    session.call('weather.today', {}, { surface: surface as never });
  for (const surface of [
    undefined,
    { name: 'x' },
    { name: 'x', shownName: 'weather' },
    { name: 'x', shownName: () => undefined },
    {
      name: 'x',
      shownName: () => {
        throw new Error('no');
      },
    },
  ])
    expect((await call(surface)).error?.message).toContain('`weather.today`');
});
