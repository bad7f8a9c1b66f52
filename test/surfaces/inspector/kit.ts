/** A registry to inspect, and an agent's calls in it. */
import { z } from 'zod';
import { defineTool, HostToolRegistry, type RegistryOptions } from '../../../src/index.ts';
import { createInspector, type InspectorOptions } from '../../../src/surfaces/inspector/index.ts';
import type {
  CallDetail,
  CallLine,
  FeedMessage,
} from '../../../src/surfaces/pages/inspector-wire.ts';

/** Text that would be markup, if anything took it for that, and that reads backwards. */
export const hostile = '<img src=x onerror="document.title=\'owned\'">\u202e</script><script>';

export const token = 'test-token-0123456789-0123456789-abc';

export function makeRegistry(options: RegistryOptions = {}): HostToolRegistry {
  const registry = new HostToolRegistry({
    redact: ['password'],
    rules: [
      { id: 'no-etc', effect: 'deny', tools: 'read', when: { path: { glob: '/etc/*' } } },
      { id: 'try', effect: 'deny', tools: 'write', shadow: true },
      { id: 'ask-pay', effect: 'ask', tools: 'pay' },
    ],
    ...options,
  });
  registry.registerAll([
    defineTool({
      name: 'read',
      description: `Reads a file. ${hostile}`,
      parameters: z.object({
        path: z.string().describe('Which file'),
        password: z.string().optional(),
      }),
      annotations: { readOnly: true },
      handler: ({ path }) => ({ path, text: hostile }),
    }),
    defineTool({
      name: 'write',
      description: 'Writes a file.',
      parameters: z.object({ path: z.string() }),
      handler: () => {
        throw new Error('disk full');
      },
    }),
    defineTool({
      name: 'pay',
      description: 'Pays.',
      parameters: z.object({ to: z.string() }),
      handler: () => 'paid',
    }),
    defineTool({
      name: 'deploy',
      description: 'Deploys.',
      parameters: z.object({}),
      requires: [{ fact: 'build', equals: 'green' }],
      handler: () => 'done',
    }),
  ]);
  registry.defineProfile({ id: 'reader', tools: ['read', { name: 'missing', optional: true }] });
  return registry;
}

/** A tool about which a person is asked. @param ran the inputs with which it has run */
export function buyTool(ran: unknown[]) {
  return defineTool({
    name: 'buy',
    description: 'Buys.',
    parameters: z.object({ to: z.string() }),
    requiresApproval: true,
    handler: (input) => {
      ran.push(input);
      return 'bought';
    },
  });
}

export function inspect(registry: HostToolRegistry, options: InspectorOptions = {}) {
  const inspector = createInspector(registry, { token, ...options });
  const ask = (path: string, init: RequestInit = {}, headers: Record<string, string> = {}) =>
    inspector.fetch(
      new Request(`http://127.0.0.1:4041/${path}`, {
        ...init,
        headers: { authorization: `Bearer ${token}`, host: '127.0.0.1:4041', ...headers },
      }),
    );
  const get = async <T>(path: string): Promise<T> =>
    (await ask(`api/${path}`)).json() as Promise<T>;
  const post = (path: string, body: unknown) =>
    ask(`api/${path}`, { method: 'POST', body: JSON.stringify(body) });
  return { inspector, ask, get, post };
}

/** Reads a stream until what it told fits. */
export async function told<T>(
  response: Response,
  find: (message: FeedMessage) => T | undefined,
): Promise<T> {
  const reader = (response.body as ReadableStream<Uint8Array>)
    .pipeThrough(new TextDecoderStream() as never)
    .getReader() as ReadableStreamDefaultReader<string>;
  let text = '';
  for (;;) {
    const { done, value } = await reader.read();
    if (done) throw new Error(`The stream ended with ${text}`);
    const lines = (text + value).split('\n');
    text = lines.pop() ?? '';
    for (const line of lines) {
      const found = find(JSON.parse(line) as FeedMessage);
      if (found === undefined) continue;
      await reader.cancel();
      return found;
    }
  }
}

/** The lines of calls that a stream begins with. */
export async function linesOf(kit: ReturnType<typeof inspect>): Promise<readonly CallLine[]> {
  return told(await kit.ask('api/stream'), (message) =>
    message.type === 'calls' ? message.calls : undefined,
  );
}

export function detailOf(kit: ReturnType<typeof inspect>, n: number): Promise<CallDetail> {
  return kit.get<CallDetail>(`call?n=${n}`);
}
