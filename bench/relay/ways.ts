/**
 * The same round trip the other ways round: an application that polls, one on a WebSocket, an agent
 * that speaks MCP.
 */
import { WebSocket } from 'ws';
import { quick } from '../harness.ts';
import type { FamilyResult, Row } from '../targets.ts';
import { httpConnection, messageTo, type Reply } from './http-connection.ts';
import { eachOf, rateOf, spreadText } from './latency.ts';
import { startServer } from './server-process.ts';
import {
  base,
  bearer,
  type Credentials,
  expectStatus,
  result,
  sessionWithTool,
  toolName,
} from './session.ts';
import { agent, answerer, application, fail, type Side } from './sides.ts';

const warmUp = quick ? 150 : 1_000;
const trips = quick ? 300 : 3_000;

async function seen(what: string, one: () => Promise<unknown>): Promise<Row> {
  await eachOf(warmUp, 1, one);
  let ms: readonly number[] = [];
  const rate = await rateOf(async () => {
    ms = await eachOf(trips, 1, one);
    return ms;
  });
  return { what, value: Math.round(rate), unit: 'a second', note: spreadText(ms) };
}

/** Asks again and again, with the last event that it has. */
async function polling(port: number, credentials: Credentials): Promise<Side> {
  const connection = await httpConnection(port);
  const answers = answerer(port, credentials);
  let isOver = false;
  const poll = async (): Promise<void> => {
    for (let after = 0; !isOver; ) {
      const path = `${base}/${credentials.code}/stream?mode=poll&after=${after}`;
      const reply = await connection.send(
        messageTo('GET', path, bearer(credentials.sessionToken))(),
      );
      const { events } = JSON.parse(expectStatus(reply, 200).body) as {
        events: readonly { id?: number; event: string; data: object }[];
      };
      for (const { id, event, data } of events) {
        after = id ?? after;
        if (event === 'tool-request') answers.answer(JSON.stringify(data)).catch(fail);
      }
    }
  };
  poll().catch((error: unknown) => isOver || fail(error));
  return {
    close: () => {
      isOver = true;
      connection.close();
      answers.close();
    },
  };
}

async function onSocket(port: number, { code, sessionToken }: Credentials): Promise<Side> {
  const socket = new WebSocket(`ws://127.0.0.1:${port}${base}/${code}/stream`, {
    headers: bearer(sessionToken),
    perMessageDeflate: false,
  });
  await new Promise<void>((resolve, reject) => {
    socket.once('open', () => resolve()).on('error', reject);
  });
  socket.on('message', (frame) => {
    const { event, data } = JSON.parse(String(frame)) as {
      event: string;
      data: { requestId: string };
    };
    if (event === 'tool-request')
      socket.send(
        JSON.stringify({ event: 'response', data: { requestId: data.requestId, result } }),
      );
  });
  return { close: () => socket.terminate() };
}

/**
 * An agent that speaks the protocol by hand: what a client's own library costs is not the relay's.
 */
async function overMcp(
  port: number,
  { code, agentToken }: Credentials,
): Promise<{ call(): Promise<Reply> } & Side> {
  const connection = await httpConnection(port);
  const protocol = '2025-06-18';
  const headers = {
    ...bearer(agentToken),
    Accept: 'application/json, text/event-stream',
    'MCP-Protocol-Version': protocol,
  };
  const send = (more: Readonly<Record<string, string>>, body: object): Promise<Reply> =>
    connection.send(
      messageTo('POST', `${base}/${code}/mcp`, { ...headers, ...more })(
        JSON.stringify({ jsonrpc: '2.0', ...body }),
      ),
    );
  const params = {
    protocolVersion: protocol,
    capabilities: {},
    clientInfo: { name: 'bench', version: '1.0.0' },
  };
  const { head } = expectStatus(await send({}, { id: 0, method: 'initialize', params }), 200);
  const session = /\nmcp-session-id: (\S+)/i.exec(head)?.[1];
  const more: Record<string, string> = session === undefined ? {} : { 'Mcp-Session-Id': session };
  expectStatus(await send(more, { method: 'notifications/initialized' }), 202);
  let id = 1;
  return {
    async call() {
      const reply = await send(more, {
        id: id++,
        method: 'tools/call',
        params: { name: toolName, arguments: { city: 'Oslo', days: 3 } },
      });
      if (!expectStatus(reply, 200).body.includes('degrees'))
        throw new Error(`Expected the result of the application, got ${reply.body}`);
      return reply;
    },
    close: connection.close,
  };
}

export async function measure(): Promise<FamilyResult> {
  const server = await startServer('memory');
  const { port } = server;
  const rows: Row[] = [];
  for (const [what, join] of [
    ['an application on a stream (SSE)', application],
    ['an application that polls', polling],
    ['an application on a WebSocket, answers included', onSocket],
  ] as const) {
    const credentials = await sessionWithTool(port);
    const side = await join(port, credentials);
    const { call, close } = await agent(port, credentials, 1);
    rows.push(await seen(`round trips, one at a time: ${what}`, () => call(0)));
    close();
    side.close();
  }
  const credentials = await sessionWithTool(port);
  const side = await application(port, credentials);
  const mcp = await overMcp(port, credentials);
  rows.push(
    await seen('round trips, one at a time: an agent that speaks MCP (`tools/call`)', mcp.call),
  );
  mcp.close();
  side.close();
  await server.close();
  return { rows };
}
