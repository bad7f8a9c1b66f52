/**
 * What a call over Redis asks of Redis: how many commands, and how many of them one after another.
 * The latter is the slope of a call's time over the delay between node and Redis.
 */
import { connect, createServer, type Socket } from 'node:net';
import { Redis } from 'ioredis';
import { quick } from '../harness.ts';
import type { FamilyResult, Row } from '../targets.ts';
import { eachOf, spreadOf } from './latency.ts';
import { redisMissing, startRedis } from './redis.ts';
import { startServer } from './server-process.ts';
import { sessionWithTool } from './session.ts';
import { agent, application } from './sides.ts';

const warmUp = quick ? 100 : 1_000;
const counted = quick ? 100 : 1_000;
const timed = quick ? 20 : 60;
/** Milliseconds to Redis and back. */
const [shortMs, longMs] = [20, 60] as const;
/**
 * A node looks after its lease and its requests meanwhile: what comes of that is not of the call.
 */
const settleMs = 200;

/** Calls through a node of its own, whose Redis is at this port. */
async function withCalls<T>(
  redisPort: number,
  run: (calls: (times: number) => Promise<number[]>) => Promise<T>,
): Promise<T> {
  const server = await startServer({ redisPort });
  const credentials = await sessionWithTool(server.port);
  const side = await application(server.port, credentials);
  const { call, close } = await agent(server.port, credentials, 1);
  try {
    return await run((times) => eachOf(times, 1, () => call(0)));
  } finally {
    close();
    side.close();
    await server.close();
  }
}

/** Commands that clients send for one call; those of scripts themselves do not count. */
async function commandsOf(redisPort: number): Promise<readonly (readonly [string, number])[]> {
  return withCalls(redisPort, async (calls) => {
    await calls(warmUp);
    const client = new Redis({ port: redisPort, host: '127.0.0.1' });
    const monitor = await client.monitor();
    const counts = new Map<string, number>();
    monitor.on('monitor', (_time: string, [name = '']: string[], source: string) => {
      if (source !== 'lua')
        counts.set(name.toLowerCase(), (counts.get(name.toLowerCase()) ?? 0) + 1);
    });
    await calls(counted);
    await new Promise((resolve) => setTimeout(resolve, settleMs));
    monitor.disconnect();
    client.disconnect();
    return [...counts].map(([name, count]) => [name, count / counted] as const);
  });
}

/** A port behind which Redis is this far away: half of it for each direction. */
async function farAway(
  redisPort: number,
  ms: number,
): Promise<{ readonly port: number; close(): void }> {
  const sockets = new Set<Socket>();
  const lead = (from: Socket, to: Socket): void => {
    sockets.add(from);
    from.setNoDelay(true);
    from.on('data', (data) => setTimeout(() => to.write(data), ms / 2));
    from.on('error', () => {});
    from.on('close', () => {
      sockets.delete(from);
      to.destroy();
    });
  };
  const server = createServer((near) => {
    const far = connect(redisPort, '127.0.0.1');
    lead(near, far);
    lead(far, near);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as { port: number }).port,
    close() {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}

async function middleAt(redisPort: number, ms: number): Promise<number> {
  const far = await farAway(redisPort, ms);
  try {
    return await withCalls(far.port, async (calls) => {
      await calls(timed / 2);
      return spreadOf(await calls(timed)).p50;
    });
  } finally {
    far.close();
  }
}

export async function measure(): Promise<FamilyResult> {
  const redis = await startRedis();
  if (redis === undefined) return { rows: [], skipped: redisMissing };
  const commands = await commandsOf(redis.port);
  const [near, far] = [await middleAt(redis.port, shortMs), await middleAt(redis.port, longMs)];
  await redis.close();
  const rows: Row[] = [
    {
      what: 'Redis commands of a call',
      value: commands.reduce((sum, [, count]) => sum + count, 0),
      unit: 'commands',
      note: commands.map(([name, count]) => `${name} ${count.toFixed(2)}`).join(', '),
    },
    {
      what: 'waits for Redis of a call, one after another',
      value: (far - near) / (longMs - shortMs),
      unit: 'waits',
      note:
        `p50 ${near.toFixed(1)} ms at ${shortMs} ms to Redis, ${far.toFixed(1)} ms at ${longMs} ` +
        'ms',
    },
  ];
  return { rows };
}
