/**
 * Every driver answers the same: random programs of steps run on all of them side by side, and the
 * store in memory says what is expected.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Store } from '../../../src/api/store.ts';
import { memoryStore } from '../../../src/stores/memory/memory-store.ts';
import { postgresStore } from '../../../src/stores/postgres/index.ts';
import { redisStore } from '../../../src/stores/redis/index.ts';
import { sqliteStore } from '../../../src/stores/sqlite/index.ts';
import {
  demandPostgres,
  type PostgresServer,
  patient,
  postgresAvailable,
  startPostgres,
  whyNot,
} from '../postgres/postgres-server.ts';
import {
  demandRedis,
  type RedisServer,
  redisAvailable,
  startRedis,
  whyNot as whyNoRedis,
} from '../redis/redis-server.ts';

demandPostgres();
demandRedis();

const never = Date.now() + 10 * 365 * 86_400_000;
const names = ['a', 'A', 'é', '\u0000', '\u0001', "'; drop", '__proto__', '😀', 'z'];
const name = fc.constantFrom(...names);
const text = fc.oneof(name, fc.string({ maxLength: 6 }), fc.constant(''));
const big = fc.oneof(fc.bigInt(0n, 9n), fc.constantFrom(10n ** 34n, 10n ** 18n));
const windowMs = 3_600_000;

/** An operation as it is drawn. What only a driver knows, such as a version, is drawn as a word. */
type Drawn = Omit<Store.Operation, 'version' | 'place'> & {
  readonly version?: 'none' | 'known' | 'stale';
  readonly place?: number;
};

const version = fc.option(fc.constantFrom('none' as const, 'known' as const, 'stale' as const), {
  nil: undefined,
});
const end = fc.option(
  fc.integer({ min: 1, max: 3 }).map((year) => never + year),
  {
    nil: undefined,
  },
);

const anywhere: readonly fc.Arbitrary<object>[] = [
  fc.record({ op: fc.constant('get'), keys: fc.array(name, { maxLength: 4 }) }),
  fc.record({ op: fc.constant('set'), key: name, value: text, version, expiresAt: end }),
  fc.record({
    op: fc.constant('touch'),
    key: name,
    version,
  }),
  fc.record({ op: fc.constant('delete'), key: name, version, required: fc.boolean() }),
  fc.record({
    op: fc.constant('append'),
    log: name,
    value: text,
    keep: fc.option(fc.integer({ min: 1, max: 3 }), { nil: undefined }),
    after: fc.option(fc.integer({ min: 0, max: 3 }), { nil: undefined }),
  }),
  fc.record({
    op: fc.constant('read'),
    log: name,
    after: fc.integer({ min: 0, max: 5 }),
    limit: fc.integer({ min: 0, max: 4 }),
  }),
  fc.record({
    op: fc.constant('count'),
    key: name,
    limit: fc.integer({ min: 1, max: 3 }),
    windowMs: fc.constant(windowMs),
  }),
];
const lists = fc.option(fc.uniqueArray(name, { maxLength: 3 }), { nil: undefined });
const max = fc.option(big, { nil: undefined });
const slides = { key: name, amount: big, max, windowMs: fc.constant(windowMs) };
const inShared: readonly fc.Arbitrary<object>[] = [
  ...anywhere,
  fc.record({ op: fc.constant('set'), key: name, value: text, lists, expiresAt: end }),
  fc.record({ op: fc.constant('list'), list: name, limit: fc.integer({ min: 1, max: 4 }) }),
  fc.record({ op: fc.constant('add'), ...slides }),
  fc.record({ op: fc.constant('sum'), ...slides }),
  fc.record({ op: fc.constant('subtract'), key: name, place: fc.nat({ max: 3 }) }),
];
const inSession: readonly fc.Arbitrary<object>[] = [
  ...anywhere,
  fc.record({ op: fc.constant('open'), expiresAt: fc.constant(never) }),
  fc.record({ op: fc.constant('extend'), expiresAt: fc.constant(never) }),
];

const step = fc.oneof(
  fc.record({
    space: fc.record({ shared: fc.constantFrom('s', 't') }),
    operations: fc.array(fc.oneof(...inShared), { minLength: 1, maxLength: 5 }),
  }),
  fc.record({
    space: fc.record({ session: fc.constantFrom('s', 't') }),
    operations: fc
      .tuple(fc.array(fc.oneof(...inSession), { minLength: 1, maxLength: 5 }), fc.boolean())
      .map(([all, drops]) => (drops ? [...all, { op: 'drop' }] : all)),
  }),
) as fc.Arbitrary<{ space: Store.Space; operations: readonly Drawn[] }>;

/** What one driver has answered so far, by which words become its own versions and places. */
class Run {
  readonly store: Store;
  readonly prefix: string;
  readonly #versions = new Map<string, number>();
  readonly #added: { readonly key: string; readonly amount: bigint; readonly place: string }[] = [];

