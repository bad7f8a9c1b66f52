/** Definitions that a provider's model reads when it has found the tool. */
import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import {
  type AnyEvent,
  type DiscoveryOptions,
  defineTool,
  HostToolRegistry,
  type RegistryOptions,
} from '../../src/index.ts';
import {
  type AnthropicTool,
  dispatchAnthropic,
  toAnthropicTools,
} from '../../src/surfaces/anthropic/index.ts';
import { dispatchOpenAI, toOpenAITools } from '../../src/surfaces/openai/index.ts';
import { closeServersAfterAll, scriptedServer } from './provider-fixtures.ts';

closeServersAfterAll();

function tool(name: string, description: string, more: object = {}) {
  return defineTool({
    name,
    description,
    parameters: z.object({ to: z.string() }),
    handler: () => `${name} ran`,
    ...more,
  } as never);
}

function open(
  discovery: DiscoveryOptions | undefined = { keep: 'read_*' },
  more: RegistryOptions = {},
) {
  const registry = new HostToolRegistry({
    rules: [
      { effect: 'deny', tools: 'drop_*' },
      { effect: 'ask', tools: 'mail.*' },
    ],
    ...more,
  });
  registry.registerAll([
    tool('mail.send', 'Sends an e-mail.'),
    tool('read_file', 'Reads a file.'),
    tool('get_weather', 'Tells the weather of a city.'),
    tool('drop_table', 'Drops a table of mail and weather.'),
    tool('inner', 'Mail and weather.', { exposure: 'internal' }),
    tool('later', 'Mail and weather.', { requires: [{ fact: 'go', equals: true }] }),
  ]);
  const session = registry.createSession({
    sessionId: 's',
    discovery,
    approver: () => 'allow_once',
  });
  const events: AnyEvent[] = [];
  session.events.on('*', (event) => events.push(event));
  return { registry, session, events };
}

const use = (id: string, name: string, input: unknown) => ({
  type: 'tool_use' as const,
  id,
  name,
  input,
});
const asked = (query: string) => [use('a', 'find_tools', { query })];

