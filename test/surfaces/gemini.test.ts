import { type Content, GoogleGenAI } from '@google/genai';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { defineTool, type JsonObject, jsonSchema } from '../../src/index.ts';
import { dispatchGemini, toGeminiTools } from '../../src/surfaces/gemini/index.ts';
import { createTestSession, mockTool } from '../../src/surfaces/testing/index.ts';
import {
  closeServersAfterAll,
  hostileCalls,
  png,
  providerTools,
  scriptedServer,
} from './provider-fixtures.ts';

closeServersAfterAll();
const client = (baseUrl: string) => new GoogleGenAI({ apiKey: 'none', httpOptions: { baseUrl } });
const session = () => createTestSession({ tools: providerTools() });
const call = (name: string, args?: unknown, id?: string) => ({
  functionCall: {
    name,
    ...(args === undefined ? {} : { args: args as Record<string, unknown> }),
    ...(id === undefined ? {} : { id }),
  },
});
const object = (properties: JsonObject, rest: JsonObject = {}): JsonObject => ({
  type: 'object',
  properties,
  ...rest,
});
const listed = (schema: JsonObject, as: 'json-schema' | 'openapi') => {
  const { tools, warnings } = toGeminiTools(
    createTestSession({ tools: [mockTool({ name: 't', parameters: jsonSchema<object>(schema) })] }),
    { schema: as },
  );
  const declaration = tools[0]?.functionDeclarations[0];
  return {
    schema: declaration?.parametersJsonSchema ?? declaration?.parameters,
    warnings: warnings.map(({ path }) => path),
  };
};

