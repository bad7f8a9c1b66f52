import { agent, type ClientCapabilities, client } from '@agentclientprotocol/sdk/unstable';
import { expect, test } from 'vitest';
import { defineTool, HostToolRegistry, MisuseError, type ToolSession } from '../../../src/index.ts';
import { type AcpAgentSession, fromAcpConnection } from '../../../src/surfaces/acp/index.ts';

const full: ClientCapabilities = {
  fs: { readTextFile: true, writeTextFile: true },
  terminal: true,
};

/** Runs a turn of an agent whose session uses the client. What the client was asked. */
async function run(
  clientCapabilities: ClientCapabilities,
  turn: (session: ToolSession, acp: AcpAgentSession) => Promise<void>,
  { choose = 'allow_once', prefix }: { choose?: string; prefix?: string } = {},
) {
  const registry = new HostToolRegistry();
  registry.register(
    defineTool({
      ...{ name: 'pay', description: 'Pays.', requiresApproval: true },
      parameters: { type: 'object' } as const,
      handler: () => 'paid',
    }),
  );
  const asked: string[] = [];
  let acp: AcpAgentSession | undefined;
  let declared: ClientCapabilities | undefined;
  const served = agent()
    .onRequest('initialize', ({ params }) => {
      declared = params.clientCapabilities;
      return { protocolVersion: 1 };
    })
    .onRequest('session/new', ({ client: peer }) => {
      const session = registry.createSession({ sessionId: 's1' });
      acp = fromAcpConnection(peer, session, {
        ...{ sessionId: 's1', clientCapabilities: declared },
        ...(prefix === undefined ? {} : { prefix }),
      });
      return { sessionId: 's1' };
    })
    .onRequest('session/prompt', async () => {
      await turn((acp as AcpAgentSession).session, acp as AcpAgentSession);
      return { stopReason: 'end_turn' };
    });
  const note = (text: string) => void asked.push(text);
  await client()
    .onRequest('session/request_permission', ({ params: { toolCall, options } }) => {
      note(`permission ${toolCall.title}`);
      const option = options.find(({ kind }) => kind === choose);
      return {
        outcome:
          option === undefined
            ? { outcome: 'cancelled' }
            : { outcome: 'selected', optionId: option.optionId },
      };
    })
    .onRequest('fs/read_text_file', ({ params }) => {
      note(`read ${params.path} of ${params.sessionId}`);
      return { content: 'text' };
    })
    .onRequest('fs/write_text_file', ({ params }) => note(`write ${params.path}`))
    .onRequest('terminal/create', ({ params }) => {
      note(`create ${params.command}`);
      return { terminalId: 't1' };
    })
    .onRequest('terminal/wait_for_exit', () => ({ exitCode: 3 }))
    .onRequest('terminal/output', () => ({ output: 'out', truncated: false }))
    .onRequest('terminal/release', ({ params }) => note(`release ${params.terminalId}`))
    .connectWith(served, async (context) => {
      await context.request('initialize', { protocolVersion: 1, clientCapabilities });
      const { sessionId } = await context.request('session/new', { cwd: '/', mcpServers: [] });
      await context.request('session/prompt', { sessionId, prompt: [] });
    });
  return asked;
}

const names = (session: ToolSession): string[] => session.tools().map(({ name }) => name);

test('the client answers approvals, and grants stay in the session', async () => {
  const said: unknown[] = [];
  const turn = async (session: ToolSession): Promise<void> => {
    for (let n = 0; n < 2; n++) said.push((await session.call('pay', {})).success);
  };
  expect(await run({}, turn)).toHaveLength(2);
  expect(await run({}, turn, { choose: 'allow_always' })).toHaveLength(1);
  expect(said).toEqual([true, true, true, true]);
  said.length = 0;
  expect(await run({}, turn, { choose: 'reject_once' })).toHaveLength(2);
  await run({}, turn, { choose: 'none' });
  expect(said).toEqual([false, false, false, false]);
});

test('the tools of the client come with its capabilities, and go with the connection', async () => {
  const seen: string[][] = [];
  await run({ fs: { readTextFile: true } }, async (session, acp) => {
    seen.push(names(session));
    session.setFacts({ 'client.capabilities.fs.readTextFile': false });
    seen.push(names(session));
    acp.close();
    acp.close();
    seen.push(names(session));
    expect((await session.call('pay', {})).error?.reason).toBe('no_approver');
  });
  await run(full, async (session) => void seen.push(names(session)), { prefix: 'zed.' });
  expect(seen).toEqual([
    ['pay', 'ide_read_file'],
    ['pay'],
    ['pay'],
    ['pay', 'zed.read_file', 'zed.write_file', 'zed.terminal'],
  ]);
});

test('the tools do what they say by the client', async () => {
  const said: unknown[] = [];
  const asked = await run(full, async (session) => {
    for (const [name, input] of [
      ['ide_read_file', { path: '/a' }],
      ['ide_write_file', { path: '/b', content: 'x' }],
      ['ide_terminal', { command: 'ls' }],
    ] as const)
      said.push((await session.call(name, input)).output);
  });
  expect(said).toEqual([
    'text',
    null,
    { output: 'out', exitCode: 3, signal: null, truncated: false },
  ]);
  expect(asked).toEqual(['read /a of s1', 'write /b', 'create ls', 'release t1']);
});

test.each([
  ['no session id', {}],
  ['an unknown option', { sessionId: 's', prefx: 'a' }],
  ['capabilities that are no object', { sessionId: 's', clientCapabilities: 'fs' }],
])('fromAcpConnection throws for %s', (_, options) => {
  const session = new HostToolRegistry().createSession({ sessionId: 'h' });
  const peer = { request: async () => ({}) };
  expect(() => fromAcpConnection(peer, session, options as never)).toThrow(MisuseError);
});

test('what cannot be asked is no connection, and nothing is registered', () => {
  const session = new HostToolRegistry().createSession({ sessionId: 'h' });
  expect(() => fromAcpConnection({} as never, session, { sessionId: 's' })).toThrow(
    /`connection` to be an object with the method `request`/,
  );
  expect(session.tools()).toEqual([]);
});

test('a terminal that was made while its call ended is released, once', async () => {
  const asked: string[] = [];
  let made = (): void => {};
  const peer = {
    request(method: string): Promise<unknown> {
      asked.push(method);
      if (method !== 'terminal/create') return Promise.resolve({});
      return new Promise((resolve) => {
        made = () => resolve({ terminalId: 't1' });
      });
    },
  };
  const session = new HostToolRegistry().createSession({ sessionId: 's1' });
  const clientCapabilities = full;
  fromAcpConnection(peer, session, { sessionId: 's1', clientCapabilities });
  const controller = new AbortController();
  const { signal } = controller;
  const call = session.call('ide_terminal', { command: 'ls' }, { signal });
  await expect.poll(() => asked).toEqual(['terminal/create']);
  controller.abort();
  expect((await call).error?.code).toBe('cancelled');
  made();
  await expect.poll(() => asked).toEqual(['terminal/create', 'terminal/release']);
});