describe('Anthropic', () => {
  const listed = (session: ReturnType<typeof open>['session'], defer: 'ours' | 'provider') =>
    toAnthropicTools(session, { defer } as { defer: 'provider' }).tools;

  test('ours: what is kept and find_tools are read, everything else is deferred', () => {
    const { session } = open();
    expect(
      listed(session, 'ours').map((one) => [one.name, (one as AnthropicTool).defer_loading]),
    ).toEqual([
      ['read_file', undefined],
      ['find_tools', undefined],
      ['mail_send', true],
      ['get_weather', true],
    ]);
  });

  test('provider: the provider’s own search takes the place of find_tools', () => {
    const { session } = open();
    expect(listed(session, 'provider')).toMatchObject([
      { name: 'read_file' },
      { type: 'tool_search_tool_bm25_20251119', name: 'tool_search_tool_bm25' },
      { name: 'mail_send', defer_loading: true },
      { name: 'get_weather', defer_loading: true },
    ]);
  });

  test('what was found moves no byte of the list', async () => {
    const { session } = open();
    const before = JSON.stringify(listed(session, 'ours'));
    await dispatchAnthropic(session, asked('weather'));
    expect(JSON.stringify(listed(session, 'ours'))).toBe(before);
    expect(session.tools().map(({ name }) => name)).toContain('get_weather');
  });

  test('ours: find_tools answers with references, and says what needs an approval', async () => {
    const { session } = open();
    listed(session, 'ours');
    expect(await dispatchAnthropic(session, asked('weather'))).toEqual([
      {
        type: 'tool_result',
        tool_use_id: 'a',
        content: [{ type: 'tool_reference', tool_name: 'get_weather' }],
      },
    ]);
    expect((await dispatchAnthropic(session, asked('mail')))[0]?.content).toEqual([
      { type: 'text', text: 'A call needs an approval: `mail_send`.' },
      { type: 'tool_reference', tool_name: 'mail_send' },
    ]);
    expect((await dispatchAnthropic(session, asked('xyzzy')))[0]?.content).toEqual([
      { type: 'text', text: 'No tool fits. Describe the task in other words.' },
    ]);
  });

  test('ours: a tool without room is named without a reference', async () => {
    const { session } = open({ maxTokens: 1 });
    listed(session, 'ours');
    expect((await dispatchAnthropic(session, asked('weather')))[0]?.content).toEqual([
      { type: 'text', text: 'Ask again with a smaller `limit` to use: `get_weather`.' },
    ]);
  });

  test('ours: a small budget of outputs cuts no reference', async () => {
    const { registry } = open();
    registry.defineProfile({
      id: 'short',
      tools: ['get_weather', 'mail.send', 'read_file'],
      limits: { maxOutputChars: 200 },
    });
    const session = registry.createSession({ sessionId: 'short', profile: 'short', discovery: {} });
    listed(session, 'ours');
    expect((await dispatchAnthropic(session, asked('weather of a city')))[0]?.content).toEqual([
      { type: 'tool_reference', tool_name: 'get_weather' },
    ]);
  });

  test('without deferred tools, find_tools answers with texts, under the shown names', async () => {
    const { session } = open();
    listed(session, 'ours');
    toAnthropicTools(session);
    const [answer] = await dispatchAnthropic(session, asked('mail'));
    expect(JSON.parse(answer?.content as string)).toMatchObject({
      tools: [{ name: 'mail_send', requiresApproval: true }],
    });
    expect(toAnthropicTools(session).tools.map(({ name }) => name)).toContain('mail_send');
  });

  test('calls of what was found pass the same gates, and so do calls of what was not', async () => {
    const { session, events } = open();
    listed(session, 'provider');
    const answers = await dispatchAnthropic(session, [
      use('a', 'mail_send', { to: 'x' }),
      use('b', 'drop_table', { to: 'x' }),
      use('c', 'inner', { to: 'x' }),
    ]);
    expect(answers.map(({ is_error }) => is_error)).toEqual([undefined, true, true]);
    expect(answers[0]?.content).toBe('mail.send ran');
    expect(events.map(({ type }) => type)).toContain('approval:required');
  });

  test('a session whose rules hide find_tools defers nothing', () => {
    const { session } = open({ keep: 'read_*' }, { rules: [{ effect: 'deny', tools: 'find_*' }] });
    expect(listed(session, 'ours').map(({ name }) => name)).toEqual(['read_file']);
    expect(listed(session, 'provider').map(({ name }) => name)).toEqual([
      'read_file',
      'tool_search_tool_bm25',
      'mail_send',
      'get_weather',
      'drop_table',
    ]);
  });

  test('a session that keeps everything has no search', () => {
    const { session } = open({ keep: '*' });
    for (const defer of ['ours', 'provider'] as const)
      expect(listed(session, defer).map(({ name }) => name)).toEqual([
        'mail_send',
        'read_file',
        'get_weather',
      ]);
  });

  test('follows facts', () => {
    const { session } = open();
    session.setFacts({ go: true });
    expect(listed(session, 'ours').map(({ name }) => name)).toContain('later');
  });

  test('needs discovery, and one of two words', () => {
    expect(() =>
      toAnthropicTools(open().registry.createSession({ sessionId: 't' }), { defer: 'ours' }),
    ).toThrow('Pass `discovery: {}` to createSession');
    expect(() => toAnthropicTools(open().session, { defer: true as never })).toThrow('defer');
  });

  test('the client sends what is deferred, and the references', async () => {
    const asks = {
      id: 'm',
      type: 'message',
      role: 'assistant',
      content: asked('weather'),
      stop_reason: 'tool_use',
      usage: {},
    };
    const server = await scriptedServer([
      asks,
      { ...asks, content: [use('b', 'get_weather', { to: 'x' })] },
      { ...asks, content: [{ type: 'text', text: 'Sun.' }], stop_reason: 'end_turn' },
    ]);
    const client = new Anthropic({ apiKey: 'none', baseURL: server.url, maxRetries: 0 });
    const { session } = open();
    const messages: Anthropic.MessageParam[] = [{ role: 'user', content: 'Weather?' }];
    for (;;) {
      const { tools } = toAnthropicTools(session, { defer: 'ours' });
      const message = await client.messages.create({
        model: 'm',
        max_tokens: 100,
        messages,
        tools,
      });
      messages.push({ role: 'assistant', content: message.content });
      if (message.stop_reason !== 'tool_use') break;
      messages.push({ role: 'user', content: await dispatchAnthropic(session, message) });
    }
    const [first, second, third] = server.requests.map(({ body }) => body);
    expect(JSON.stringify(second?.tools)).toBe(JSON.stringify(first?.tools));
    expect(JSON.stringify(third?.messages)).toContain('get_weather ran');
    expect(JSON.stringify(second?.messages)).toContain('"tool_name":"get_weather"');
  });

  test('the tool runner gets the references too', async () => {
    const { session } = open();
    const { tools } = toAnthropicTools(session, { defer: 'ours', runnable: true });
    const finder = tools.find(({ name }) => name === 'find_tools');
    expect(await finder?.run({ query: 'weather' })).toEqual([
      { type: 'tool_reference', tool_name: 'get_weather' },
    ]);
  });
});