describe('toGeminiTools', () => {
  test('shows all tools as one, with their JSON Schemas, under names that fit', () => {
    const host = session();
    const { tools, nameMap, warnings } = toGeminiTools(host);
    expect(tools).toEqual([
      {
        functionDeclarations: host
          .tools()
          .map(({ name, description, inputSchema: { $schema: _, ...parametersJsonSchema } }) => ({
            name,
            description,
            parametersJsonSchema,
          })),
      },
    ]);
    expect([...nameMap.keys()]).toEqual(['weather.today', 'tag', 'push', 'camera']);
    expect(warnings.map(({ tool, path }) => [tool, path])).toEqual([
      ['weather.today', '/properties/city/minLength'],
      ['weather.today', '/properties/unit/default'],
    ]);
  });

  test.each([
    ['9lives', '_9lives'],
    ['a/b', 'a_b'],
    ['a.b-c', 'a.b-c'],
    ['a:b', 'a_b'],
  ])('%s is shown as %s', async (name, shown) => {
    const host = createTestSession({ tools: [mockTool({ name })] });
    expect([...toGeminiTools(host).nameMap]).toEqual([[shown, name]]);
    expect(await dispatchGemini(host, [call(shown)])).toEqual([
      { functionResponse: { name: shown, response: { output: 'Success' } } },
    ]);
  });

  test.each<[string, JsonObject, JsonObject, string[]]>([
    [
      'a constant is an enumeration of one',
      object({ a: { const: 'x' } }),
      object({ a: { enum: ['x'] } }),
      [],
    ],
    [
      'words beside a reference move around it',
      object({ a: { $ref: '#', description: 'Words.' } }),
      object({ a: { description: 'Words.', anyOf: [{ $ref: '#' }] } }),
      [],
    ],
    [
      'what is not read stays, with a warning',
      object({ a: { type: 'string', pattern: '^a' } }),
      object({ a: { type: 'string', pattern: '^a' } }),
      ['/properties/a/pattern'],
    ],
    [
      'a property may be called as a keyword',
      object({ const: { type: 'string' } }),
      object({ const: { type: 'string' } }),
      [],
    ],
  ])('as JSON Schema: %s', (_, schema, shown, warnings) => {
    expect(listed(schema, 'json-schema')).toEqual({ schema: shown, warnings });
  });

  const node = object({ value: { type: 'string' }, next: { $ref: '#/$defs/node' } });
  test.each<[string, JsonObject, JsonObject, string[]]>([
    [
      'types in capitals, counts as texts',
      { type: 'array', items: { type: 'integer', minimum: 1 }, minItems: 1 },
      { type: 'ARRAY', items: { type: 'INTEGER', minimum: 1 }, minItems: '1' },
      [],
    ],
    ['null among the types', { type: ['string', 'null'] }, { type: 'STRING', nullable: true }, []],
    [
      'null among the alternatives',
      { anyOf: [{ type: 'string' }, { type: 'null' }] },
      { type: 'STRING', nullable: true },
      [],
    ],
    [
      'texts that are enumerated',
      { enum: ['a', 'b', null] },
      { type: 'STRING', nullable: true, enum: ['a', 'b'] },
      [],
    ],
    ['numbers that are enumerated', { enum: [1, 2] }, { type: 'NUMBER' }, ['/enum']],
    ['constants', { const: 'a' }, { type: 'STRING', enum: ['a'] }, []],
    [
      'exactly one',
      { oneOf: [{ type: 'string' }, { type: 'number' }] },
      { anyOf: [{ type: 'STRING' }, { type: 'NUMBER' }] },
      ['/oneOf'],
    ],
    [
      'several types',
      { type: ['string', 'number'] },
      { anyOf: [{ type: 'STRING' }, { type: 'NUMBER' }] },
      [],
    ],
    ['formats', { type: 'string', format: 'uri' }, { type: 'STRING' }, ['/format']],
    [
      'formats that are taken',
      { type: 'string', format: 'date-time' },
      { type: 'STRING', format: 'date-time' },
      [],
    ],
    [
      'open names',
      { type: 'object', properties: { a: { type: 'string' } }, additionalProperties: true },
      { type: 'OBJECT', properties: { a: { type: 'STRING' } } },
      ['/additionalProperties'],
    ],
    [
      'bounds that exclude',
      { type: 'number', exclusiveMinimum: 0 },
      { type: 'NUMBER' },
      ['/exclusiveMinimum'],
    ],
    ['anything', {}, { type: 'STRING' }, ['']],
  ])('as the API’s own schema: %s', (_, property, shown, warnings) => {
    const { schema, warnings: found } = listed(
      object({ property }, { required: ['property'] }),
      'openapi',
    );
    expect(schema).toEqual({
      type: 'OBJECT',
      properties: { property: shown },
      required: ['property'],
    });
    expect(found).toEqual(warnings.map((path) => `/properties/property${path}`));
  });

  test('as the API’s own schema: references are replaced, endless ones are cut off', () => {
    const { schema, warnings } = listed(
      {
        ...object({ first: { $ref: '#/$defs/node', description: 'The first.' } }),
        $defs: { node },
      },
      'openapi',
    );
    expect(schema).toEqual({
      type: 'OBJECT',
      properties: {
        first: {
          type: 'OBJECT',
          description: 'The first.',
          properties: { value: { type: 'STRING' }, next: { type: 'OBJECT' } },
        },
      },
    });
    expect(warnings).toEqual(['/properties/first/properties/next']);
  });

  test('as the API’s own schema: references that double again and again end', () => {
    const $defs = Object.fromEntries(
      Array.from({ length: 30 }, (_, level) => [
        `d${level}`,
        level === 29
          ? { type: 'string' }
          : object({ a: { $ref: `#/$defs/d${level + 1}` }, b: { $ref: `#/$defs/d${level + 1}` } }),
      ]),
    );
    const { schema, warnings } = listed(
      { ...object({ a: { $ref: '#/$defs/d0' } }), $defs },
      'openapi',
    );
    expect(JSON.stringify(schema).length).toBeLessThan(500_000);
    expect(warnings).toHaveLength(1);
  });

  test('as the API’s own schema: a function without parameters has none', () => {
    const { tools } = toGeminiTools(session(), { schema: 'openapi' });
    expect(tools[0]?.functionDeclarations.map((one) => [one.name, 'parameters' in one])).toEqual([
      ['weather.today', true],
      ['tag', true],
      ['push', false],
      ['camera', false],
    ]);
  });

  test('a session without tools needs no tool', () => {
    expect(toGeminiTools(createTestSession()).tools).toEqual([]);
  });

  test('refuses a dialect that it does not know', () => {
    expect(() => toGeminiTools(session(), { schema: 'proto' as never })).toThrow(
      expect.objectContaining({ code: 'invalid_option' }),
    );
  });

  test.each(['json-schema', 'openapi'] as const)(
    '%s: a thousand tools are converted once, for all steps and sessions',
    (schema) => {
      const tools = Array.from({ length: 1_000 }, (_, index) =>
        mockTool({
          name: `tool_${index}`,
          parameters: jsonSchema<object>(object({ a: { type: 'string' } })),
        }),
      );
      const host = createTestSession({ tools });
      const schemas = (from: Parameters<typeof toGeminiTools>[0]) =>
        toGeminiTools(from, { schema }).tools[0]?.functionDeclarations.map(
          ({ parametersJsonSchema, parameters }) => parametersJsonSchema ?? parameters,
        ) ?? [];
      const first = schemas(host);
      expect(first).toHaveLength(1_000);
      for (const list of [
        schemas(host),
        schemas(host.registry.createSession({ sessionId: 'other' })),
      ])
        for (const [index, one] of list.entries()) expect(one === first[index]).toBe(true);
    },
  );
});

