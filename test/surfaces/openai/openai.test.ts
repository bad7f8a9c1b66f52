import {
  Agent,
  type Model,
  type ModelRequest,
  type ModelResponse,
  Runner,
  tool,
  Usage,
} from '@openai/agents';
import OpenAI from 'openai';
import type { ChatCompletionMessageParam } from 'openai/resources/chat/completions';
import type { ResponseInput } from 'openai/resources/responses/responses';
import { describe, expect, test } from 'vitest';
import { jsonSchema } from '../../../src/index.ts';
import { dispatchOpenAI, toOpenAITools } from '../../../src/surfaces/openai/index.ts';
import { createTestSession, mockTool } from '../../../src/surfaces/testing/index.ts';
import {
  closeServersAfterAll,
  hostileCalls,
  png,
  providerTools,
  scriptedServer,
} from '../provider-fixtures.ts';

closeServersAfterAll();
const client = (baseURL: string) => new OpenAI({ apiKey: 'none', baseURL, maxRetries: 0 });
const session = () => createTestSession({ tools: providerTools() });
const call = (id: string, name: string, args: unknown) => ({
  id,
  type: 'function' as const,
  function: { name, arguments: args as string },
});
const item = (id: string, name: string, args: unknown) => ({
  type: 'function_call' as const,
  id: `fc_${id}`,
  call_id: id,
  name,
  arguments: args as string,
});

describe('toOpenAITools', () => {
  test('shows each tool under a name that fits, strict if its schema allows that', () => {
    const { tools, nameMap, warnings } = toOpenAITools(session());
    expect(tools[0]).toEqual({
      type: 'function',
      function: {
        name: 'weather_today',
        description: 'The weather of a city.',
        strict: true,
        parameters: {
          type: 'object',
          properties: {
            city: { type: 'string', description: '(minLength: 1)' },
            unit: { type: ['string', 'null'], enum: ['c', 'f', null] },
          },
          required: ['city', 'unit'],
          additionalProperties: false,
        },
      },
    });
    expect(tools.map((tool) => [tool.function.name, tool.function.strict])).toEqual([
      ['weather_today', true],
      ['tag', false],
      ['push', true],
      ['camera', true],
    ]);
    expect([...nameMap].slice(0, 2)).toEqual([
      ['weather_today', 'weather.today'],
      ['tag', 'tag'],
    ]);
    expect(warnings.map(({ tool, path }) => [tool, path])).toEqual([
      ['weather.today', '/properties/city/minLength'],
      ['weather.today', '/properties/unit/default'],
      ['tag', '/properties/tags'],
    ]);
  });

  test('without strict mode shows the tools’ own schemas', () => {
    const host = session();
    const { tools, warnings } = toOpenAITools(host, { strict: false });
    expect(tools.map((tool) => [tool.function.strict, tool.function.parameters])).toEqual(
      host.tools().map(({ inputSchema }) => [false, inputSchema]),
    );
    expect(warnings).toEqual([]);
  });

  test('a root of alternatives, which no function may have, is shown as one object', async () => {
    const either = jsonSchema<object>({
      oneOf: [
        {
          type: 'object',
          properties: { path: { type: 'string' }, depth: { type: 'integer' } },
          required: ['path'],
        },
        {
          type: 'object',
          properties: { path: { type: 'number' }, url: { type: 'string' } },
          required: ['path', 'url'],
        },
      ],
    });
    const host = createTestSession({ tools: [mockTool({ name: 'open', parameters: either })] });
    const { tools, warnings } = toOpenAITools(host, { api: 'responses' });
    expect(tools[0]).toMatchObject({
      strict: false,
      parameters: {
        type: 'object',
        properties: {
          path: { anyOf: [{ type: 'string' }, { type: 'number' }] },
          depth: { type: 'integer' },
          url: { type: 'string' },
        },
        required: ['path'],
      },
    });
    expect(warnings.map(({ path }) => path)).toEqual(['/oneOf', '']);
    const [refused] = await dispatchOpenAI(host, [call('1', 'open', '{"path":true}')]);
    expect(refused?.content).toMatch(/^Error: /);
  });

  test.each(['chat', 'responses', 'agents'] as const)(
    '%s: a thousand tools are converted once, for all steps and sessions',
    (api) => {
      const tools = Array.from({ length: 1_000 }, (_, index) =>
        mockTool({
          name: `tool_${index}`,
          parameters: jsonSchema<object>({ type: 'object', properties: { a: { type: 'string' } } }),
        }),
      );
      const host = createTestSession({ tools });
      const schemas = (from: typeof host | ReturnType<typeof host.registry.createSession>) =>
        toOpenAITools(from, { api: 'responses' }).tools.map(({ parameters }) => parameters);
      const first = schemas(host);
      expect(first).toHaveLength(1_000);
      const again = [schemas(host), schemas(host.registry.createSession({ sessionId: 'other' }))];
      // The same objects: nothing was converted.
      for (const list of again)
        for (const [index, schema] of list.entries()) expect(schema === first[index]).toBe(true);
      expect(toOpenAITools(host, { api }).tools).toHaveLength(1_000);
    },
  );

  test('what it gives is the host’s to change', () => {
    const host = session();
    const { tools } = toOpenAITools(host);
    tools.pop();
    (tools[0] as (typeof tools)[number]).function.description = 'Mine.';
    expect(toOpenAITools(host).tools.map((tool) => tool.function.description)).toContain(
      'The weather of a city.',
    );
    expect(toOpenAITools(host).tools).toHaveLength(4);
  });

  test('refuses an API that it does not know', () => {
    expect(() => toOpenAITools(session(), { api: 'assistants' as never })).toThrow(
      expect.objectContaining({ code: 'invalid_option' }),
    );
  });
});

