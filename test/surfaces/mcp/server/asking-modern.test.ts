/** In the 2026 era a handler asks its client by a result, and goes on in the request that answers. */
import { afterEach, expect, test } from 'vitest';
import { defineTool, type HostToolRegistry } from '../../../../src/index.ts';
import { createMcpHandler } from '../../../../src/surfaces/mcp/index.ts';
import {
  answerOf,
  anything,
  connectClient,
  eras,
  jsonHeaders,
  listen,
  opened,
  sampleRegistry,
  signal,
} from './kit.ts';

const open = opened();
afterEach(() => open.close());

interface Asking {
  readonly registry: HostToolRegistry;
  /** How often the handler has begun, and what its questions became. */
  readonly began: AbortSignal[];
  readonly failed: string[];
}

/** A registry with a tool that asks for a name and then for a colour. */
function asking(): Asking {
  const registry = sampleRegistry();
  open.defer(() => registry.close());
  const began: AbortSignal[] = [];
  const failed: string[] = [];
  const form = (member: string) =>
    ({ type: 'object', properties: { [member]: { type: 'string' } } }) as never;
  registry.registerAll([
    defineTool({
      name: 'asks',
      description: 'Asks twice.',
      parameters: anything,
      timeoutMs: 3_600_000,
      async handler(_input, { client, signal: ended }) {
        began.push(ended);
        try {
          const one = await client?.elicit?.({ message: 'Name?', requestedSchema: form('name') });
          const two = await client?.elicit?.({
            message: 'Colour?',
            requestedSchema: form('colour'),
            key: 'colour',
          });
          return `${one?.content?.name} likes ${two?.content?.colour}`;
        } catch (error) {
          failed.push((error as Error).message);
          throw error;
        }
      },
    }),
    defineTool({
      name: 'asks_briefly',
      description: 'Has no time for its answer.',
      parameters: anything,
      timeoutMs: 300,
      async handler(_input, { client, signal: ended }) {
        began.push(ended);
        return (await client?.elicit?.({ message: 'Name?', requestedSchema: form('name') }))
          ?.action;
      },
    }),
    defineTool({
      name: 'leaves',
      description: 'Does not wait for its answer.',
      parameters: anything,
      async handler(_input, { client }) {
        void client?.elicit?.({ message: 'Name?', requestedSchema: form('name') });
        void client?.sample?.({ messages: [], maxTokens: 1 });
        return 'left';
      },
    }),
  ]);
  return { registry, began, failed };
}

/** Requests of the 2026 era, as anybody could send them. */
function asker(registry: HostToolRegistry, options = {}) {
  const handler = createMcpHandler(
    ({ principal = 'anybody' }) => registry.createSession({ sessionId: principal, principal }),
    { authenticate: ({ headers }) => headers.get('authorization') ?? undefined, ...options },
  );
  open.defer(() => handler.close());
  const send = (params: object, token = 'ann', signal?: AbortSignal) => {
    const name = (params as { name?: string }).name ?? 'asks';
    const _meta = {
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientInfo': { name: 'raw', version: '1' },
      'io.modelcontextprotocol/clientCapabilities': { elicitation: {}, sampling: {} },
    };
    const body = {
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: { name, arguments: {}, ...params, _meta },
    };
    const headers = {
      ...jsonHeaders,
      authorization: token,
      'MCP-Protocol-Version': '2026-07-28',
      'Mcp-Method': 'tools/call',
      'Mcp-Name': name,
    };
    return handler.fetch(
      new Request('http://127.0.0.1/mcp', {
        method: 'POST',
        headers,
        body: JSON.stringify(body),
        ...(signal === undefined ? {} : { signal }),
      }),
    );
  };
  return {
    handler,
    send,
    ask: async (params: object, token?: string) =>
      (await answerOf(await send(params, token))) as never as {
        result: { inputRequests: object; requestState: string; content?: [{ text: string }] };
        error?: { code: number };
      },
  };
}

