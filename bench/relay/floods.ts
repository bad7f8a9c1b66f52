/**
 * What another session notices while one token floods the node: round trips alone and beside it, in
 * turns. The limits are those by default.
 */
import { fork } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { quick } from '../harness.ts';
import type { FamilyResult, Row } from '../targets.ts';
import type { Answered, Flood } from './flood.ts';
import { httpConnection, messageTo } from './http-connection.ts';
import { eachOf, spreadOf, spreadText } from './latency.ts';
import { startServer } from './server-process.ts';
import {
  base,
  bearer,
  type Credentials,
  createSession,
  definition,
  register,
  registration,
  sessionWithTool,
} from './session.ts';
import { agent, application } from './sides.ts';

const floodFile = fileURLToPath(new URL('./flood.js', import.meta.url));
const connections = 32;
const rounds = quick ? 3 : 7;
/** A session may make 60 calls a minute, so each round has sessions of its own. */
const trips = 50;
const warmUpSessions = quick ? 4 : 20;

async function startFlood(flood: Flood): Promise<{ stop(): Promise<Answered> }> {
  const child = fork(floodFile, [], { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  await new Promise<void>((resolve, reject) => {
    child
      .once('error', reject)
      .send(flood, (error) => (error === null ? resolve() : reject(error)));
  });
  return {
    stop: () =>
      new Promise((resolve) => {
        child.once('message', (answered) => resolve(answered as Answered));
        child.send('stop');
      }),
  };
}

/** A session with 1 000 tools, as large as a body may be. */
async function bigSession(port: number): Promise<Credentials> {
  const connection = await httpConnection(port);
  const credentials = await createSession(connection);
  const remark = ' It says more about itself than it has to.'.repeat(10);
  const tools = Array.from({ length: 1_000 }, (_, index) => definition(`t${index}`, remark));
  await register(connection, credentials, registration(tools));
  connection.close();
  return credentials;
}

/** Milliseconds of each trip in a session of its own. */
async function tripsOf(port: number): Promise<readonly number[]> {
  const credentials = await sessionWithTool(port);
  const side = await application(port, credentials);
  const { call, close } = await agent(port, credentials, 1);
  const ms = await eachOf(trips, 1, () => call(0));
  close();
  side.close();
  // The first ones make the session's live parts.
  return ms.slice(5);
}

export async function measure(): Promise<FamilyResult> {
  const server = await startServer('limited');
  const { port } = server;
  for (let count = 0; count < warmUpSessions; count++) await tripsOf(port);
  const rows: Row[] = [];
  for (const [what, floodFor] of floodsOf()) {
    const flood: Flood = { port, connections, ...floodFor(await bigSession(port)) };
    const alone: number[] = [];
    const beside: number[] = [];
    let answered: Answered = {};
    let busy = 0;
    for (let round = 0; round < rounds; round++) {
      alone.push(...(await tripsOf(port)));
      const running = await startFlood(flood);
      // What the limits of a minute allow has been answered by then.
      await sleep(quick ? 500 : 1_500);
      const [from, before] = [performance.now(), await server.ask('cpu')];
      beside.push(...(await tripsOf(port)));
      const after = await server.ask('cpu');
      busy += (after.cpuUs - before.cpuUs) / 1_000 / (performance.now() - from) / rounds;
      answered = await running.stop();
      await sleep(2_500);
    }
    rows.push({
      ...(what === floodNames[0] ? { id: 'relay_flood' as const } : { what: `the same: ${what}` }),
      value: spreadOf(beside).p50 / spreadOf(alone).p50,
      unit: '×',
      note:
        `alone ${spreadText(alone)}; beside ${spreadText(beside)}, server ` +
        `${Math.round(busy * 100)} % busy; answers of the last flood ` +
        Object.entries(answered)
          .map(([status, count]) => `${status}: ${count}`)
          .join(', '),
    });
  }
  await server.close();
  return { rows };
}

const floodNames = [
  'metadata that has not changed',
  'the state of a call',
  'answers to calls that do not exist',
  'calls of 256 KB that are refused',
  'frames of an agent that are refused',
  'cancellations by frames, of calls that do not exist',
] as const;

/** Few, since each round opens them again. */
const sockets = 6;

type Flooding = Pick<Flood, 'message'> & Partial<Flood>;

function bySocket(frame: object): (credentials: Credentials) => Flooding {
  return ({ code, agentToken }) => ({
    message: JSON.stringify(frame),
    socket: { path: `${base}/${code}/agent`, token: agentToken },
    connections: sockets,
  });
}

function floodsOf(): readonly (readonly [string, (credentials: Credentials) => Flooding])[] {
  const byHttp = requestsOf().map(
    ([what, messageFor]) =>
      [
        what,
        (credentials: Credentials): Flooding => ({ message: messageFor(credentials) }),
      ] as const,
  );
  return [
    ...byHttp,
    [floodNames[4], bySocket({ event: 'request', data: { requestId: 'r', tool: 5 } })],
    [floodNames[5], bySocket({ event: 'cancel', data: { requestId: 'r' } })],
  ];
}

function requestsOf(): readonly (readonly [string, (credentials: Credentials) => string])[] {
  const call = JSON.stringify({ tool: 5, args: { text: 'x'.repeat(262_144) } });
  return [
    [
      floodNames[0],
      ({ code, agentToken }) =>
        messageTo('GET', `${base}/${code}/metadata`, {
          ...bearer(agentToken),
          'If-None-Match': '*',
        })(),
    ],
    [
      floodNames[1],
      ({ code, agentToken }) =>
        messageTo('GET', `${base}/${code}/requests/x`, bearer(agentToken))(),
    ],
    [
      floodNames[2],
      ({ code, sessionToken }) =>
        messageTo(
          'POST',
          `${base}/${code}/response`,
          bearer(sessionToken),
        )(JSON.stringify({ requestId: 'x', result: 1 })),
    ],
    [
      floodNames[3],
      ({ code, agentToken }) =>
        messageTo('POST', `${base}/${code}/request`, bearer(agentToken))(call),
    ],
  ];
}