describe('dispatchOpenAI', () => {
  test('answers each call of a message, in order, with messages for the next request', async () => {
    const answers = await dispatchOpenAI(session(), {
      tool_calls: hostileCalls.map(({ id, name, arguments: args }) => call(id, name, args)),
    });
    expect(answers.map(({ role, tool_call_id }) => [role, tool_call_id])).toEqual(
      hostileCalls.map(({ id }) => ['tool', id]),
    );
    for (const [index, { gives, ...asked }] of hostileCalls.entries())
      expect(answers[index]?.content.startsWith(gives), JSON.stringify(asked).slice(0, 100)).toBe(
        true,
      );
  });

  test('answers each call of a response, in order, with items for the next request', async () => {
    const answers = await dispatchOpenAI(session(), {
      output: hostileCalls.map(({ id, name, arguments: args }) => item(id, name, args)),
    });
    expect(answers.map(({ type, call_id }) => [type, call_id])).toEqual(
      hostileCalls.map(({ id }) => ['function_call_output', id]),
    );
    for (const [index, { gives }] of hostileCalls.entries())
      expect(String((answers[index] as { output?: unknown }).output).startsWith(gives)).toBe(true);
  });

  test('a null that strict mode asked for is taken out again, and said to be', async () => {
    const host = session();
    const repaired: unknown[] = [];
    host.events.on('tool:post', ({ result }) =>
      repaired.push((result as { metadata: { repaired?: unknown } }).metadata.repaired),
    );
    await dispatchOpenAI(host, [call('1', 'weather_today', '{"city":"Oslo","unit":null}')]);
    expect(repaired).toEqual([[{ path: 'unit', rule: 'strict_null' }]]);
  });

  test('Chat Completions takes only text; Responses takes images and documents', async () => {
    const text =
      'A picture:\n[image: image/png]\n[resource: file:///doc/report.pdf]\n[audio: ' +
      'audio/wav]\n[link: more https://example.com/]';
    expect(await dispatchOpenAI(session(), [call('1', 'camera', '{}')])).toEqual([
      { role: 'tool', tool_call_id: '1', content: text },
    ]);
    expect(await dispatchOpenAI(session(), [item('1', 'camera', '{}')])).toEqual([
      {
        type: 'function_call_output',
        call_id: '1',
        output: [
          { type: 'input_text', text: 'A picture:' },
          { type: 'input_image', image_url: `data:image/png;base64,${png}`, detail: 'auto' },
          {
            type: 'input_file',
            filename: 'report.pdf',
            file_data: `data:application/pdf;base64,${png}`,
          },
          { type: 'input_text', text: '[audio: audio/wav]' },
          { type: 'input_text', text: '[link: more https://example.com/]' },
        ],
      },
    ]);
  });

  test.each<[string, unknown]>([
    ['a message without calls', { role: 'assistant', content: 'Hello.' }],
    ['calls that are null', { tool_calls: null }],
    ['no items', []],
    [
      'items of other kinds',
      [
        { type: 'message' },
        { type: 'web_search_call', id: '1' },
        { type: 'custom', id: '1', custom: { name: 'mine', input: '' } },
        null,
        'x',
        1,
      ],
    ],
  ])('gives no answers for %s', async (_, payload) => {
    expect(await dispatchOpenAI(session(), payload as never)).toEqual([]);
  });

  test.each<[string, unknown]>([
    ['without a name', { id: '1', type: 'function', function: {} }],
    ['without a function', { id: '1', type: 'function' }],
    ['whose function is text', { id: '1', type: 'function', function: 'weather_today' }],
    [
      'whose name is a number',
      { id: '1', type: 'function', function: { name: 7, arguments: '{}' } },
    ],
  ])('a call %s fails under its id, and the others run', async (_, broken) => {
    const answers = await dispatchOpenAI(session(), [
      broken,
      call('2', 'weather_today', '{"city":"Oslo"}'),
    ] as never);
    expect(
      answers.map(({ tool_call_id, content }) => [tool_call_id, content.startsWith('Error: ')]),
    ).toEqual([
      ['1', true],
      ['2', false],
    ]);
  });

  test('no arguments at all are an empty object', async () => {
    const answers = await dispatchOpenAI(session(), [
      call('1', 'push', ''),
      call('2', 'weather_today', ' '),
    ]);
    expect(answers.map(({ content }) => content)).toEqual([
      'Error: The tree is dirty.',
      expect.stringMatching(/^Error: .*city/s),
    ]);
  });

  test('calls without an id are answered too', async () => {
    const answers = await dispatchOpenAI(session(), [
      call('', 'weather_today', '{"city":"Oslo"}'),
      { ...call('', 'weather_today', '{"city":"Rome"}'), id: null as never },
    ]);
    expect(answers.map(({ tool_call_id, content }) => [tool_call_id, content])).toEqual([
      ['', '{"city":"Oslo","degrees":20}'],
      ['', '{"city":"Rome","degrees":20}'],
    ]);
  });

  test.each([undefined, null, 'text', 7])('refuses %s, which is no payload', async (payload) => {
    await expect(dispatchOpenAI(session(), payload as never)).rejects.toMatchObject({
      code: 'invalid_option',
    });
  });

  test('its signal cancels every call', async () => {
    const answers = await dispatchOpenAI(
      session(),
      [call('1', 'weather_today', '{"city":"Oslo"}')],
      { signal: AbortSignal.abort() },
    );
    expect(answers[0]?.content).toMatch(/^Error: /);
  });

  test('a tool that is no longer effective is answered for', async () => {
    const host = session();
    host.setFacts({ open: true });
    const { nameMap } = toOpenAITools(host);
    expect(nameMap.has('hidden')).toBe(true);
    host.setFacts({ open: null });
    const [answer] = await dispatchOpenAI(host, [call('1', 'hidden', '{}')]);
    expect(answer?.content).toMatch(/not available/);
  });
});

