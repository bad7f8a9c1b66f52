/** Who may answer a question about a call that needs scopes: only a token that has them. */
import { afterEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { defineTool, HostToolRegistry } from '../../../../src/index.ts';
import {
  createMcpHandler,
  type McpAuthorization,
  type McpHandler,
} from '../../../../src/surfaces/mcp/index.ts';
import { initializeParams, opened, post, secret } from './kit.ts';

const open = opened();
afterEach(() => open.close());

type Json = { readonly [key: string]: Json } & { readonly [index: number]: Json } & string;
const tokenFor = (principal: string, ...scopes: string[]): string =>
  Buffer.from(JSON.stringify({ principal, scopes })).toString('base64url');
const strong = tokenFor('ann', 'read', 'write');
const weak = tokenFor('ann', 'read');
const authorization = {
  authorizationServers: ['https://login.example.com'],
  verify: (token) => JSON.parse(Buffer.from(token, 'base64url').toString()) as never,
} satisfies McpAuthorization;

function world(approvalMode: 'ask' | 'suspend', task: 'required' | undefined) {
  const wrote: string[] = [];
  const registry = new HostToolRegistry({ approvals: { secret } });
  registry.registerAll([
    defineTool({
      name: 'write',
      description: 'Writes.',
      parameters: z.object({}),
      scopes: ['write'],
      requiresApproval: true,
      handler: () => {
        wrote.push('write');
        return 'a secret';
      },
    }),
    defineTool({
      name: 'asks',
      description: 'Writes what its user says.',
      parameters: z.object({}),
      scopes: ['write'],
      task,
      handler: async (_input, { client }) => {
        const requestedSchema = { type: 'object', properties: { name: { type: 'string' } } };
        const answer = await client?.elicit?.({
          message: 'What?',
          requestedSchema: requestedSchema as never,
        });
        wrote.push(String(answer?.content?.name));
        return 'a secret';
      },
    }),
  ]);
  const handler = createMcpHandler(
    ({ principal = '', scopes = [] }) =>
      registry.createSession({
        sessionId: principal,
        principal,
        scopes,
        approvalMode,
        code: { show: 'both' },
      }),
    { authorization, tasks: { afterMs: 1 } },
  );
  open.defer(() => handler.close());
  open.defer(() => registry.close());
  return { handler, wrote };
}

const allow = { action: 'accept', content: { decision: 'allow_once' } };
const name = { action: 'accept', content: { name: 'a name' } };
const program = { code: 'return await tools.write({}).catch((error) => error.reason)' };

/** Sends a request of the 2026 era. */
async function send(
  handler: McpHandler,
  token: string,
  method: string,
  params: object,
  about: string,
  extensions: object = { 'io.modelcontextprotocol/tasks': {} },
) {
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientCapabilities': { elicitation: {}, extensions },
    'io.modelcontextprotocol/clientInfo': { name: 'raw', version: '1' },
  };
  const response = await handler.fetch(
    post(
      { jsonrpc: '2.0', id: 1, method, params: { ...params, _meta } },
      {
        authorization: `Bearer ${token}`,
        'mcp-protocol-version': '2026-07-28',
        'mcp-method': method,
        'mcp-name': about,
      },
    ),
  );
  const text = await response.text();
  const data = text.startsWith('{') ? text : (/^data: (.*)$/m.exec(text)?.[1] ?? 'null');
  return {
    status: response.status,
    challenge: response.headers.get('www-authenticate'),
    body: JSON.parse(data) as Json,
  };
}