  constructor(store: Store, prefix: string) {
    this.store = store;
    this.prefix = prefix;
  }

  async step(given: Store.Space, drawn: readonly Drawn[]): Promise<unknown> {
    const [[kind, called]] = Object.entries(given) as [['shared' | 'session', string]];
    const space = { [kind]: this.prefix + called } as Store.Space;
    const at = (key: string): string => `${kind} ${called} ${key}`;
    const operations = drawn
      .map((one) => this.#own(one, at))
      .filter((one): one is Store.Operation => one !== undefined)
      // The contract asks for at most one operation on a sum in a step.
      .filter(
        (one, index, all) =>
          !sums.has(one.op) ||
          all.findIndex((other) => sums.has(other.op) && keyOf(other) === keyOf(one)) === index,
      );
    if (operations.length === 0) return undefined;
    const outcome = await this.store.apply(space, operations);
    if (outcome.results === undefined) {
      const { refused, gone, retryAfterMs, found, uses } = outcome;
      return { refused, gone, waits: retryAfterMs > 0, found: plain(found), uses: plain(uses) };
    }
    for (const [index, one] of operations.entries()) {
      const result: unknown = outcome.results[index];
      if (one.op === 'set') this.#versions.set(at(one.key), result as number);
      if (one.op === 'add') this.#added.push({ ...one, place: result as string });
    }
    return outcome.results.map((result, index) =>
      opaque.has((operations[index] as Store.Operation).op) ? typeof result : plain(result),
    );
  }

  #own({ version, place, ...rest }: Drawn, at: (key: string) => string) {
    const one = rest as Store.Operation;
    if (one.op === 'subtract') {
      const added = this.#added[place as number];
      return added === undefined ? undefined : ({ op: 'subtract', ...added } as Store.Operation);
    }
    if (version === undefined && one.op !== 'touch') return one;
    const known = this.#versions.get(at(keyOf(one))) ?? 1_000_000;
    const own = version === 'none' ? 0 : version === 'known' ? known : 2_000_000_000;
    // Hours apart, so that lists have one order whatever the clocks say.
    const ends = one.op === 'touch' && { ttlMs: (1 + names.indexOf(one.key)) * windowMs };
    // Only a `set` may ask that there is no document.
    return {
      ...one,
      ...ends,
      version: own === 0 && one.op !== 'set' ? known : own,
    } as Store.Operation;
  }
}

const sums: ReadonlySet<string> = new Set(['add', 'sum', 'subtract']);
const opaque: ReadonlySet<string> = new Set(['set', 'add']);
const keyOf = (one: Store.Operation): string => ('key' in one ? one.key : '');

/** Without what a driver's clock or its numbers decide. */
function plain(value: unknown): unknown {
  return JSON.parse(
    JSON.stringify(value ?? null, (key, one: unknown) => {
      if (key === 'version') return 'version';
      if (key === 'expiresAt' && one !== null && (one as number) < never) return 'touched';
      if (key === 'remainingMs' || key === 'retryAfterMs') return (one as number) > 0;
      return typeof one === 'bigint' ? `${one}` : one;
    }),
  );
}

let postgres: PostgresServer | undefined;
let redis: RedisServer | undefined;
const stores: Store[] = [];
const folder = mkdtempSync(join(tmpdir(), 'host-tools-stores-'));

beforeAll(async () => {
  const file = sqliteStore({ path: join(folder, 'state.db'), synchronous: 'normal' });
  await file.migrate();
  stores.push(file);
  if (postgresAvailable) {
    postgres = await startPostgres();
    const tables = postgresStore({ pool: postgres.pool(), ...patient });
    await tables.migrate();
    stores.push(tables);
  }
  if (redisAvailable) {
    redis = await startRedis();
    stores.push(redisStore({ client: redis.connect(), ...patient }));
  }
}, 900_000);

afterAll(async () => {
  for (const store of stores) await store.close();
  await postgres?.stop();
  await redis?.stop();
  rmSync(folder, { recursive: true });
});

let programs = 0;

describe(`the drivers${whyNot}${whyNoRedis}`, () => {
  test('answer a program of steps as the store in memory does', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 12 }), async (steps) => {
        const prefix = `${++programs} `;
        const expected = new Run(memoryStore(), prefix);
        const runs = stores.map((store) => new Run(store, prefix));
        for (const { space, operations } of steps) {
          const answer = await expected.step(space, operations);
          for (const run of runs)
            expect([run.store.kind, await run.step(space, operations)]).toEqual([
              run.store.kind,
              answer,
            ]);
        }
      }),
      { numRuns: Number(process.env.HOST_TOOLS_STORE_PROGRAMS ?? 200) },
    );
  }, 900_000);
});