describe('the openai client', () => {
  test('Chat Completions: a whole loop', async () => {
    const completion = (message: object) => ({
      id: 'c',
      object: 'chat.completion',
      created: 1,
      model: 'm',
      choices: [
        {
          index: 0,
          finish_reason: 'stop',
          message: { role: 'assistant', content: null, refusal: null, ...message },
        },
      ],
    });
    const server = await scriptedServer([
      completion({
        tool_calls: [
          call('a', 'weather_today', '{"city":"Oslo","unit":null}'),
          call('b', 'push', '{}'),
        ],
      }),
      completion({ content: 'It is 20 degrees.' }),
    ]);
    const host = session();
    const messages: ChatCompletionMessageParam[] = [{ role: 'user', content: 'How warm is it?' }];
    let said: string | null = null;
    while (said === null) {
      const { choices } = await client(server.url).chat.completions.create({
        model: 'm',
        messages,
        tools: toOpenAITools(host).tools,
      });
      const message = choices[0]?.message as OpenAI.ChatCompletionMessage;
      messages.push(message, ...(await dispatchOpenAI(host, message)));
      said = message.content;
    }
    expect(said).toBe('It is 20 degrees.');
    expect(
      server.requests.map(({ path, body }) => [path, (body.tools as unknown[]).length]),
    ).toEqual([
      ['/chat/completions', 4],
      ['/chat/completions', 4],
    ]);
    expect((server.requests[1]?.body.messages as unknown[] | undefined)?.slice(2)).toEqual([
      { role: 'tool', tool_call_id: 'a', content: '{"city":"Oslo","degrees":20}' },
      { role: 'tool', tool_call_id: 'b', content: 'Error: The tree is dirty.' },
    ]);
  });

  test('Responses: a whole loop', async () => {
    const answer = (...output: object[]) => ({
      id: 'r',
      object: 'response',
      created_at: 1,
      model: 'm',
      status: 'completed',
      output,
    });
    const server = await scriptedServer([
      answer(
        { type: 'reasoning', id: 'rs_1', summary: [] },
        item('a', 'weather_today', '{"city":"Oslo","unit":"f"}'),
        item('b', 'camera', '{}'),
      ),
      answer({
        type: 'message',
        id: 'msg_1',
        role: 'assistant',
        status: 'completed',
        content: [{ type: 'output_text', text: 'It is 68 degrees.', annotations: [] }],
      }),
    ]);
    const host = session();
    const input: ResponseInput = [{ role: 'user', content: 'How warm is it?' }];
    for (;;) {
      const response = await client(server.url).responses.create({
        model: 'm',
        input,
        tools: toOpenAITools(host, { api: 'responses' }).tools,
      });
      const outputs = await dispatchOpenAI(host, response.output);
      if (outputs.length === 0) {
        expect(response.output_text).toBe('It is 68 degrees.');
        break;
      }
      input.push(...(response.output as ResponseInput), ...outputs);
    }
    const sent = server.requests[1]?.body.input as { type: string; output: unknown }[];
    expect(sent.map(({ type }) => type)).toEqual([
      undefined,
      'reasoning',
      'function_call',
      'function_call',
      'function_call_output',
      'function_call_output',
    ]);
    expect(sent[4]?.output).toBe('{"city":"Oslo","degrees":68}');
    expect(sent[5]?.output).toMatchObject(
      ['input_text', 'input_image', 'input_file', 'input_text', 'input_text'].map((type) => ({
        type,
      })),
    );
  });
});

