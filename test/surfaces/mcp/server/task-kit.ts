/** Clients that know tasks: the protocol's own, which is told what a result that is a task says. */
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { expect } from 'vitest';
import type { Store } from '../../../../src/extend.ts';
import { defineTool, type HostToolRegistry, type RegistryOptions } from '../../../../src/index.ts';
import type { McpHandler } from '../../../../src/surfaces/mcp/index.ts';
import { createMcpHandler, type McpServingOptions } from '../../../../src/surfaces/mcp/index.ts';
import { anything, type Opened, sampleRegistry, secret, signal } from './kit.ts';

export type Json = { readonly [key: string]: Json } & { readonly [index: number]: Json } & string;

const extension = { extensions: { 'io.modelcontextprotocol/tasks': {} } };
export const knowsTasks = { elicitation: {}, ...extension };
export const withoutForms = { ...extension };

const anyResult = {
  '~standard': { version: 1, vendor: 'test', validate: (value: unknown) => ({ value }) },
} as never;

export interface TaskClient {
  readonly client: Client;
  /** Calls a tool; gives its result, or the task. */
  call(name: string, input?: object): Promise<Json>;
  get(taskId: unknown): Promise<Json>;
  update(taskId: unknown, inputResponses: unknown): Promise<Json>;
  cancel(taskId: unknown): Promise<Json>;
  /** Looks until the task has this status. */
  until(taskId: unknown, status: string): Promise<Json>;
}

/** The official client, over a handler. */
export async function taskClient(
  open: Opened,
  handler: Pick<McpHandler, 'fetch'>,
  {
    token = 'ann',
    capabilities = knowsTasks,
    url = 'http://127.0.0.1/mcp',
  }: { token?: string; capabilities?: object; url?: string } = {},
): Promise<TaskClient> {
  const client = new Client(
    { name: 'test', version: '1' },
    { capabilities, versionNegotiation: { mode: { pin: '2026-07-28' } } },
  );
  const transport = new StreamableHTTPClientTransport(new URL(url), {
    requestInit: { headers: { authorization: token } },
    fetch: async (url, init) => {
      const response = await handler.fetch(new Request(url, init));
      const text = await response.text();
      // The official client of this release knows no result that is a task.
      const told = text.replace('"resultType":"task"', '"resultType":"complete","content":[]');
      return new Response(told, { status: response.status, headers: response.headers });
    },
  });
  await client.connect(transport);
  open.defer(() => client.close());
  const send = (method: string, params: object) =>
    client.request({ method, params } as never, anyResult) as Promise<Json>;
  const get = (taskId: unknown) => send('tasks/get', { taskId });
  return {
    client,
    call: (name, input = {}) => send('tools/call', { name, arguments: input }),
    get,
    update: (taskId, inputResponses) => send('tasks/update', { taskId, inputResponses }),
    cancel: (taskId) => send('tasks/cancel', { taskId }),
    async until(taskId, status) {
      await expect.poll(async () => (await get(taskId)).status).toBe(status);
      return get(taskId);
    },
  };
}

/** How a call of `slow` goes on. */
export interface Slow {
  readonly signal: AbortSignal;
  end(text: string): void;
}

/** What the tools of {@link taskRegistry} do. */
export interface Done {
  readonly slow: Slow[];
  readonly sent: string[];
}

export function taskRegistry(
  store: Store | undefined,
  done: Done,
  more: RegistryOptions = {},
): HostToolRegistry {
  const registry: HostToolRegistry = sampleRegistry({
    approvals: {
      secret,
      session: ({ sessionId, principal }) =>
        registry.createSession({ sessionId, principal, approvalMode: 'suspend' }),
    },
    ...(store === undefined ? {} : { store }),
    ...more,
  });
  const { slow, sent } = done;
  registry.registerAll([
    ...(['optional', 'required'] as const).map((task) =>
      defineTool({
        name: `slow_${task}`,
        description: 'Ends when it is told, whatever its signal says.',
        parameters: anything,
        task,
        timeoutMs: 60_000,
        handler(_input, context) {
          const ended = signal<string>();
          slow.push({ signal: context.signal, end: ended.resolve });
          return ended.promise;
        },
      }),
    ),
    defineTool({
      name: 'quick',
      description: 'Answers at once.',
      parameters: anything,
      task: 'optional',
      handler: () => 'at once',
    }),
    defineTool({
      name: 'asks',
      description: 'Asks for two names.',
      parameters: anything,
      task: 'required',
      timeoutMs: 60_000,
      async handler(_input, { client }) {
        const requestedSchema = { type: 'object', properties: { name: { type: 'string' } } };
        const answers = await Promise.all(
          ['first', 'second'].map(async (key) =>
            client?.elicit?.({ message: key, requestedSchema: requestedSchema as never, key }),
          ),
        );
        return answers.map((answer) => `${answer?.action} ${answer?.content?.name}`).join(', ');
      },
    }),
    defineTool({
      name: 'send',
      description: 'Sends, if a person allows it.',
      parameters: anything,
      requiresApproval: true,
      handler({ to }) {
        sent.push(String(to));
        return `sent to ${String(to)}`;
      },
    }),
    defineTool({
      name: 'fails',
      description: 'Fails.',
      parameters: anything,
      task: 'required',
      handler: () => {
        throw new Error('It broke.');
      },
    }),
  ]);
  return registry;
}

/** A handler as in a process of its own, in which callers are who their headers say. */
export function taskHandler(
  open: Opened,
  store: Store | undefined,
  done: Done = { slow: [], sent: [] },
  options: McpServingOptions = {},
  more: RegistryOptions = {},
) {
  const registry = taskRegistry(store, done, more);
  const handler = createMcpHandler(
    ({ principal = 'anybody' }) =>
      registry.createSession({ sessionId: principal, principal, approvalMode: 'suspend' }),
    {
      authenticate: ({ headers }) => headers.get('authorization') ?? undefined,
      tasks: { afterMs: 50 },
      ...(store === undefined ? {} : { store }),
      ...options,
    },
  );
  open.defer(() => handler.close());
  open.defer(() => registry.close());
  return { handler, registry, done };
}
