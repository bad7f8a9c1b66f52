import { Client as OldClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as OldTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { afterEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import {
  content,
  defineTool,
  HostToolRegistry,
  type JsonObject,
  jsonSchema,
} from '../../../../src/index.ts';
import {
  anything,
  connectClient,
  type Era,
  eras,
  listen,
  opened,
  sampleRegistry,
  signal,
  textInput,
} from './kit.ts';

const open = opened();
afterEach(() => open.close());

async function clientOf(registry: HostToolRegistry, era: Era, capabilities = {}) {
  open.defer(() => registry.close());
  const session = registry.createSession({ sessionId: 's' });
  const { url } = await listen(open, session);
  return { session, client: await connectClient(open, url, era, capabilities) };
}

const errorOf = (result: { _meta?: Record<string, unknown> | undefined }) =>
  result._meta?.['host-tools/error'];

describe.each(eras)('tools over HTTP, %s era', (era) => {
  test(
    'a definition is listed as it is: title, raw schemas, annotations that were given, in ' +
      'registry order',
    async () => {
      const registry = new HostToolRegistry();
      const parameters = {
        $schema: 'https://json-schema.org/draft/2020-12/schema',
        type: 'object',
        $defs: { word: { type: 'string', minLength: 1 } },
        properties: { word: { $ref: '#/$defs/word' } },
        additionalProperties: false,
      } as const;
      registry.registerAll([
        defineTool({
          name: 'fs_read-file_1',
          title: 'Read a file',
          description: 'Reads.',
          parameters,
          outputSchema: { type: 'object', properties: { n: { type: 'number' } } },
          annotations: { readOnly: true, destructive: false },
          handler: () => ({ n: 1 }),
        }),
        defineTool({
          name: 'a',
          description: 'Plain.',
          parameters: anything,
          outputSchema: { type: 'number' },
          handler: () => 1,
        }),
      ]);
      const { client } = await clientOf(registry, era);
      const { tools } = await client.listTools();
      expect(tools).toEqual([
        {
          name: 'fs_read-file_1',
          title: 'Read a file',
          description: 'Reads.',
          inputSchema: parameters,
          outputSchema: { type: 'object', properties: { n: { type: 'number' } } },
          annotations: { readOnlyHint: true, destructiveHint: false },
        },
        {
          name: 'a',
          description: 'Plain.',
          inputSchema: { type: 'object' },
          outputSchema: {
            type: 'object',
            properties: { result: { type: 'number' } },
            required: ['result'],
          },
        },
      ]);
      expect(await client.callTool({ name: 'a' })).toMatchObject({
        content: [{ type: 'text', text: '1' }],
        structuredContent: { result: 1 },
      });
      expect(
        await client.callTool({ name: 'fs_read-file_1', arguments: { word: 'x' } }),
      ).toMatchObject({ structuredContent: { n: 1 } });
    },
  );

  test('names have no dots, and a call by the id is taken as well', async () => {
    const registry = new HostToolRegistry();
    for (const name of ['a.b', 'c.d', 'c_d', `long.${'x'.repeat(70)}`])
      registry.register(
        defineTool({
          name,
          description: 'x',
          parameters: anything,
          handler: (_, { toolName }) => toolName,
        }),
      );
    const { client } = await clientOf(registry, era);
    const names = (await client.listTools()).tools.map(({ name }) => name);
    expect(names).toEqual([
      'a_b',
      expect.stringMatching(/^c_d_[0-9a-f]{8}$/),
      'c_d',
      `long_${'x'.repeat(59)}`,
    ]);
    for (const [name, id] of [
      ...names.map((one, at) => [one, ['a.b', 'c.d', 'c_d', `long.${'x'.repeat(70)}`][at]]),
      ['a.b', 'a.b'],
    ])
      expect(await client.callTool({ name: name as string })).toMatchObject({
        content: [{ text: id }],
      });
  });

  test('a name of other letters is shown differently, and called so', async () => {
    const registry = new HostToolRegistry();
    registry.register(
      defineTool({
        name: 'größe/messen',
        description: 'Measures.',
        parameters: anything,
        handler: (_input, { toolName }) => toolName,
      }),
    );
    const { client } = await clientOf(registry, era);
    const [tool] = (await client.listTools()).tools;
    expect(tool?.name).toMatch(/^[A-Za-z0-9_-]{1,64}$/);
    expect(await client.callTool({ name: tool?.name as string })).toMatchObject({
      content: [{ type: 'text', text: 'größe/messen' }],
    });
  });

  test('a long list comes in pages, each tool once; a wrong cursor is -32602', async () => {
    const registry = new HostToolRegistry();
    const names = Array.from({ length: 620 }, (_, index) => `tool_${index}`);
    registry.registerAll(
      names.map((name) =>
        defineTool({
          name,
          description: 'One of many.',
          parameters: anything,
          handler: () => name,
        }),
      ),
    );
    const { client } = await clientOf(registry, era);
    const seen: string[] = [];
    let pages = 0;
    for (let cursor: string | undefined = ''; cursor !== undefined; pages++) {
      const page: { tools: { name: string }[]; nextCursor?: string | undefined } =
        await client.request({
          method: 'tools/list',
          params: cursor === '' ? {} : { cursor },
        });
      seen.push(...page.tools.map(({ name }) => name));
      cursor = page.nextCursor;
      // What goes between two pages neither hides nor doubles another.
      if (pages === 0) registry.unregister('tool_3');
    }
    expect({ seen, pages }).toEqual({ seen: names, pages: 3 });
    await expect(
      client.request({ method: 'tools/list', params: { cursor: 'nonsense' } }),
    ).rejects.toMatchObject({ code: -32_602 });
  });

  test(
    'messages name tools as they are listed; of a hidden tool its name says no more than that ' +
      'of one that does not exist',
    async () => {
      const registry = new HostToolRegistry();
      const define = (name: string) =>
        defineTool({ name, description: 'Named.', parameters: textInput, handler: () => 'ran' });
      registry.registerAll([define('read file'), define('secret plan')]);
      registry.defineProfile({ id: 'small', tools: [{ name: 'read file' }] });
      open.defer(() => registry.close());
      const { url } = await listen(
        open,
        registry.createSession({ sessionId: 's', profile: 'small' }),
      );
      const client = await connectClient(open, url, era, {});
      const said = async (name: string) =>
        (await client.callTool({ name, arguments: { text: 1 } })).content;
      expect(await said('read_file')).toMatchObject([
        { text: expect.stringContaining('The arguments of `read_file` are invalid.') },
      ]);
      expect(await said('read_fil')).toMatchObject([
        { text: 'Error: There is no tool `read_fil`. Did you mean `read_file`?' },
      ]);
      for (const name of ['secret_plan', 'secret plan', 'a plan of nobody'])
        expect(await said(name)).toMatchObject([{ text: `Error: There is no tool \`${name}\`.` }]);
    },
  );

  test.each([
    ['an unknown tool', 'nope', {}, { code: 'tool_not_found' }],
    ['constructor', 'constructor', {}, { code: 'tool_not_found' }],
    ['__proto__', '__proto__', {}, { code: 'tool_not_found' }],
    ['arguments that the schema refuses', 'echo', { text: 1 }, { code: 'invalid_input' }],
    [
      'a tool that asks where nobody can be asked',
      'danger',
      {},
      { code: 'approval_denied', reason: 'no_approver' },
    ],
    [
      'a tool that a rule denies',
      'denied',
      {},
      { code: 'policy_denied', reason: 'too_risky', ruleId: 'no-risk' },
    ],
  ])('%s is a result with isError and the code', async (_title, name, input, error) => {
    const registry = sampleRegistry({
      rules: [{ id: 'no-risk', effect: 'deny', tools: 'denied', reason: 'too_risky' }],
    });
    registry.register(
      defineTool({
        name: 'denied',
        description: 'Never.',
        parameters: anything,
        handler: () => 'ran',
      }),
    );
    const { client } = await clientOf(registry, era);
    const result = await client.callTool({ name, arguments: input });
    expect(result.isError).toBe(true);
    expect(errorOf(result)).toEqual(error);
    expect(result.content).toEqual([{ type: 'text', text: expect.stringMatching(/^Error: /) }]);
  });

  test('what a handler throws is masked over HTTP, unless the session says otherwise', async () => {
    const registry = sampleRegistry();
    const fails = () => {
      throw new Error('password=hunter2');
    };
    registry.register(
      defineTool({ name: 'fails', description: 'Fails.', parameters: anything, handler: fails }),
    );
    const { client } = await clientOf(registry, era);
    const result = await client.callTool({ name: 'fails' });
    expect(errorOf(result)).toEqual({ code: 'handler_error' });
    expect(JSON.stringify(result)).not.toContain('hunter2');
  });

  test('content parts are shown in kind; what the protocol would refuse is named', async () => {
    const registry = new HostToolRegistry();
    registry.register(
      defineTool({
        name: 'parts',
        description: 'All kinds.',
        parameters: anything,
        handler: () => [
          content.text('a\u0007b'),
          content.image('AAAA', 'image/png'),
          content.image('no base64!', 'image/png'),
          content.audio('AAAA', 'audio/wav'),
          content.resource({ uri: 'x://1', mimeType: 'text/plain', text: 't' }),
          content.resource({ uri: 'x://2', blob: 'AAAA' }),
          content.resource({ uri: 'x://3' }),
          content.link({ uri: 'x://4', name: 'four' }),
        ],
      }),
    );
    const { client } = await clientOf(registry, era);
    expect((await client.callTool({ name: 'parts' })).content).toEqual([
      { type: 'text', text: 'ab' },
      { type: 'image', data: 'AAAA', mimeType: 'image/png' },
      { type: 'text', text: '[image: image/png]' },
      { type: 'audio', data: 'AAAA', mimeType: 'audio/wav' },
      { type: 'resource', resource: { uri: 'x://1', mimeType: 'text/plain', text: 't' } },
      { type: 'resource', resource: { uri: 'x://2', blob: 'AAAA' } },
      { type: 'resource_link', uri: 'x://3', name: 'x://3' },
      { type: 'resource_link', uri: 'x://4', name: 'four' },
    ]);
  });

  test(
    'progress reaches the request that asked for it, growing and before the answer; nobody else ' +
      'hears it, and nobody listens afterwards',
    async () => {
      const registry = new HostToolRegistry();
      registry.register(
        defineTool({
          name: 'works',
          description: 'Works.',
          parameters: anything,
          handler(_input, { progress }) {
            progress(0, 2, 'begin');
            progress(1, 2);
            progress(1, 2);
            progress(2, 2);
            return 'done';
          },
        }),
      );
      const { client, session } = await clientOf(registry, era);
      const heard: unknown[] = [];
      const result = await client.callTool(
        { name: 'works' },
        { onprogress: (progress) => void heard.push(progress) },
      );
      expect(result.content).toEqual([{ type: 'text', text: 'done' }]);
      expect(heard).toEqual([
        { progress: 0, total: 2, message: 'begin' },
        { progress: 1, total: 2 },
        { progress: 2, total: 2 },
      ]);
      // One listener at most is left: the one for changed tools of a session of the 2025 era.
      expect((session.events as unknown as { size: number }).size).toBe(era === 'legacy' ? 1 : 0);
    },
  );

  test('logs go out from the level that the client wants', async () => {
    const registry = new HostToolRegistry();
    registry.register(
      defineTool({
        name: 'logs',
        description: 'Logs.',
        parameters: anything,
        handler(_input, { log }) {
          log('debug', 'too fine');
          log('warning', { disk: 'full' });
          return 'ok';
        },
      }),
    );
    const { client } = await clientOf(registry, era);
    const heard: unknown[] = [];
    client.setNotificationHandler('notifications/message', ({ params }) => void heard.push(params));
    if (era === 'legacy') await client.setLoggingLevel('notice');
    await client.request({
      method: 'tools/call',
      params: {
        name: 'logs',
        arguments: {},
        ...(era === 'legacy' ? {} : { _meta: { 'io.modelcontextprotocol/logLevel': 'notice' } }),
      },
    });
    expect(heard).toEqual([{ level: 'warning', logger: 'logs', data: { disk: 'full' } }]);
  });

  test('a cancelled request cancels its call, and the next one is answered', async () => {
    const registry = sampleRegistry();
    const started = signal();
    const aborted = signal<string>();
    registry.register(
      defineTool({
        name: 'waits',
        description: 'Waits.',
        parameters: anything,
        handler: (_input, context) =>
          new Promise((resolve) => {
            context.signal.addEventListener('abort', () => {
              aborted.resolve('aborted');
              resolve('late');
            });
            started.resolve();
          }),
      }),
    );
    const { client, session } = await clientOf(registry, era);
    const stop = new AbortController();
    const call = client.callTool({ name: 'waits' }, { signal: stop.signal });
    await started.promise;
    stop.abort();
    await expect(call).rejects.toThrow();
    expect(await aborted.promise).toBe('aborted');
    expect(
      await client.callTool({ name: 'echo', arguments: { text: 'still here' } }),
    ).toMatchObject({ content: [{ text: 'still here' }] });
    expect(session.metrics()).toMatchObject({ cancelled: 1, succeeded: 1 });
  });

  test('a change of the tools is announced', async () => {
    const registry = sampleRegistry();
    const { client } = await clientOf(registry, era);
    const told = signal();
    client.setNotificationHandler('notifications/tools/list_changed', () => told.resolve());
    if (era === 'modern') {
      const subscription = await client.listen({ toolsListChanged: true });
      open.defer(() => subscription.close());
    }
    registry.register(
      defineTool({ name: 'more', description: 'More.', parameters: anything, handler: () => 1 }),
    );
    await told.promise;
    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual([
      'echo',
      'danger',
      'more',
    ]);
  });

  test('`__proto__` in arguments pollutes nothing', async () => {
    const registry = sampleRegistry();
    const { client } = await clientOf(registry, era);
    const result = await client.callTool({
      name: 'echo',
      arguments: JSON.parse('{"text":"x","__proto__":{"polluted":true}}') as Record<
        string,
        unknown
      >,
    });
    expect(result.content).toEqual([{ type: 'text', text: 'x' }]);
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
  });

  test('two clients of one session may use the same request ids at once', async () => {
    const registry = new HostToolRegistry();
    const both = signal();
    let running = 0;
    registry.register(
      defineTool({
        name: 'meets',
        description: 'Waits for the other.',
        parameters: textInput,
        async handler({ text }) {
          if (++running === 2) both.resolve();
          await both.promise;
          return text;
        },
        parallelSafe: true,
      }),
    );
    open.defer(() => registry.close());
    const { url } = await listen(open, registry.createSession({ sessionId: 's' }));
    const clients = [await connectClient(open, url, era), await connectClient(open, url, era)];
    const results = await Promise.all(
      clients.map((client, index) =>
        client.callTool({ name: 'meets', arguments: { text: String(index) } }),
      ),
    );
    expect(results.map((result) => result.content)).toEqual([
      [{ type: 'text', text: '0' }],
      [{ type: 'text', text: '1' }],
    ]);
  });
});

test.each(eras)(
  'an output schema that is no object’s is wrapped by its root, its references with it, and ' +
    'the client agrees with each output, %s era',
  async (era) => {
    const registry = new HostToolRegistry();
    const outputs: Record<string, unknown>[] = [
      { $ref: '#/$defs/tree' },
      { anyOf: [{ $ref: '#/$defs/tree' }, { type: 'array', items: { $ref: '#' } }] },
    ];
    const $defs = {
      tree: {
        type: 'object',
        properties: { next: { $ref: '#/$defs/tree' } },
        required: ['label'],
        additionalProperties: true,
      },
    };
    const values = [{ label: 'a', next: { label: 'b' } }, [[{ label: 'c' }]]];
    for (const [index, outputSchema] of outputs.entries())
      registry.register(
        defineTool({
          name: `t${index}`,
          description: 'Answers.',
          parameters: anything,
          outputSchema: { ...outputSchema, $defs } as never,
          handler: () => values[index] as never,
        }),
      );
    const { client } = await clientOf(registry, era);
    const { tools } = await client.listTools();
    expect(tools[1]?.outputSchema).toMatchObject({
      type: 'object',
      properties: {
        result: { anyOf: [{ $ref: '#/$defs/tree' }, { items: { $ref: '#/properties/result' } }] },
      },
    });
    // The client checks what is structured against the schema, and rejects what does not fit.
    const [tree, list] = values;
    expect(await client.callTool({ name: 't0' })).toMatchObject({ structuredContent: tree });
    expect(await client.callTool({ name: 't1' })).toMatchObject({
      structuredContent: { result: list },
    });
  },
);

test('a schema whose root names no type is shown as that of an object', async () => {
  const registry = new HostToolRegistry();
  registry.register(
    defineTool({
      name: 'loose',
      description: 'Loose.',
      parameters: jsonSchema({ properties: { a: {} } }),
      handler: () => 1,
    }),
  );
  const { client } = await clientOf(registry, 'legacy');
  expect((await client.listTools()).tools[0]?.inputSchema).toEqual({
    type: 'object',
    properties: { a: {} },
  });
});

describe('clients of both generations of the SDK', () => {
  test('list tools whose output schemas have ids and references, and read outputs', async () => {
    const registry = new HostToolRegistry();
    open.defer(() => registry.close());
    const point: JsonObject = { type: 'object', properties: { x: { type: 'number' } } };
    const define = (name: string, outputSchema: unknown, output: unknown): void =>
      void registry.register(
        defineTool({
          name,
          description: name,
          parameters: anything,
          outputSchema: outputSchema as JsonObject,
          handler: () => output as JsonObject,
        }),
      );
    define(
      'points',
      {
        $id: 'https://x.example/points',
        $defs: { point },
        type: 'array',
        items: { $ref: '#/$defs/point' },
      },
      [{ x: 1 }],
    );
    define(
      'more',
      {
        $id: 'https://x.example/points',
        type: 'array',
        items: { $ref: 'https://x.example/points#/$defs/point' },
        $defs: { point },
      },
      [{ x: 2 }],
    );
    define('named', z.object({ a: z.string() }).meta({ id: 'Out' }), { a: 'x' });
    define('either', z.union([z.object({ a: z.string() }), z.object({ b: z.number() })]), { b: 1 });
    const { url } = await listen(open, () => registry.createSession({ sessionId: 's' }));
    const old = new OldClient({ name: 'old', version: '1' });
    await old.connect(new OldTransport(url) as never);
    open.defer(() => old.close());
    for (const client of [
      old,
      await connectClient(open, url, 'legacy'),
      await connectClient(open, url, 'modern'),
    ]) {
      const { tools } = await client.listTools();
      expect(tools).toHaveLength(4);
      const outputs = [];
      for (const { name } of tools)
        outputs.push((await client.callTool({ name, arguments: {} })).structuredContent);
      expect(outputs).toEqual([
        { result: [{ x: 1 }] },
        { result: [{ x: 2 }] },
        { a: 'x' },
        { b: 1 },
      ]);
    }
  });
});
