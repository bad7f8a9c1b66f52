/** How many sessions a second a node makes. */
import { quick } from '../harness.ts';
import type { FamilyResult, Row } from '../targets.ts';
import { httpConnection } from './http-connection.ts';
import { eachOf, rateOf, spreadText } from './latency.ts';
import { redisMissing, startRedis } from './redis.ts';
import { type ServerKind, startServer } from './server-process.ts';
import { createSession, definition, register, registration } from './session.ts';

const sessions = quick ? 1_000 : 8_000;
const registrations = quick ? 100 : 1_000;
const atOnce = 16;

async function creating(name: string, kind: ServerKind): Promise<Row[]> {
  const server = await startServer(kind);
  const connections = await Promise.all(
    Array.from({ length: atOnce }, () => httpConnection(server.port)),
  );
  const create = (_: number, place: number) =>
    createSession(connections[place] as (typeof connections)[number]);
  await eachOf(1_000, atOnce, create);
  let ms: readonly number[] = [];
  const rate = await rateOf(async () => {
    ms = await eachOf(sessions, atOnce, create);
    return ms;
  });
  const body = registration(Array.from({ length: 100 }, (_, index) => definition(`tool_${index}`)));
  const withTools = async (index: number, place: number): Promise<void> =>
    register(connections[place] as (typeof connections)[number], await create(index, place), body);
  await eachOf(50, atOnce, withTools);
  const rateWithTools = await rateOf(() => eachOf(registrations, atOnce, withTools));
  for (const one of connections) one.close();
  await server.close();
  return [
    {
      what: `sessions created, ${atOnce} at a time: ${name}`,
      value: Math.round(rate),
      unit: 'a second',
      note: spreadText(ms),
    },
    {
      what: `sessions created, each registering 100 tools: ${name}`,
      value: Math.round(rateWithTools),
      unit: 'a second',
      note: `${(body.length / 1024).toFixed(0)} KB of definitions`,
    },
  ];
}

export async function measure(): Promise<FamilyResult> {
  const rows = await creating('memory', 'memory');
  const redis = await startRedis();
  if (redis === undefined) return { rows, skipped: redisMissing };
  rows.push(...(await creating('Redis', { redisPort: redis.port })));
  await redis.close();
  return { rows };
}