const given = (content: object) => ({ action: 'accept', content });
const noCall = { error: { code: -32_602, message: expect.stringContaining('No call waits') } };

test('the official client asks its user, and the handler runs once', async () => {
  const { registry, began } = asking();
  const { url } = await listen(open, ({ principal = 'anybody' }) =>
    registry.createSession({ sessionId: principal, principal }),
  );
  const client = await connectClient(open, url, 'modern', { elicitation: {} });
  client.setRequestHandler('elicitation/create', ({ params }) => ({
    action: 'accept',
    content: params.message === 'Name?' ? { name: 'Ann' } : { colour: 'blue' },
  }));
  expect(await client.callTool({ name: 'asks', arguments: {} })).toMatchObject({
    content: [{ text: 'Ann likes blue' }],
  });
  expect(began).toHaveLength(1);
});

test('each state works once, for its principal and its tool, and no other one does', async () => {
  const { registry, began } = asking();
  const { ask } = asker(registry);
  const first = await ask({});
  expect(first.result.inputRequests).toMatchObject({
    question: { method: 'elicitation/create', params: { message: 'Name?' } },
  });
  const { requestState } = first.result;
  expect(requestState).toMatch(/^call\.[\w-]{32}$/);
  const answers = { requestState, inputResponses: { question: given({ name: 'Ann' }) } };
  expect(await ask(answers, 'eve')).toMatchObject(noCall);
  expect(await ask({ ...answers, name: 'echo' })).toMatchObject(noCall);
  expect(await ask({ ...answers, requestState: `${requestState}x` })).toMatchObject(noCall);
  const second = await ask(answers);
  expect(second.result.inputRequests).toHaveProperty('colour');
  expect(await ask(answers)).toMatchObject(noCall);
  const wrong = { requestState: second.result.requestState, inputResponses: { colour: 5 } };
  const again = await ask(wrong);
  expect(again.result.inputRequests).toHaveProperty('colour');
  const { result } = await ask({
    requestState: again.result.requestState,
    inputResponses: { colour: given({ colour: 'blue' }), other: given({}) },
  });
  expect(result.content?.[0].text).toBe('Ann likes blue');
  expect(began).toHaveLength(1);
});

test('an answer that does not match the form is asked for again', async () => {
  const { registry, began } = asking();
  const { ask } = asker(registry);
  const first = await ask({});
  const wrong = { question: given({ name: 7 }) };
  const again = await ask({ requestState: first.result.requestState, inputResponses: wrong });
  expect(again.result.inputRequests).toHaveProperty('question');
  const early = await ask({ inputResponses: wrong });
  expect(early.result.inputRequests).toHaveProperty('question');
  expect(await ask({ inputResponses: 'yes' })).toMatchObject({ error: { code: -32_602 } });
  const { requestState } = again.result;
  const next = await ask({ requestState, inputResponses: { question: given({ name: 'Ann' }) } });
  expect(next.result.inputRequests).toHaveProperty('colour');
  expect(began).toHaveLength(2);
});

test('in the 2025 era it is an error for the handler, which says what was expected', async () => {
  const { registry, failed } = asking();
  const { url } = await listen(open, () => registry.createSession({ sessionId: 'one' }));
  const client = await connectClient(open, url, 'legacy', { elicitation: {} });
  client.setRequestHandler('elicitation/create', () => ({
    action: 'accept',
    content: { name: 7 },
  }));
  expect(await client.callTool({ name: 'asks', arguments: {} })).toMatchObject({ isError: true });
  expect(failed).toEqual([
    'The client gave a wrong answer. Expected one whose `content` matches `requestedSchema`: ' +
      '/name must be a string, got a number.',
  ]);
});