describe('dispatchGemini', () => {
  test('answers each call, in order; failures have an error with its code', async () => {
    const parts = hostileCalls.map(({ id, name, arguments: args }) =>
      call(name.replace('weather_', 'weather.'), args, id),
    );
    const answers = await dispatchGemini(session(), { candidates: [{ content: { parts } }] });
    expect(answers.map(({ functionResponse: { id } }) => id)).toEqual(
      hostileCalls.map(({ id }) => id),
    );
    for (const [index, { gives, name }] of hostileCalls.entries()) {
      const { response } = answers[index]?.functionResponse ?? {};
      // Null is no way to leave something out where optional properties stay optional.
      if (index === 0 || gives === 'Error: ')
        expect(response, `${index} ${name}`).toEqual({
          error: expect.objectContaining({
            message: expect.stringMatching(/^Error: /),
            code: expect.any(String),
          }),
        });
      else expect(response).toEqual({ output: gives });
    }
    const [failed] = await dispatchGemini(session(), [call('push', {})]);
    expect(failed?.functionResponse.response).toEqual({
      error: {
        message: 'Error: The tree is dirty.',
        code: 'handler_error',
        reason: 'dirty_worktree',
      },
    });
  });

  test('calls without ids are distinguished by their order, and answered without ids', async () => {
    const answers = await dispatchGemini(session(), {
      parts: [
        call('weather.today', { city: 'Oslo' }),
        call('weather.today', { city: 'Rome' }),
        call('push'),
      ],
    });
    expect(answers).toEqual([
      {
        functionResponse: {
          name: 'weather.today',
          response: { output: '{"city":"Oslo","degrees":20}' },
        },
      },
      {
        functionResponse: {
          name: 'weather.today',
          response: { output: '{"city":"Rome","degrees":20}' },
        },
      },
      {
        functionResponse: {
          name: 'push',
          response: { error: expect.objectContaining({ code: 'handler_error' }) },
        },
      },
    ]);
  });

  test('of several candidates only the first was said', async () => {
    const host = session();
    const answers = await dispatchGemini(host, {
      candidates: [
        { content: { parts: [call('push')] } },
        { content: { parts: [call('camera')] } },
      ],
    });
    expect(answers.map(({ functionResponse: { name } }) => name)).toEqual(['push']);
    expect(host.metrics().calls).toBe(1);
  });

  test('images and documents are parts of the response; or text alone', async () => {
    const output =
      'A picture:\n[image: image/png]\n[resource: file:///doc/report.pdf]\n[audio: ' +
      'audio/wav]\n[link: more https://example.com/]';
    const parts = [
      { inlineData: { mimeType: 'image/png', data: png } },
      { inlineData: { mimeType: 'application/pdf', data: png } },
    ];
    expect(await dispatchGemini(session(), [call('camera')])).toEqual([
      { functionResponse: { name: 'camera', response: { output }, parts } },
    ]);
    expect(await dispatchGemini(session(), [call('camera')], { media: false })).toEqual([
      { functionResponse: { name: 'camera', response: { output } } },
    ]);
  });

  test('a tool that declares its output gives it as data too', async () => {
    const tool = defineTool({
      name: 't',
      description: 'x',
      parameters: z.object({}),
      outputSchema: z.array(z.number()),
      handler: () => [1, 2],
    });
    const [answer] = await dispatchGemini(createTestSession({ tools: [tool] }), [call('t')]);
    expect(answer?.functionResponse.response).toEqual({
      output: '[1,2]',
      structured: { result: [1, 2] },
    });
  });

  test.each<[string, unknown]>([
    ['a response without candidates', {}],
    ['a blocked response', { candidates: [{ finishReason: 'SAFETY' }] }],
    ['parts of text', [{ text: 'Hello.' }, null, 'x', { functionCall: null }]],
    ['parts that are none', { parts: 'x' }],
  ])('gives no answers for %s', async (_, response) => {
    expect(await dispatchGemini(session(), response as never)).toEqual([]);
  });

  test.each([undefined, null, 'text'])('refuses %s, which is no response', async (response) => {
    await expect(dispatchGemini(session(), response as never)).rejects.toMatchObject({
      code: 'invalid_option',
    });
  });

  test('its signal cancels every call', async () => {
    const [answer] = await dispatchGemini(session(), [call('camera')], {
      signal: AbortSignal.abort(),
    });
    expect(answer?.functionResponse.response).toEqual({
      error: expect.objectContaining({ code: 'cancelled' }),
    });
  });
});

