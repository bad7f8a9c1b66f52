/**
 * Many streams open at once: what one keeps in use, how fast they open, how fast events reach them,
 * and what they cost while nothing happens.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { quick } from '../harness.ts';
import type { FamilyResult, Row } from '../targets.ts';
import { type HttpConnection, httpConnection, messageTo } from './http-connection.ts';
import { eachOf, spreadText } from './latency.ts';
import { startServer, type Told } from './server-process.ts';
import {
  base,
  bearer,
  type Credentials,
  createSession,
  definition,
  expectStatus,
  register,
  registration,
  requestBody,
  toolName,
} from './session.ts';
import { sseConnection } from './sse-connection.ts';

const streams = 1_000;
const atOnce = 16;
const idleMs = quick ? 3_000 : 15_000;

interface Open {
  close(): void;
}

export async function measure(): Promise<FamilyResult> {
  const server = await startServer('memory');
  const { port } = server;
  const connections = await Promise.all(Array.from({ length: atOnce }, () => httpConnection(port)));
  const at = (place: number): HttpConnection => connections[place] as HttpConnection;
  const body = registration([definition(toolName)]);
  const sessions: Credentials[] = [];
  await eachOf(streams, atOnce, async (_, place) => {
    const credentials = await createSession(at(place));
    await register(at(place), credentials, body);
    sessions.push(credentials);
  });

  /** Opens a stream for each of these, and has each tell of an event of a name. */
  const listen = async (
    path: (index: number) => string,
    token: (index: number) => string,
    onEvent: (event: string, index: number) => void,
  ) => {
    const open: Open[] = [];
    const start = performance.now();
    const ms = await eachOf(streams, atOnce, async (index) => {
      let connected = (): void => {};
      const isConnected = new Promise<void>((resolve) => {
        connected = resolve;
      });
      open.push(
        await sseConnection(port, path(index), bearer(token(index)), (event) => {
          if (event === 'connected') connected();
          onEvent(event, index);
        }),
      );
      await isConnected;
    });
    return { open, ms, all: performance.now() - start };
  };
  const arrival = (): { readonly all: Promise<void>; came(): void } => {
    let left = streams;
    let done = (): void => {};
    const all = new Promise<void>((resolve) => {
      done = resolve;
    });
    return { all, came: () => (--left === 0 ? done() : undefined) };
  };

  const before = await server.ask('usage');
  const sentAt: number[] = [];
  const delays: number[] = [];
  let arrived = arrival();
  const applications = await listen(
    (index) => `${base}/${sessions[index]?.code}/stream`,
    (index) => sessions[index]?.sessionToken ?? '',
    (event, index) => {
      if (event !== 'tool-request') return;
      delays.push(performance.now() - (sentAt[index] ?? Number.NaN));
      arrived.came();
    },
  );
  const opened = await server.ask('usage');
  const idle = await idleShare(() => server.ask('cpu'));

  const eventsStart = performance.now();
  await eachOf(streams, atOnce, async (index, place) => {
    const { code, agentToken } = sessions[index] as Credentials;
    sentAt[index] = performance.now();
    const message = messageTo(
      'POST',
      `${base}/${code}/request`,
      bearer(agentToken),
    )(requestBody.replace('{', '{"wait":false,'));
    expectStatus(await at(place).send(message), 202);
  });
  await arrived.all;
  const eventsMs = performance.now() - eventsStart;
  for (const one of applications.open) one.close();

  // Many agents of one session hear of one change.
  const [shared] = sessions as [Credentials];
  const came: number[] = [];
  arrived = arrival();
  let changedAt = Number.POSITIVE_INFINITY;
  const agents = await listen(
    () => `${base}/${shared.code}/events`,
    () => shared.agentToken,
    (event) => {
      if (event !== 'tool-availability-update' || changedAt === Number.POSITIVE_INFINITY) return;
      came.push(performance.now() - changedAt);
      arrived.came();
    },
  );
  changedAt = performance.now();
  const update = JSON.stringify({ added: [definition('another')], reason: 'bench' });
  expectStatus(
    await at(0).send(
      messageTo('POST', `${base}/${shared.code}/update-tools`, bearer(shared.sessionToken))(update),
    ),
    200,
  );
  await arrived.all;
  for (const one of [...agents.open, ...connections]) one.close();
  await server.close();

  const kb = (bytes: number): string => `${(bytes / streams / 1024).toFixed(1)} KB`;
  const inUse = (told: Told): number => told.heap + told.external;
  const rows: Row[] = [
    {
      what: `a stream, of ${streams} open at once`,
      value: (inUse(opened) - inUse(before)) / streams / 1024,
      unit: 'KB',
      note: `resident ${kb(opened.rss - before.rss)}, heap ${kb(opened.heap - before.heap)}`,
    },
    {
      what: `opening ${streams} streams, ${atOnce} at a time`,
      value: applications.all,
      unit: 'ms',
      note: `until \`connected\`: ${spreadText(applications.ms)}`,
    },
    {
      what: `a call to each of ${streams} sessions, until all streams have it`,
      value: eventsMs,
      unit: 'ms',
      note: `from the request on: ${spreadText(delays)}`,
    },
    {
      what: `a change of tools, until all ${streams} agents of its session have it`,
      value: Math.max(...came),
      unit: 'ms',
      note: spreadText(came),
    },
    {
      what: `processor time of ${streams} streams without events`,
      value: idle * 100,
      unit: '% of a core',
      note: `over ${idleMs / 1_000} s, heartbeats and leases as by default`,
    },
  ];
  return { rows };
}

/** Of one core. */
async function idleShare(ask: () => Promise<Told>): Promise<number> {
  await sleep(500);
  const start = performance.now();
  const before = await ask();
  await sleep(idleMs);
  const after = await ask();
  return (after.cpuUs - before.cpuUs) / 1_000 / (performance.now() - start);
}
