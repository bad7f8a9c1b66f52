/**
 * The server that the official conformance suite talks to: its tool scenarios name the tools and
 * what they must do.
 */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { content, defineTool, HostToolRegistry, jsonSchema } from '../../../../src/index.ts';
import { createMcpHandler, toNodeListener } from '../../../../src/surfaces/mcp/index.ts';

const png =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const wav = 'UklGRiQAAABXQVZFZm10IBAAAAABAAEAESsAACJWAAACABAAZGF0YQAAAAA=';
const nothing = jsonSchema<Record<string, never>>({ type: 'object', properties: {} });
const text = (key: string) =>
  jsonSchema<Record<string, string>>({
    type: 'object',
    properties: { [key]: { type: 'string' } },
    required: [key],
  });

/** A registry with the tools of the suite's scenarios. */
export function conformanceRegistry(): HostToolRegistry {
  const registry = new HostToolRegistry();
  registry.registerAll([
    defineTool({
      name: 'test_simple_text',
      description: 'Answers a text.',
      parameters: nothing,
      handler: () => 'This is a simple text response for testing.',
    }),
    defineTool({
      name: 'test_image_content',
      description: 'Answers an image.',
      parameters: nothing,
      handler: () => content.image(png, 'image/png'),
    }),
    defineTool({
      name: 'test_audio_content',
      description: 'Answers audio.',
      parameters: nothing,
      handler: () => content.audio(wav, 'audio/wav'),
    }),
    defineTool({
      name: 'test_embedded_resource',
      description: 'Answers a resource.',
      parameters: nothing,
      handler: () =>
        content.resource({
          uri: 'test://embedded-resource',
          mimeType: 'text/plain',
          text: 'This is an embedded resource content.',
        }),
    }),
    defineTool({
      name: 'test_multiple_content_types',
      description: 'Answers several kinds of content.',
      parameters: nothing,
      handler: () => [
        content.text('Multiple content types test:'),
        content.image(png, 'image/png'),
        content.resource({
          uri: 'test://mixed-content-resource',
          mimeType: 'application/json',
          text: '{"test":"data","value":123}',
        }),
      ],
    }),
    defineTool({
      name: 'test_tool_with_logging',
      description: 'Logs three times.',
      parameters: nothing,
      async handler(_input, context) {
        context.log('info', 'Tool execution started');
        await sleep(50);
        context.log('info', 'Tool processing data');
        await sleep(50);
        context.log('info', 'Tool execution completed');
        return 'Logged three times.';
      },
    }),
    defineTool({
      name: 'test_tool_with_progress',
      description: 'Reports progress three times.',
      parameters: nothing,
      async handler(_input, context) {
        context.progress(0, 100);
        await sleep(50);
        context.progress(50, 100);
        await sleep(50);
        context.progress(100, 100);
        return 'Reported three times.';
      },
    }),
    defineTool({
      name: 'test_error_handling',
      description: 'Always fails.',
      parameters: nothing,
      handler: () => {
        throw new Error('This tool intentionally returns an error for testing');
      },
    }),
    defineTool({
      name: 'test_sampling',
      description: "Asks the client's model.",
      parameters: text('prompt'),
      async handler({ prompt = '' }, { client }) {
        if (client?.sample === undefined) throw new Error('The client does not offer sampling.');
        const { content: said } = await client.sample({
          messages: [{ role: 'user', content: { type: 'text', text: prompt } }],
          maxTokens: 100,
        });
        return `LLM response: ${JSON.stringify(said)}`;
      },
    }),
    elicits('test_elicitation', text('message'), {
      username: { type: 'string', description: "User's response" },
      email: { type: 'string', description: "User's email address" },
    }),
    elicits('test_elicitation_sep1034_defaults', nothing, {
      name: { type: 'string', default: 'John Doe' },
      age: { type: 'integer', default: 30 },
      score: { type: 'number', default: 95.5 },
      status: { type: 'string', enum: ['active', 'inactive', 'pending'], default: 'active' },
      verified: { type: 'boolean', default: true },
    }),
    elicits('test_elicitation_sep1330_enums', nothing, {
      untitledSingle: { type: 'string', enum: ['option1', 'option2', 'option3'] },
      titledSingle: { type: 'string', oneOf: titled('value') },
      legacyEnum: {
        type: 'string',
        enum: ['opt1', 'opt2', 'opt3'],
        enumNames: ['Option One', 'Option Two', 'Option Three'],
      },
      untitledMulti: {
        type: 'array',
        items: { type: 'string', enum: ['option1', 'option2', 'option3'] },
      },
      titledMulti: { type: 'array', items: { anyOf: titled('value') } },
    }),
    defineTool({
      name: 'test_reconnection',
      description: 'Takes longer than its stream is open.',
      parameters: nothing,
      async handler() {
        await sleep(300);
        return 'Reconnection test completed.';
      },
    }),
    defineTool({
      name: 'json_schema_2020_12_tool',
      description: 'Tool with JSON Schema 2020-12 features',
      parameters: {
        $schema: 'https://json-schema.org/draft/2020-12/schema',
        type: 'object',
        $defs: {
          address: {
            $anchor: 'addressDef',
            type: 'object',
            properties: { street: { type: 'string' }, city: { type: 'string' } },
          },
        },
        properties: {
          name: { type: 'string' },
          address: { $ref: '#/$defs/address' },
          contactMethod: { type: 'string', enum: ['phone', 'email'] },
          phone: { type: 'string' },
          email: { type: 'string' },
        },
        allOf: [{ anyOf: [{ required: ['phone'] }, { required: ['email'] }] }],
        if: { properties: { contactMethod: { const: 'phone' } }, required: ['contactMethod'] },
        // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
        then: { required: ['phone'] },
        else: { required: ['email'] },
        additionalProperties: false,
      },
      handler: () => 'ok',
    }),
  ]);
  return registry;
}