describe('the client', () => {
  const reply = (...parts: object[]) => ({
    candidates: [{ index: 0, finishReason: 'STOP', content: { role: 'model', parts } }],
  });
  const asks = reply(
    { text: 'Let me see.' },
    call('weather.today', { city: 'Oslo' }),
    call('push', {}, 'b'),
    call('camera', {}),
  );
  const ends = reply({ text: 'It is 20 degrees.' });
  const answered = [
    {
      functionResponse: {
        name: 'weather.today',
        response: { output: '{"city":"Oslo","degrees":20}' },
      },
    },
    {
      functionResponse: {
        id: 'b',
        name: 'push',
        response: {
          error: {
            message: 'Error: The tree is dirty.',
            code: 'handler_error',
            reason: 'dirty_worktree',
          },
        },
      },
    },
    {
      functionResponse: {
        name: 'camera',
        parts: [
          { inlineData: { mimeType: 'image/png' } },
          { inlineData: { mimeType: 'application/pdf' } },
        ],
      },
    },
  ];

  test.each(['json-schema', 'openapi'] as const)('a whole loop, with %s', async (schema) => {
    const server = await scriptedServer([asks, ends]);
    const host = session();
    const contents: Content[] = [{ role: 'user', parts: [{ text: 'How warm is it?' }] }];
    for (;;) {
      const response = await client(server.url).models.generateContent({
        model: 'm',
        contents,
        config: { tools: toGeminiTools(host, { schema }).tools },
      });
      const parts = await dispatchGemini(host, response);
      if (parts.length === 0) {
        expect(response.text).toBe('It is 20 degrees.');
        break;
      }
      contents.push(response.candidates?.[0]?.content as Content, { role: 'user', parts });
    }
    const [first, second] = server.requests;
    expect(first?.body.tools).toEqual(
      JSON.parse(JSON.stringify(toGeminiTools(host, { schema }).tools)),
    );
    expect((second?.body.contents as { parts: unknown }[] | undefined)?.[2]?.parts).toMatchObject(
      answered,
    );
  });

  test('automatic function calling: a whole run', async () => {
    const server = await scriptedServer([asks, ends]);
    const host = session();
    const response = await client(server.url).models.generateContent({
      model: 'm',
      contents: 'How warm is it?',
      config: { tools: [toGeminiTools(host).callable] },
    });
    expect(response.text).toBe('It is 20 degrees.');
    expect(
      (server.requests[1]?.body.contents as { parts: unknown }[] | undefined)?.[2]?.parts,
    ).toMatchObject(answered);
  });
});
