/**
 * A call's way from the agent to the application and back: what a relay adds to a bare echo of the
 * same shape.
 */
import { type Case, compare, quick, type Timing } from '../harness.ts';
import type { FamilyResult, Row, TargetId } from '../targets.ts';
import { eachOf, spreadOf, spreadText } from './latency.ts';
import { redisMissing, startRedis } from './redis.ts';
import { type ServerKind, type ServerProcess, startServer } from './server-process.ts';
import { type Credentials, sessionWithTool } from './session.ts';
import { agent, application } from './sides.ts';

const rounds = quick ? 5 : 15;
const sampleMs = quick ? 40 : 250;
/**
 * Until the engine has compiled what runs often: before that a server costs twice what it costs for
 * the rest of its life.
 */
const warmUpOf = (kind: ServerKind): number =>
  quick ? 400 : typeof kind === 'string' ? 12_000 : 2_500;
/** For the spread and for the server's own time. */
const turns = quick ? 2 : 6;
const perTurn = quick ? 150 : 500;

/** One who answers, and agents that call. */
interface Way extends Case {
  readonly server: ServerProcess;
  call(place: number): Promise<void>;
  close(): Promise<void>;
}

/** What was seen of one way. */
export interface Seen extends Timing {
  readonly ms: readonly number[];
  /**
   * Microseconds of the server's processor for one trip, in the turn that took least: what disturbs
   * a turn only adds to it.
   */
  readonly cpuUs: number;
}

export async function openWay(name: string, kind: ServerKind, atOnce: number): Promise<Way> {
  const server = await startServer(kind);
  const credentials: Credentials =
    kind === 'echo'
      ? { code: 'ECHOECHO', sessionToken: 'none', agentToken: 'none' }
      : await sessionWithTool(server.port);
  const side = await application(server.port, credentials);
  const { call, close } = await agent(server.port, credentials, atOnce);
  const trips = (times: number): Promise<number[]> =>
    eachOf(times, atOnce, (_, place) => call(place));
  await trips(warmUpOf(kind));
  return {
    name,
    server,
    call,
    run: async (times) => void (await trips(times)),
    async close() {
      close();
      side.close();
      await server.close();
    },
  };
}

export async function look(ways: readonly Way[], atOnce: number): Promise<readonly Seen[]> {
  const timings = await compare(ways, { rounds, sampleMs });
  const ms: number[][] = ways.map(() => []);
  const cpu: number[] = ways.map(() => Number.POSITIVE_INFINITY);
  for (let turn = 0; turn < turns; turn++) {
    for (const [index, { server, call }] of ways.entries()) {
      const before = await server.ask('cpu');
      ms[index]?.push(...(await eachOf(perTurn, atOnce, (_, place) => call(place))));
      const after = await server.ask('cpu');
      const each = (after.cpuUs - before.cpuUs) / perTurn;
      cpu[index] = Math.min(cpu[index] as number, each);
    }
  }
  return timings.map((timing, index) => ({
    ...timing,
    ms: ms[index] ?? [],
    cpuUs: cpu[index] as number,
  }));
}

function rowsOf(id: TargetId, atOnce: number, seen: readonly Seen[]): Row[] {
  const [echo, memory, redis] = seen as readonly [Seen, Seen, Seen?];
  const at = atOnce === 1 ? 'one at a time' : `${atOnce} at a time`;
  const told = ({ name, ns, ms, cpuUs }: Seen): Row => ({
    what: `round trips, ${at}: ${name}`,
    value: Math.round(1e9 / ns),
    unit: 'a second',
    note: `${spreadText(ms)}; ${Math.round(cpuUs)} µs of the server's processor each`,
  });
  return [
    {
      id,
      value: memory.ratio,
      note:
        `${Math.round(echo.ns / 1e3)} → ${Math.round(memory.ns / 1e3)} µs; middle against ` +
        `middle of all trips ${(spreadOf(memory.ms).p50 / spreadOf(echo.ms).p50).toFixed(2)} ×`,
    },
    {
      ...(atOnce === 1
        ? { what: `the server's own processor time, ${at}, memory against echo`, unit: '×' }
        : { id: 'relay_cpu_16' as const }),
      value: memory.cpuUs / echo.cpuUs,
      note: `${Math.round(echo.cpuUs)} → ${Math.round(memory.cpuUs)} µs each`,
    },
    ...(redis === undefined
      ? []
      : [
          {
            what: `round trips, ${at}, Redis against memory`,
            value: redis.ratio / memory.ratio,
            unit: '×',
          },
        ]),
    ...seen.map(told),
  ];
}

export async function measure(): Promise<FamilyResult> {
  const redis = await startRedis();
  const rows: Row[] = [];
  for (const [id, atOnce] of [
    ['relay_trip', 1],
    ['relay_trip_16', 16],
  ] as const) {
    const ways = [
      await openWay('bare echo', 'echo', atOnce),
      await openWay('memory', 'memory', atOnce),
    ];
    if (redis !== undefined) ways.push(await openWay('Redis', { redisPort: redis.port }, atOnce));
    rows.push(...rowsOf(id, atOnce, await look(ways, atOnce)));
    for (const way of ways) await way.close();
  }
  await redis?.close();
  return { rows, ...(redis === undefined ? { skipped: redisMissing } : {}) };
}
