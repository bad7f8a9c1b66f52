/**
 * What a deployment is sized by: the processor time of a node and of Redis for a call, with many
 * sessions at once; what a session keeps in Redis; and what open streams cost while nothing
 * happens. Times of the processor hardly depend on what else the machine does. How many calls a
 * second fit into a core follows from them.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { quick } from '../harness.ts';
import type { FamilyResult, Row } from '../targets.ts';
import { httpConnection } from './http-connection.ts';
import { eachOf, spreadText } from './latency.ts';
import { redisMissing, startRedis } from './redis.ts';
import { type ServerKind, type ServerProcess, startServer } from './server-process.ts';
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
import { agent, application, type Side } from './sides.ts';
import { sseConnection } from './sse-connection.ts';

const calling = 32;
const warmUpCalls = quick ? 300 : 4_000;
const calls = quick ? 600 : 8_000;
const kept = quick ? 100 : 1_000;
const keptTools = 10;
const idleStreams = quick ? 100 : 500;
const idleMs = quick ? 4_000 : 20_000;

/** What a Redis has used since it started. */
interface Used {
  readonly cpuUs: number;
  /** What is in it. */
  readonly bytes: number;
  /** In and out. */
  readonly wireBytes: number;
  /** Messages to other nodes. */
  readonly published: number;
}

interface Counts {
  read(): Promise<Used>;
  close(): void;
}

function countsOf(port: number): Counts {
  const client = new Redis({ port, host: '127.0.0.1' });
  return {
    async read() {
      const text = `${await client.info()}\n${await client.info('commandstats')}`;
      const number = (name: string): number =>
        Number(new RegExp(`^${name}:([\\d.]+)`, 'm').exec(text)?.[1] ?? Number.NaN);
      return {
        cpuUs: (number('used_cpu_user') + number('used_cpu_sys')) * 1e6,
        bytes: number('used_memory'),
        published: Number(/^cmdstat_publish:calls=(\d+)/m.exec(text)?.[1] ?? 0),
        wireBytes: number('total_net_input_bytes') + number('total_net_output_bytes'),
      };
    },
    close: () => client.disconnect(),
  };
}

/** One call at a time in each of many sessions. */
async function callsOf(server: ServerProcess, counts: Counts | undefined): Promise<Row[]> {
  const sides: Side[] = [];
  const agents = await Promise.all(
    Array.from({ length: calling }, async () => {
      const credentials = await sessionWithTool(server.port);
      sides.push(await application(server.port, credentials));
      const one = await agent(server.port, credentials, 1);
      sides.push(one);
      return one;
    }),
  );
  const run = (times: number): Promise<number[]> =>
    eachOf(times, calling, async (_, place) => agents[place]?.call(0));
  await run(warmUpCalls);
  const [node, redis] = [await server.ask('cpu'), await counts?.read()];
  const ms = await run(calls);
  const [nodeAfter, redisAfter] = [await server.ask('cpu'), await counts?.read()];
  for (const one of sides) one.close();
  const each = (before = 0, after = 0): number => (after - before) / calls;
  const where = counts === undefined ? 'memory' : 'Redis';
  return [
    {
      what: `a call in each of ${calling} sessions at once, ${where}: the node's processor`,
      value: each(node.cpuUs, nodeAfter.cpuUs) / 1_000,
      unit: 'ms',
      note: spreadText(ms),
    },
    ...(counts === undefined
      ? []
      : [
          {
            what: "the same: Redis' processor",
            value: each(redis?.cpuUs, redisAfter?.cpuUs),
            unit: 'µs',
            note:
              `${(each(redis?.wireBytes, redisAfter?.wireBytes) / 1024).toFixed(1)} KB between ` +
              'node and Redis',
          },
          {
            what: 'the same: messages from Redis to nodes',
            value: each(redis?.published, redisAfter?.published),
            unit: '',
          },
        ]),
  ];
}

async function sessionsOf(server: ServerProcess, counts: Counts): Promise<Row> {
  const connection = await httpConnection(server.port);
  const tools = Array.from({ length: keptTools }, (_, index) => definition(`tool_${index}`));
  const before = await counts.read();
  for (let count = 0; count < kept; count++)
    await register(connection, await createSession(connection), registration(tools));
  const after = await counts.read();
  connection.close();
  return {
    what: `a session with ${keptTools} tools in Redis`,
    value: (after.bytes - before.bytes) / kept / 1024,
    unit: 'KB',
    note: `of ${kept}, before any call`,
  };
}

/** Both sides of many sessions are connected, and nothing happens. */
async function idleOf(server: ServerProcess, counts: Counts): Promise<Row[]> {
  const connection = await httpConnection(server.port);
  const open: Side[] = [];
  for (let count = 0; count < idleStreams; count++) {
    const credentials = await createSession(connection);
    await register(connection, credentials, registration([definition('forecast')]));
    open.push(...(await bothSides(server.port, credentials)));
  }
  await sleep(1_000);
  const at = performance.now();
  const [node, redis] = [await server.ask('cpu'), await counts.read()];
  await sleep(idleMs);
  const [nodeAfter, redisAfter] = [await server.ask('cpu'), await counts.read()];
  const seconds = (performance.now() - at) / 1_000;
  for (const one of open) one.close();
  connection.close();
  const share = (used: number): number => used / seconds / 1e6 / (idleStreams / 1_000);
  return [
    {
      what: 'a thousand idle sessions with both streams, Redis: the node',
      value: share(nodeAfter.cpuUs - node.cpuUs) * 100,
      unit: '% of a core',
      note: `measured with ${idleStreams} sessions`,
    },
    {
      what: 'the same: Redis',
      value: share(redisAfter.cpuUs - redis.cpuUs) * 100,
      unit: '% of a core',
    },
  ];
}

function bothSides(port: number, { code, sessionToken, agentToken }: Credentials): Promise<Side[]> {
  const ignore = (): void => {};
  return Promise.all([
    sseConnection(port, `${base}/${code}/stream`, bearer(sessionToken), ignore),
    sseConnection(port, `${base}/${code}/events`, bearer(agentToken), ignore),
  ]);
}

async function withServer<T>(
  kind: ServerKind,
  run: (server: ServerProcess) => Promise<T>,
): Promise<T> {
  const server = await startServer(kind);
  try {
    return await run(server);
  } finally {
    await server.close();
  }
}

export async function measure(): Promise<FamilyResult> {
  const rows: Row[] = await withServer('memory', (server) => callsOf(server, undefined));
  const redis = await startRedis();
  if (redis === undefined) return { rows, skipped: redisMissing };
  const counts = countsOf(redis.port);
  const kind = { redisPort: redis.port };
  rows.push(...(await withServer(kind, (server) => callsOf(server, counts))));
  rows.push(await withServer(kind, (server) => sessionsOf(server, counts)));
  rows.push(...(await withServer(kind, (server) => idleOf(server, counts))));
  counts.close();
  await redis.close();
  return { rows };
}