test.each(eras)('%s: a form beyond the limits of schemas is not asked for', async (era) => {
  const { registry } = asking();
  const asked: unknown[] = [];
  registry.register(
    defineTool({
      name: 'asks_much',
      description: 'Asks too much.',
      parameters: anything,
      async handler(_input, { client }) {
        const names = Array.from({ length: 501 }, (_, index) => [`member_${index}`, {}]);
        const requestedSchema = { type: 'object', properties: Object.fromEntries(names) } as never;
        try {
          return (await client?.elicit?.({ message: 'All?', requestedSchema }))?.action;
        } catch (error) {
          return (error as Error).message;
        }
      },
    }),
  );
  const { url } = await listen(open, () => registry.createSession({ sessionId: 'one' }));
  const client = await connectClient(open, url, era, { elicitation: {} });
  client.setRequestHandler('elicitation/create', ({ params }) => {
    asked.push(params);
    return { action: 'decline' };
  });
  const { content } = await client.callTool({ name: 'asks_much', arguments: {} });
  expect(content).toMatchObject([{ text: expect.stringContaining('500') }]);
  expect(asked).toEqual([]);
});

test('answers that come with the first request are taken where they are asked for', async () => {
  const { registry } = asking();
  const { ask } = asker(registry);
  const { result } = await ask({
    inputResponses: { question: given({ name: 'Ann' }), colour: { action: 'decline' } },
  });
  expect(result.content?.[0].text).toBe('Ann likes undefined');
});

test('a call that ends while it waits has its result for the next request', async () => {
  const { registry, began } = asking();
  const { ask } = asker(registry);
  const name = 'asks_briefly';
  const { requestState } = (await ask({ name })).result;
  await expect.poll(() => began[0]?.aborted).toBe(true);
  expect((await ask({ name, requestState })).result).toMatchObject({
    isError: true,
    _meta: { 'host-tools/error': { code: 'timeout' } },
  });
});

test('a call whose client goes away is aborted, and one that waits when its server is closed', async () => {
  const { registry, began } = asking();
  const held = signal<void>();
  registry.register(
    defineTool({
      name: 'waits',
      description: 'Waits.',
      parameters: anything,
      task: 'optional',
      handler: (_input, { signal: ended }) => {
        began.push(ended);
        return held.promise;
      },
    }),
  );
  const { send, ask, handler } = asker(registry);
  const leaving = new AbortController();
  const waiting = send({ name: 'waits' }, 'ann', leaving.signal).then(
    (response) => response.text(),
    () => '',
  );
  await expect.poll(() => began.length).toBe(1);
  leaving.abort();
  await expect.poll(() => began[0]?.aborted).toBe(true);
  held.resolve();
  await waiting;
  await ask({});
  expect(began[1]?.aborted).toBe(false);
  await handler.close();
  expect(began[1]?.aborted).toBe(true);
});

test('no principal takes all places of calls that wait', async () => {
  const { registry, failed } = asking();
  const { ask } = asker(registry);
  for (let asked = 0; asked < 250; asked++)
    expect((await ask({})).result).toHaveProperty('requestState');
  expect((await ask({})).result).toMatchObject({ isError: true });
  expect(failed).toEqual(['Too many calls wait for answers of their clients. Try again later.']);
  expect((await ask({}, 'bob')).result).toHaveProperty('requestState');
});

test('a handler that does not wait for its answer ends its call, and nothing else', async () => {
  const { registry } = asking();
  const { ask } = asker(registry);
  const rejected: unknown[] = [];
  const heard = (reason: unknown): void => void rejected.push(reason);
  process.on('unhandledRejection', heard);
  open.defer(() => process.off('unhandledRejection', heard));
  let { result } = await ask({ name: 'leaves' });
  // It may not have ended yet when its questions are there.
  if (result.requestState !== undefined)
    ({ result } = await ask({ name: 'leaves', requestState: result.requestState }));
  expect(result.content?.[0].text).toBe('left');
  await new Promise((resolve) => setImmediate(resolve));
  expect(rejected).toEqual([]);
});