describe('the Agents SDK', () => {
  const functionCall = (
    callId: string,
    name: string,
    args: string,
  ): ModelResponse['output'][number] => ({
    type: 'function_call',
    callId,
    name,
    arguments: args,
    status: 'completed',
  });
  const says = (text: string): ModelResponse['output'][number] => ({
    type: 'message',
    role: 'assistant',
    status: 'completed',
    content: [{ type: 'output_text', text }],
  });

  function scripted(
    turns: readonly (readonly ModelResponse['output'][number][])[],
  ): Model & { readonly requests: ModelRequest[] } {
    const requests: ModelRequest[] = [];
    return {
      requests,
      getResponse: async (request) => {
        requests.push(request);
        return { usage: new Usage(), output: [...(turns[requests.length - 1] ?? [])] };
      },
      getStreamedResponse: () => {
        throw new Error('Not streamed.');
      },
    };
  }

  test('a whole run: strict and other tools, failures, broken arguments, media', async () => {
    const host = session();
    const model = scripted([
      [
        functionCall('a', 'weather_today', '{"city":"Oslo","unit":null}'),
        functionCall('b', 'push', '{}'),
        functionCall('c', 'weather_today', '{"city":'),
        functionCall('d', 'camera', '{}'),
        functionCall('e', 'tag', '{"tags":{"x":"1"}}'),
      ],
      [says('Done.')],
    ]);
    const agent = new Agent({
      name: 'agent',
      model,
      tools: toOpenAITools(host, { api: 'agents', tool }).tools,
    });
    const result = await new Runner({ tracingDisabled: true }).run(agent, 'Go.');
    expect(result.finalOutput).toBe('Done.');
    expect(
      model.requests[0]?.tools.map((tool) => [
        tool.type,
        tool.name,
        'strict' in tool && tool.strict,
      ]),
    ).toEqual([
      ['function', 'weather_today', true],
      ['function', 'tag', false],
      ['function', 'push', true],
      ['function', 'camera', true],
    ]);
    const outputs = (
      (model.requests[1] as ModelRequest).input as {
        type: string;
        callId: string;
        output: unknown;
      }[]
    ).filter(({ type }) => type === 'function_call_result');
    expect(outputs.map(({ callId }) => callId)).toEqual(['a', 'b', 'c', 'd', 'e']);
    expect(outputs.map(({ output }) => output)).toMatchObject([
      { type: 'text', text: '{"city":"Oslo","degrees":20}' },
      { type: 'text', text: 'Error: The tree is dirty.' },
      { type: 'text', text: expect.stringMatching(/parsing tool arguments/) },
      [
        { type: 'input_text', text: 'A picture:' },
        { type: 'input_image', image: `data:image/png;base64,${png}` },
        { type: 'input_file' },
        { type: 'input_text', text: '[audio: audio/wav]' },
        { type: 'input_text' },
      ],
      { type: 'text', text: '1' },
    ]);
    expect(host.metrics()).toMatchObject({ calls: 4, succeeded: 3 });
  });

  test(
    'without the SDK’s `tool`, arguments that are no JSON stop the run for an approval, and ' +
      'nothing runs',
    async () => {
      const host = session();
      const model = scripted([[functionCall('a', 'weather_today', '{"city":')]]);
      const result = await new Runner({ tracingDisabled: true }).run(
        new Agent({ name: 'agent', model, tools: toOpenAITools(host, { api: 'agents' }).tools }),
        'Go.',
      );
      expect(result.interruptions).toHaveLength(1);
      expect(host.metrics().calls).toBe(0);
    },
  );

  test('a made-up name fails under its id, if the run is configured to answer it', async () => {
    const model = scripted([
      [
        functionCall('a', 'constructor', '{}'),
        functionCall('b', 'weather_today', '{"city":"Oslo","unit":null}'),
      ],
      [says('Done.')],
    ]);
    const agent = new Agent({
      name: 'agent',
      model,
      tools: toOpenAITools(session(), { api: 'agents', tool }).tools,
    });
    const result = await new Runner({
      tracingDisabled: true,
      toolNotFoundBehavior: 'return_error_to_model',
    }).run(agent, 'Go.');
    expect(result.finalOutput).toBe('Done.');
  });

  test('refuses an invalid `tool`', () => {
    expect(() => toOpenAITools(session(), { api: 'agents', tool: () => ({}) })).toThrow(
      expect.objectContaining({ code: 'invalid_option' }),
    );
  });

  test('a tool bound before goes by what the session says now', async () => {
    const host = session();
    const tool = toOpenAITools(host, { api: 'agents' }).tools.find(({ name }) => name === 'push');
    host.setOverrides({ disable: ['push'] });
    expect(await tool?.invoke(undefined, '{}')).toMatch(/^Error: .*not available/);
    expect(await tool?.needsApproval()).toBe(false);
  });
});