describe('OpenAI', () => {
  const search = (query: string, execution = 'client') => ({
    type: 'tool_search_call',
    id: 'ts',
    call_id: 'a',
    execution,
    arguments: { query },
  });

  test('ours: a search that the session runs, and no definition that was not found', () => {
    const { session } = open();
    const { tools } = toOpenAITools(session, { api: 'responses', defer: 'ours' });
    expect(tools).toMatchObject([
      { type: 'function', name: 'read_file' },
      { type: 'tool_search', execution: 'client', parameters: { required: ['query'] } },
    ]);
    expect(tools).toHaveLength(2);
  });

  test('provider: the provider searches all definitions', () => {
    const { tools } = toOpenAITools(open().session, { api: 'responses', defer: 'provider' });
    expect(tools).toMatchObject([
      { name: 'read_file' },
      { type: 'tool_search' },
      { name: 'mail_send', defer_loading: true },
      { name: 'get_weather', defer_loading: true },
    ]);
    expect(tools[0]).not.toHaveProperty('defer_loading');
  });

  test('a search is a call to find_tools, and its answer has definitions', async () => {
    const { session, events } = open();
    const before = toOpenAITools(session, { api: 'responses', defer: 'ours' }).tools;
    const answers = await dispatchOpenAI(session, [search('weather')]);
    expect(answers).toEqual([
      {
        type: 'tool_search_output',
        call_id: 'a',
        execution: 'client',
        status: 'completed',
        tools: [
          {
            type: 'function',
            name: 'get_weather',
            description: 'Tells the weather of a city.',
            parameters: expect.objectContaining({ required: ['to'], additionalProperties: false }),
            strict: true,
            defer_loading: true,
          },
        ],
      },
    ]);
    expect(events).toContainEqual(
      expect.objectContaining({ type: 'tool:pre', toolName: 'find_tools' }),
    );
    expect(toOpenAITools(session, { api: 'responses', defer: 'ours' }).tools).toEqual(before);
  });

  test('definitions follow the mode of the list', async () => {
    const { session } = open();
    toOpenAITools(session, { api: 'responses', defer: 'ours', strict: false });
    const [answer] = await dispatchOpenAI(session, [search('mail')]);
    expect(answer).toMatchObject({ tools: [{ name: 'mail_send', strict: false }] });
  });

  test('what hides from the session is in no answer', async () => {
    const { session } = open();
    const [answer] = await dispatchOpenAI(session, [search('drop mail weather table inner later')]);
    expect((answer as { tools: { name: string }[] }).tools.map(({ name }) => name).sort()).toEqual([
      'get_weather',
      'mail_send',
    ]);
  });

  test('a search that fails finds nothing; one that the provider ran is not ours', async () => {
    const { session } = open();
    expect(await dispatchOpenAI(session, [search('')])).toMatchObject([
      { call_id: 'a', tools: [] },
    ]);
    expect(await dispatchOpenAI(session, [search('weather', 'server')])).toEqual([]);
    const plain = open().registry.createSession({ sessionId: 't' });
    expect(await dispatchOpenAI(plain, [search('weather')])).toMatchObject([{ tools: [] }]);
  });

  test.each(['chat', 'agents'] as const)('the API %s has no search', (api) => {
    expect(() => toOpenAITools(open().session, { api, defer: 'ours' } as never)).toThrow(
      `\`defer\` needs \`api: "responses"\`, got \`${api}\``,
    );
  });

  test('the client sends the search and takes its answer', async () => {
    const response = (output: unknown[]) => ({ id: 'r', object: 'response', output });
    const call = {
      type: 'function_call',
      call_id: 'b',
      name: 'get_weather',
      arguments: '{"to":"x"}',
    };
    const server = await scriptedServer([
      response([search('weather')]),
      response([call]),
      response([]),
    ]);
    const client = new OpenAI({ apiKey: 'none', baseURL: server.url, maxRetries: 0 });
    const { session } = open();
    const input: OpenAI.Responses.ResponseInput = [{ role: 'user', content: 'Weather?' }];
    for (;;) {
      const { tools } = toOpenAITools(session, { api: 'responses', defer: 'ours' });
      const { output } = await client.responses.create({ model: 'm', input, tools });
      if (output.length === 0) break;
      input.push(...(output as OpenAI.Responses.ResponseInput));
      input.push(...(await dispatchOpenAI(session, output)));
    }
    expect(input.slice(2)).toMatchObject([
      { type: 'tool_search_output', tools: [{ name: 'get_weather' }] },
      { type: 'function_call' },
      { type: 'function_call_output', output: 'get_weather ran' },
    ]);
    expect(server.requests.map(({ body }) => (body.tools as unknown[]).length)).toEqual([2, 2, 2]);
  });
});
