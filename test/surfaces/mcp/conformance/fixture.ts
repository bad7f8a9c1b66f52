/**
 * The server that the official conformance suite talks to: its tool scenarios name the tools and
 * what they must do.
 */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { content, defineTool, HostToolRegistry, jsonSchema } from '../../../../src/index.ts';
import { createMcpHandler, toNodeListener } from '../../../../src/surfaces/mcp/index.ts';
import { executorError } from '../../../../src/surfaces/shared/executor-fault.ts';
import { gatewayOver } from './gateway.ts';

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
      name: 'test_custom_header',
      description: 'Answers in a region, which a header repeats.',
      parameters: jsonSchema<{ region: string }>({
        type: 'object',
        properties: { region: { type: 'string', 'x-mcp-header': 'Region' } },
        required: ['region'],
      }),
      handler: ({ region }) => region,
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
    ...taskTools,
    ...askingTools,
    ...statelessTools(registry),
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

/** The tools of the scenarios about tasks. */
const taskTools = [
  defineTool({
    name: 'greet',
    description: 'Greets, at once.',
    parameters: text('name'),
    handler: ({ name }) => `Hello, ${name}!`,
  }),
  defineTool({
    name: 'slow_compute',
    description: 'Takes its time.',
    parameters: jsonSchema<{ seconds?: number }>({
      type: 'object',
      properties: { seconds: { type: 'number' }, label: { type: 'string' } },
    }),
    task: 'optional',
    timeoutMs: 120_000,
    async handler({ seconds = 0 }, { signal }) {
      await sleep(seconds * 1_000, undefined, { signal });
      return `Computed for ${seconds} seconds.`;
    },
  }),
  defineTool({
    name: 'failing_job',
    description: 'Fails after a while.',
    parameters: nothing,
    task: 'required',
    async handler() {
      await sleep(500);
      throw new Error('This job fails.');
    },
  }),
  defineTool({
    name: 'protocol_error_job',
    description: 'Is lost by the machine that runs it.',
    parameters: nothing,
    task: 'required',
    executor: {
      async execute() {
        await sleep(100);
        throw executorError('executor_lost', 'machine_gone', 'The machine that ran it is gone.');
      },
    },
  }),
  defineTool({
    name: 'confirm_delete',
    description: 'Asks before it deletes.',
    parameters: text('filename'),
    task: 'required',
    async handler({ filename }, { client }) {
      const { action } = await ask(client, 'confirm', `Delete ${filename}?`, {
        confirm: { type: 'boolean' },
      });
      return `${filename}: ${action}`;
    },
  }),
  defineTool({
    name: 'multi_input',
    description: 'Asks two things at once.',
    parameters: nothing,
    task: 'required',
    async handler(_input, { client }) {
      const answers = await Promise.all(
        ['first', 'second'].map((key) =>
          ask(client, key, `The ${key} name?`, { name: { type: 'string' } }),
        ),
      );
      return JSON.stringify(answers);
    },
  }),
  defineTool({
    name: 'test_tool_with_task',
    description: 'Asks first, and then takes its time.',
    parameters: nothing,
    task: 'optional',
    async handler(_input, { client }) {
      const { content: given } = await ask(client, 'user_name', 'What is your name?', {
        name: { type: 'string' },
      });
      await sleep(1_000);
      return `Hello, ${String(given?.name)}!`;
    },
  }),
];

type Client = Parameters<Parameters<typeof defineTool>[0]['handler'] & object>[1]['client'];

function ask(client: Client, key: string, message: string, properties: Record<string, object>) {
  if (client?.elicit === undefined) throw new Error('The client does not offer elicitation.');
  const form = { type: 'object', properties, required: Object.keys(properties) };
  return client.elicit({ message, requestedSchema: form as never, key });
}

/** A tool that asks its client's user for these, one after the other. */
function asks(name: string, ...questions: readonly (readonly [key: string, member: string])[]) {
  return defineTool({
    name,
    description: "Asks the client's user.",
    parameters: nothing,
    async handler(_input, { client }) {
      const given: string[] = [];
      for (const [key, member] of questions) {
        const { content: said } = await ask(client, key, `Your ${member}?`, {
          [member]: { type: member === 'ok' ? 'boolean' : 'string' },
        });
        given.push(String(said?.[member]));
      }
      return given.join(', ');
    },
  });
}

/** Asks the client's model. */
const sampleRequest = {
  messages: [{ role: 'user', content: { type: 'text', text: 'What is the capital of France?' } }],
  maxTokens: 100,
};

/** The tools of the scenarios about questions that a result asks. */
const askingTools = [
  asks('test_input_required_result_elicitation', ['user_name', 'name']),
  asks('test_input_required_result_request_state', ['confirm', 'ok']),
  asks('test_input_required_result_tampered_state', ['confirm', 'ok']),
  asks('test_input_required_result_multi_round', ['step1', 'name'], ['step2', 'color']),
  asks('test_streaming_elicitation', ['user_name', 'name']),
  ...['test_input_required_result_sampling', 'test_input_required_result_capabilities'].map(
    (name) =>
      defineTool({
        name,
        description: "Asks the client's model.",
        parameters: nothing,
        async handler(_input, { client }) {
          if (client?.sample === undefined) throw new Error('The client does not offer sampling.');
          return JSON.stringify((await client.sample(sampleRequest)).content);
        },
      }),
  ),
];

/** The tools of the scenario about independent requests. */
function statelessTools(registry: HostToolRegistry) {
  return [
    defineTool({
      name: 'test_missing_capability',
      description: "Needs the client's model.",
      parameters: nothing,
      requires: [{ fact: 'client.capabilities.sampling', equals: true }],
      handler: () => 'ok',
    }),
    defineTool({
      name: 'test_logging_tool',
      description: 'Logs once.',
      parameters: nothing,
      handler(_input, context) {
        context.log('info', 'A message.');
        return 'Logged once.';
      },
    }),
    defineTool({
      name: 'test_trigger_tool_change',
      description: 'Changes the list of tools.',
      parameters: nothing,
      handler() {
        const name = 'test_changed';
        if (!registry.unregister(name))
          registry.register(
            defineTool({ name, description: 'Is new.', parameters: nothing, handler: () => 'ok' }),
          );
        return 'The list has changed.';
      },
    }),
  ];
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
  // Prompts and resources are those of another server, which a gateway passes on.
  const { gateway, close } = await gatewayOver(registry, {
    offering: {
      command: process.execPath,
      args: [join(import.meta.dirname, 'offering-server.mjs')],
      prefix: '',
      expose: ['prompts', 'resources'],
    },
  });
  await gateway.settled(60_000);
  const handler = createMcpHandler(
    () => registry.createSession({ sessionId: 'conformance', exposeErrors: 'message' }),
    {
      name: 'host-tools-conformance',
      version: '1.0.0',
      tasks: { afterMs: 250 },
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
      await close();
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
