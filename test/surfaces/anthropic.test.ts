import Anthropic from '@anthropic-ai/sdk';
import { describe, expect, test } from 'vitest';
import { type JsonObject, jsonSchema } from '../../src/index.ts';
import { dispatchAnthropic, toAnthropicTools } from '../../src/surfaces/anthropic/index.ts';
import { createTestSession, mockTool } from '../../src/surfaces/testing/index.ts';
import {
  closeServersAfterAll,
  hostileCalls,
  png,
  providerTools,
  scriptedServer,
} from './provider-fixtures.ts';

closeServersAfterAll();
const client = (baseURL: string) => new Anthropic({ apiKey: 'none', baseURL, maxRetries: 0 });
const session = () => createTestSession({ tools: providerTools() });
const use = (id: string, name: string, input: unknown) => ({
  type: 'tool_use' as const,
  id,
  name,
  input,
});
const withParameters = (name: string, schema: JsonObject) =>
  mockTool({ name, parameters: jsonSchema<object>(schema) });

describe('toAnthropicTools', () => {
  test('shows the tools’ own schemas, unchanged, under names that fit', () => {
    const host = session();
    const { tools, nameMap, warnings } = toAnthropicTools(host);
    expect(tools).toEqual(
      host.tools().map(({ name, description, inputSchema }) => ({
        name: name.replace('.', '_'),
        description,
        input_schema: inputSchema,
      })),
    );
    expect(nameMap.get('weather_today')).toBe('weather.today');
    expect(warnings).toEqual([]);
  });

  test('strict tool use where it can say the schema: optional properties stay optional', () => {
    const { tools, warnings } = toAnthropicTools(session(), { strict: true });
    expect(tools[0]).toEqual({
      name: 'weather_today',
      description: 'The weather of a city.',
      strict: true,
      input_schema: {
        type: 'object',
        properties: {
          city: { type: 'string', description: '(minLength: 1)' },
          unit: { type: 'string', enum: ['c', 'f'] },
        },
        required: ['city'],
        additionalProperties: false,
      },
    });
    expect(tools.map(({ strict }) => strict)).toEqual([true, undefined, true, true]);
    expect(warnings.map(({ tool, path }) => [tool, path])).toEqual([
      ['weather.today', '/properties/city/minLength'],
      ['weather.today', '/properties/unit/default'],
      ['tag', '/properties/tags'],
    ]);
  });

  test('a request has room for so many strict tools; the others are shown without', () => {
    const optional = {
      type: 'object',
      properties: Object.fromEntries(
        Array.from({ length: 10 }, (_, index) => [`p${index}`, { type: 'string' }]),
      ),
    };
    const wide = toAnthropicTools(
      createTestSession({ tools: ['a', 'b', 'c'].map((name) => withParameters(name, optional)) }),
      { strict: true },
    );
    expect(wide.tools.map(({ strict }) => strict)).toEqual([true, true, undefined]);
    expect(wide.warnings.map(({ tool, path }) => [tool, path])).toEqual([['c', '']]);
    const many = createTestSession({
      tools: Array.from({ length: 22 }, (_, index) =>
        withParameters(`t${index}`, { type: 'object', properties: {} }),
      ),
    });
    expect(
      toAnthropicTools(many, { strict: true }).tools.filter(({ strict }) => strict === true),
    ).toHaveLength(20);
  });

  test('warns of names of properties for which the API refuses a request', () => {
    const host = createTestSession({
      tools: [withParameters('t', { type: 'object', properties: { 'a b': {}, fine: {} } })],
    });
    expect(toAnthropicTools(host).warnings.map(({ path }) => path)).toEqual(['/properties/a b']);
  });

  test('a root of alternatives, which the API refuses, is one object', () => {
    const host = createTestSession({
      tools: [
        withParameters('t', {
          anyOf: [
            { type: 'object', properties: { a: { type: 'string' } }, required: ['a'] },
            { type: 'object', properties: { b: { type: 'string' } } },
          ],
        }),
      ],
    });
    const { tools, warnings } = toAnthropicTools(host);
    expect(tools[0]?.input_schema).toEqual({
      type: 'object',
      properties: { a: { type: 'string' }, b: { type: 'string' } },
      required: [],
    });
    expect(warnings.map(({ path }) => path)).toEqual(['/anyOf']);
  });

  test('a thousand tools are converted once, for all steps and sessions', () => {
    const host = createTestSession({
      tools: Array.from({ length: 1_000 }, (_, index) =>
        withParameters(`tool_${index}`, { type: 'object', properties: { a: { type: 'string' } } }),
      ),
    });
    const schemas = (from: Parameters<typeof toAnthropicTools>[0]) =>
      toAnthropicTools(from, { strict: true }).tools.map(({ input_schema }) => input_schema);
    const first = schemas(host);
    for (const list of [
      schemas(host),
      schemas(host.registry.createSession({ sessionId: 'other' })),
    ])
      for (const [index, schema] of list.entries()) expect(schema === first[index]).toBe(true);
  });
});