function titled(prefix: string) {
  return ['First', 'Second', 'Third'].map((word, index) => ({
    const: `${prefix}${index + 1}`,
    title: `${word} Option`,
  }));
}

function elicits(
  name: string,
  parameters: ReturnType<typeof text>,
  properties: Record<string, object>,
) {
  return defineTool({
    name,
    description: "Asks the client's person.",
    parameters,
    async handler({ message = 'Please answer.' }, { client }) {
      if (client?.elicit === undefined) throw new Error('The client does not offer elicitation.');
      const requestedSchema = JSON.parse(
        JSON.stringify({
          type: 'object',
          properties,
          required: Object.keys(properties).slice(0, 2),
        }),
      ) as Record<string, never>;
      const { action, content: given } = await client.elicit({ message, requestedSchema });
      return `User response: action=${action}, content=${JSON.stringify(given)}`;
    },
  });
}

/** Serves the fixture on a free port of the loopback. */
export async function startFixture(): Promise<{ readonly url: string; close(): Promise<void> }> {
  const registry = conformanceRegistry();
  const handler = createMcpHandler(
    () => registry.createSession({ sessionId: 'conformance', exposeErrors: 'message' }),
    {
      name: 'host-tools-conformance',
      version: '1.0.0',
    },
  );
  const server = createServer(
    toNodeListener({
      fetch: async (request) => cutReconnection(request, await handler.fetch(reread(request))),
    }),
  );
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/mcp`,
    async close() {
      await handler.close();
      await registry.close();
      await closeServer(server);
    },
  };
}

const bodies = new WeakMap<Request, Promise<string>>();

/** The request for the handler, with a copy of its body kept. */
function reread(request: Request): Request {
  if (request.method === 'POST') bodies.set(request, request.clone().text());
  return request;
}

/**
 * A call of `test_reconnection` loses its stream before it has an answer: the client has to come
 * back for it.
 */
async function cutReconnection(request: Request, response: Response): Promise<Response> {
  const { body } = response;
  if (body === null || !(await bodies.get(request))?.includes('"test_reconnection"'))
    return response;
  const reader = body.getReader();
  const cut = new ReadableStream<Uint8Array>({
    async start(controller) {
      const end = sleep(100).then(() => undefined);
      for (
        let next = await Promise.race([reader.read(), end]);
        next?.value !== undefined;
        next = await Promise.race([reader.read(), end])
      )
        controller.enqueue(next.value);
      controller.close();
      await reader.cancel();
    },
  });
  return new Response(cut, { status: response.status, headers: response.headers });
}

function closeServer(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}