describe('a question about a task', () => {
  test.each([
    ['write', {}, 'approval', allow, 'write'],
    ['asks', {}, 'question', name, 'a name'],
    ['run_code', program, 'approval', allow, 'write'],
  ])(
    'of %s is shown to, and answered by, a token with the scopes only',
    async (tool, input, key, answer, done) => {
      const { handler, wrote } = world('suspend', 'required');
      const made = await send(
        handler,
        strong,
        'tools/call',
        { name: tool, arguments: input },
        tool,
      );
      const { taskId } = made.body.result as Json;
      const given = { taskId, inputResponses: { [key]: answer } };
      const status = async (token: string) =>
        (await send(handler, token, 'tasks/get', { taskId }, taskId as string)).body.result?.status;
      await expect.poll(() => status(strong)).toBe('input_required');
      for (const [method, params] of [
        ['tasks/get', { taskId }],
        ['tasks/update', given],
      ] as const)
        expect(await send(handler, weak, method, params, taskId as string)).toMatchObject({
          status: 403,
          challenge: expect.stringMatching(/insufficient_scope.*scope="write"/),
          body: { id: 1 },
        });
      expect(wrote).toEqual([]);
      // Nothing was used up.
      expect((await send(handler, strong, 'tasks/update', given, taskId as string)).status).toBe(
        200,
      );
      await expect.poll(() => status(strong)).toBe('completed');
      expect(wrote).toEqual([done]);
      expect((await send(handler, weak, 'tasks/get', { taskId }, taskId as string)).status).toBe(
        403,
      );
    },
  );

  test('of another principal stays unknown, whatever it needs', async () => {
    const { handler } = world('suspend', 'required');
    const made = await send(handler, strong, 'tools/call', { name: 'write' }, 'write');
    const { taskId } = made.body.result as Json;
    const eve = tokenFor('eve');
    expect(await send(handler, eve, 'tasks/get', { taskId }, taskId as string)).toMatchObject({
      status: 200,
      body: { error: { code: -32_602 } },
    });
  });

  test('can be taken back with any token of its principal', async () => {
    const { handler } = world('suspend', 'required');
    const made = await send(handler, strong, 'tools/call', { name: 'write' }, 'write');
    const { taskId } = made.body.result as Json;
    expect((await send(handler, weak, 'tasks/cancel', { taskId }, taskId as string)).status).toBe(
      200,
    );
    expect(await send(handler, strong, 'tasks/get', { taskId }, taskId as string)).toMatchObject({
      body: { result: { status: 'cancelled' } },
    });
  });
});

describe('a question in a result', () => {
  const ask = async (tool: string, input: object) => {
    const { handler, wrote } = world('suspend', undefined);
    const made = await send(
      handler,
      strong,
      'tools/call',
      { name: tool, arguments: input },
      tool,
      {},
    );
    const { requestState } = made.body.result as Json;
    const inputResponses = { approval: allow, question: name };
    const params = { name: tool, arguments: input, requestState, inputResponses };
    return {
      wrote,
      answer: (token: string) => send(handler, token, 'tools/call', params, tool, {}),
    };
  };

  test.each([
    ['write', 'write'],
    ['asks', 'a name'],
  ])('of %s is answered by a token with its scopes only', async (tool, done) => {
    const { answer, wrote } = await ask(tool, {});
    expect((await answer(weak)).status).toBe(403);
    expect(wrote).toEqual([]);
    expect((await answer(strong)).status).toBe(200);
    expect(wrote).toEqual([done]);
  });

  test('of a program lets no call run for which the token lacks a scope', async () => {
    const { answer, wrote } = await ask('run_code', program);
    expect((await answer(weak)).body.result?.content?.[0]?.text).toBe('scope_missing');
    expect(wrote).toEqual([]);
  });
});

/** Reads a stream of events up to the first that has a member. */
async function next(reader: ReadableStreamDefaultReader<string>, member: string): Promise<Json> {
  for (;;) {
    const { value, done } = await reader.read();
    if (done) throw new Error(`The stream ended without \`${member}\`.`);
    for (const [, data] of value.matchAll(/^data: (\{.*)$/gm)) {
      const message = JSON.parse(data as string) as Json;
      if (member in message) return message;
    }
  }
}

describe.each(['ask', 'suspend'] as const)('a question of the 2025 era, mode %s', (mode) => {
  test.each([
    ['write', {}, allow, 'write'],
    ['asks', {}, name, 'a name'],
    ['run_code', program, allow, 'write'],
  ])('about %s is answered by a token with the scopes only', async (tool, input, answer, done) => {
    const { handler, wrote } = world(mode, undefined);
    let session = {};
    const say = (token: string, body: object) =>
      handler.fetch(
        post({ jsonrpc: '2.0', ...body }, { authorization: `Bearer ${token}`, ...session }),
      );
    const initialize = { ...initializeParams, capabilities: { elicitation: {} } };
    const begun = await say(strong, { id: 0, method: 'initialize', params: initialize });
    await begun.text();
    session = { 'mcp-session-id': begun.headers.get('mcp-session-id') ?? '' };
    await say(strong, { method: 'notifications/initialized' });
    const params = { name: tool, arguments: input };
    const called = await say(strong, { id: 1, method: 'tools/call', params });
    const reader = (called.body as ReadableStream<Uint8Array>)
      .pipeThrough(new TextDecoderStream() as never)
      .getReader() as ReadableStreamDefaultReader<string>;
    const { id } = await next(reader, 'method');
    const refused = await say(weak, { id, result: answer });
    expect([refused.status, refused.headers.get('www-authenticate')]).toEqual([
      403,
      expect.stringMatching(/insufficient_scope.*scope="write"/),
    ]);
    expect(wrote).toEqual([]);
    expect((await say(strong, { id, result: answer })).status).toBe(202);
    expect((await next(reader, 'result')).result?.isError).toBeUndefined();
    expect(wrote).toEqual([done]);
  });
});