describe('dispatchAnthropic', () => {
  test('answers each call of a message, in order, with blocks for the next message', async () => {
    const content = hostileCalls.map(({ id, name, arguments: input }) => use(id, name, input));
    const answers = await dispatchAnthropic(session(), { content });
    expect(answers.map(({ type, tool_use_id }) => [type, tool_use_id])).toEqual(
      hostileCalls.map(({ id }) => ['tool_result', id]),
    );
    const repaired = { gives: 'Error: ', failed: true };
    for (const [index, call] of hostileCalls.entries()) {
      // Null is no way to leave something out where optional properties stay optional.
      const { gives, failed } =
        index === 0 ? repaired : { gives: call.gives, failed: call.gives === 'Error: ' };
      expect(String(answers[index]?.content).startsWith(gives)).toBe(true);
      expect(answers[index]?.is_error === true).toBe(failed);
    }
  });

  test('takes only the content; images and documents stay, the rest is text', async () => {
    expect(await dispatchAnthropic(session(), [use('1', 'camera', {})])).toEqual([
      {
        type: 'tool_result',
        tool_use_id: '1',
        content: [
          { type: 'text', text: 'A picture:' },
          { type: 'image', source: { type: 'base64', media_type: 'image/png', data: png } },
          {
            type: 'document',
            source: { type: 'base64', media_type: 'application/pdf', data: png },
            title: 'report.pdf',
          },
          { type: 'text', text: '[audio: audio/wav]' },
          { type: 'text', text: '[link: more https://example.com/]' },
        ],
      },
    ]);
  });

  test.each<[string, unknown]>([
    ['a message of text', { content: [{ type: 'text', text: 'Hello.' }] }],
    ['a message whose content is text', { content: 'Hello.' }],
    [
      'tools that others run',
      [
        { type: 'server_tool_use', id: '1', name: 'web_search', input: {} },
        { ...use('2', 'click', {}), toolset_name: 'browser' },
        null,
        'x',
      ],
    ],
  ])('gives no answers for %s', async (_, message) => {
    expect(await dispatchAnthropic(session(), message as never)).toEqual([]);
  });

  test.each([undefined, null, 'text'])('refuses %s, which is no message', async (message) => {
    await expect(dispatchAnthropic(session(), message as never)).rejects.toMatchObject({
      code: 'invalid_option',
    });
  });

  test('its signal cancels every call', async () => {
    const [answer] = await dispatchAnthropic(session(), [use('1', 'camera', {})], {
      signal: AbortSignal.abort(),
    });
    expect(answer).toMatchObject({ tool_use_id: '1', is_error: true });
  });
});

describe('the client', () => {
  const reply = (stop_reason: string, ...content: object[]) => ({
    id: 'm',
    type: 'message',
    role: 'assistant',
    model: 'm',
    stop_reason,
    stop_sequence: null,
    usage: { input_tokens: 1, output_tokens: 1 },
    content,
  });
  const asks = reply(
    'tool_use',
    { type: 'text', text: 'Let me see.' },
    use('a', 'weather_today', { city: 'Oslo' }),
    use('b', 'push', {}),
    use('c', 'camera', {}),
  );
  const ends = reply('end_turn', { type: 'text', text: 'It is 20 degrees.' });

  test('a whole loop', async () => {
    const server = await scriptedServer([asks, ends]);
    const host = session();
    const messages: Anthropic.MessageParam[] = [{ role: 'user', content: 'How warm is it?' }];
    for (;;) {
      const message = await client(server.url).messages.create({
        model: 'm',
        max_tokens: 100,
        messages,
        tools: toAnthropicTools(host).tools,
      });
      messages.push({ role: 'assistant', content: message.content });
      if (message.stop_reason !== 'tool_use') break;
      messages.push({ role: 'user', content: await dispatchAnthropic(host, message) });
    }
    expect(messages.at(-1)).toEqual({
      role: 'assistant',
      content: [{ type: 'text', text: 'It is 20 degrees.' }],
    });
    expect(server.requests.map(({ path }) => path)).toEqual(['/v1/messages', '/v1/messages']);
    expect(
      (server.requests[1]?.body.messages as { content: unknown }[] | undefined)?.[2]?.content,
    ).toMatchObject([
      { tool_use_id: 'a', content: '{"city":"Oslo","degrees":20}' },
      { tool_use_id: 'b', content: 'Error: The tree is dirty.', is_error: true },
      {
        tool_use_id: 'c',
        content: [
          { type: 'text' },
          { type: 'image' },
          { type: 'document' },
          { type: 'text' },
          { type: 'text' },
        ],
      },
    ]);
  });

  test('the tool runner: a whole run', async () => {
    const server = await scriptedServer([asks, ends]);
    const host = session();
    const { tools } = toAnthropicTools(host, { runnable: true });
    const final = await client(server.url).beta.messages.toolRunner({
      model: 'm',
      max_tokens: 100,
      messages: [{ role: 'user', content: 'How warm is it?' }],
      tools,
    });
    expect(final.content).toMatchObject([{ type: 'text', text: 'It is 20 degrees.' }]);
    expect(server.requests[0]?.body.tools).toEqual(
      JSON.parse(JSON.stringify(toAnthropicTools(host).tools)),
    );
    expect(
      (server.requests[1]?.body.messages as { content: unknown }[] | undefined)?.at(-1)?.content,
    ).toMatchObject([
      { tool_use_id: 'a', content: '{"city":"Oslo","degrees":20}' },
      { tool_use_id: 'b', content: 'Error: The tree is dirty.', is_error: true },
      {
        tool_use_id: 'c',
        content: [
          { type: 'text' },
          { type: 'image' },
          { type: 'document' },
          { type: 'text' },
          { type: 'text' },
        ],
      },
    ]);
    expect(host.metrics()).toMatchObject({ calls: 3, succeeded: 2, failed: 1 });
  });
});
