/** The record of a call: which worker may run it, and which messages arrive, for any commands. */
import fc from 'fast-check';
import type { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  claimScript,
  type FleetScript,
  fleetScripts,
  notifyScript,
  offerScript,
  renewScript,
  reportScript,
  serverScript,
  watchScript,
  withdrawScript,
} from '../../../src/executors/bullmq/scripts.ts';
import {
  demandRedis,
  type RedisServer,
  redisAvailable,
  startRedis,
  whyNot,
} from '../../stores/redis/redis-server.ts';

demandRedis();

type Command =
  | { readonly t: 'claim' | 'renew'; readonly by: string }
  | {
      readonly t: 'report';
      readonly by: string;
      readonly first: number;
      readonly count: number;
      readonly end: boolean;
    }
  | { readonly t: 'tell'; readonly by: string; readonly first: number; readonly count: number }
  | { readonly t: 'withdraw'; readonly unlessClaimed: boolean }
  | { readonly t: 'offer' | 'watch' };

const by = fc.constantFrom('one.1', 'one.2', 'two.1');
const command: fc.Arbitrary<Command> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ t: fc.constant('claim' as const), by }) },
  { weight: 2, arbitrary: fc.record({ t: fc.constant('renew' as const), by }) },
  {
    weight: 5,
    arbitrary: fc.record({
      t: fc.constant('report' as const),
      by,
      first: fc.integer({ min: 1, max: 4 }),
      count: fc.integer({ min: 1, max: 3 }),
      end: fc.boolean(),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      t: fc.constant('tell' as const),
      by,
      first: fc.integer({ min: 1, max: 4 }),
      count: fc.integer({ min: 1, max: 3 }),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ t: fc.constant('withdraw' as const), unlessClaimed: fc.boolean() }),
  },
  { weight: 1, arbitrary: fc.constant({ t: 'watch' } as const) },
  { weight: 1, arbitrary: fc.constant({ t: 'offer' } as const) },
);

describe.skipIf(!redisAvailable)(`the record of a call${whyNot}`, () => {
  let redis: RedisServer;
  let client: Redis;
  let calls = 0;

  beforeAll(async () => {
    redis = await startRedis(['--appendonly', 'no']);
    client = redis.connect();
    for (const { name, keys, lua } of fleetScripts)
      client.defineCommand(name, { numberOfKeys: keys, lua });
  });
  afterAll(() => redis.stop());

  const run = (
    { name }: FleetScript,
    keys: readonly string[],
    args: readonly unknown[],
  ): Promise<unknown> =>
    (client as unknown as Record<string, (...given: unknown[]) => Promise<unknown>>)[name]?.(
      ...keys,
      ...args,
    ) as Promise<unknown>;

  test('allows one claim at most, none after the end, and each message once', () =>
    fc.assert(
      fc.asyncProperty(fc.array(command, { maxLength: 16 }), async (commands) => {
        const root = `test-${++calls}:`;
        const record = `${root}call:c`;
        const box = `${root}host:h`;
        const [server, now] = (await run(serverScript, [record], [])) as string[];
        const offer = (to = server, until = Number(now) + 60_000) =>
          run(offerScript, [record], [60_000, 60_000, to, until]);
        expect(await offer('another')).toBe(0);
        expect(await offer(server, Number(now) - 1)).toBe(0);
        expect(await offer()).toBe(1);
        // The expected state of the record.
        let owner: string | undefined;
        let state: 'offered' | 'claimed' | 'done' | 'gone' = 'offered';
        const heard: string[] = [];
        const told: string[] = [];
        const numberOf = (text: string | undefined): number => Number(text?.slice(1) ?? 0);
        const textsOf = (first: number, count: number): string[] =>
          Array.from({ length: count }, (_, at) => `m${first + at}`);
        /** A message that is repeated, because its answer was lost, counts once. */
        const take = (all: string[], texts: readonly string[]): void => {
          const last = numberOf(all.at(-1));
          all.push(...texts.filter((text) => numberOf(text) > last));
        };
        for (const one of commands)
          switch (one.t) {
            case 'claim': {
              const [code] = (await run(claimScript, [record], [one.by, 60_000])) as number[];
              if (state === 'offered') {
                owner = one.by;
                state = 'claimed';
                expect(code).toBe(3);
              } else if (state === 'gone') expect(code).toBe(0);
              // A claim may be sent twice if its answer was lost.
              else expect(code).toBe(state === 'claimed' && one.by === owner ? 3 : 1);
              break;
            }
            case 'renew': {
              const args = [root, 60_000, '1-0', 'c', one.by, 60_000];
              const has = state !== 'gone' && state !== 'offered' && owner === one.by;
              expect(await run(renewScript, [`${root}worker:w`], args)).toEqual([has ? 1 : 0]);
              break;
            }
            case 'report': {
              const texts = textsOf(one.first, one.count);
              const args = [one.by, 'c', one.first, one.end ? '1' : '0', 60_000, ...texts];
              const has = state !== 'gone' && state !== 'offered' && owner === one.by;
              expect(await run(reportScript, [record, box], args)).toBe(has ? 1 : 0);
              if (!has || state === 'done') break;
              take(heard, texts);
              if (one.end) state = 'done';
              break;
            }
            case 'tell': {
              const texts = textsOf(one.first, one.count);
              const args = [one.by, 'c', 60_000, one.first, ...texts];
              const has = state === 'claimed' && owner === one.by;
              expect(await run(notifyScript, [record, `${root}told`], args)).toBe(has ? 1 : 0);
              if (has) take(told, texts);
              break;
            }
            case 'withdraw': {
              const args = [root, 'c', one.unlessClaimed ? '1' : '0', 60_000, 'bye'];
              const code = await run(withdrawScript, [record], args);
              expect(code).toBe(state === 'gone' ? 0 : state === 'offered' ? 1 : 2);
              if (state === 'offered' || !one.unlessClaimed) state = 'gone';
              break;
            }
            case 'offer':
              // A client repeats it if its answer was lost. The host ends the call later.
              if (state !== 'gone') expect(await offer()).toBe(1);
              break;
            case 'watch': {
              const args = [root, 60_000, 60_000, '1-0', 'c'];
              const expected = { gone: 0, offered: 1, claimed: 2, done: 4 }[state];
              expect(await run(watchScript, [box], args)).toEqual([expected]);
            }
          }
        const lettersIn = async (key: string): Promise<unknown[]> =>
          (await client.xrange(key, '-', '+')).flatMap(([, fields]) =>
            fields.includes('m') ? [fields[fields.indexOf('m') + 1]] : [],
          );
        expect(await lettersIn(box)).toEqual(heard);
        expect(await lettersIn(`${root}told`)).toEqual(told);
      }),
      { numRuns: 150 },
    ));
});
