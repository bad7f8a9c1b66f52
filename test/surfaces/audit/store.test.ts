/** Audit logs in a store: many writers, tampering, outages, and processes that are killed. */
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import type { Store } from '../../../src/extend.ts';
import { HostToolRegistry, memoryStore } from '../../../src/index.ts';
import { openStore } from '../../../src/stores/open/open-store.ts';
import { readStoreAddress } from '../../../src/stores/open/store-address.ts';
import {
  type AuditOptions,
  createAuditLog,
  verifyAudit,
} from '../../../src/surfaces/audit/index.ts';
import {
  auditSpace,
  countChains,
  countKey,
  entriesOf,
  holderKey,
} from '../../../src/surfaces/audit/store-chains.ts';
import { program } from '../../runner/programs.ts';
import {
  demandPostgres,
  type PostgresServer,
  postgresAvailable,
  startPostgres,
} from '../../stores/postgres/postgres-server.ts';
import {
  demandRedis,
  type RedisServer,
  redisAvailable,
  startRedis,
} from '../../stores/redis/redis-server.ts';
import { type Line, tool } from './kit.ts';

demandPostgres();
demandRedis();

const folder = mkdtempSync(join(tmpdir(), 'host-tools-audit-'));
let postgres: PostgresServer | undefined;
let redis: RedisServer | undefined;
let count = 0;
beforeAll(async () => {
  if (postgresAvailable) postgres = await startPostgres();
  if (redisAvailable) redis = await startRedis();
});
afterAll(async () => {
  await Promise.all([postgres?.stop(), redis?.stop()]);
  rmSync(folder, { recursive: true, force: true });
});

/** The address of an empty store of each kind. */
const addresses = {
  PostgreSQL: () => `postgres://postgres@127.0.0.1:${postgres?.port}/postgres?schema=a${++count}`,
  Redis: () => `redis://127.0.0.1:${redis?.port}?prefix=a${++count}`,
  SQLite: () => `sqlite:${folder}/${++count}.db`,
};
const durable = (['PostgreSQL', 'Redis', 'SQLite'] as const).filter(
  (kind) => (kind !== 'PostgreSQL' || postgresAvailable) && (kind !== 'Redis' || redisAvailable),
);

async function open(url: string): Promise<Store> {
  const opened = await openStore(readStoreAddress(url, folder, {}), { note: () => {} });
  onTestFinished(() => opened.close());
  return opened.store as Store;
}

/** A log that is attached to a registry of its own. */
function writer(options: AuditOptions) {
  const faults: string[] = [];
  const registry = new HostToolRegistry({
    logger: {
      warn: () => {},
      error: (data: object, message?: string) =>
        void faults.push(`${message}: ${(data as { err?: { message?: string } }).err?.message}`),
    },
  });
  registry.register(tool('t'));
  const audit = createAuditLog(options);
  onTestFinished(() => audit.close().catch(() => {}));
  audit.attach(registry);
  const session = registry.createSession({ sessionId: 's' });
  return { audit, faults, call: (n: number) => session.call('t', { n }) };
}

async function linesIn(store: Store): Promise<Line[][]> {
  const chains: Line[][] = [];
  for (let number = 1; number <= (await countChains(store)).chains; number++) {
    const lines: Line[] = [];
    for await (const { value } of entriesOf(store, number)) lines.push(JSON.parse(value) as Line);
    chains.push(lines);
  }
  return chains;
}

const numbersIn = (lines: readonly Line[] = []) =>
  lines.map(({ type, arguments: input }) => (type === 'call' ? (input as { n: number }).n : type));

/** A store whose `read` shows what somebody has made of the lines. */
function tampered(store: Store, change: (log: string, entry: Store.Entry) => string | undefined) {
  return {
    ...bound(store),
    apply: async (space: Store.Space, operations: readonly Store.Operation[]) => {
      const outcome = await store.apply(space, operations);
      const results = outcome.results?.map((result, at) => {
        const operation = operations[at];
        if (operation?.op !== 'read') return result;
        const { entries, ...page } = result as Store.Page;
        const shown = entries.flatMap((entry) => {
          const value = change(operation.log, entry);
          return value === undefined ? [] : [{ ...entry, value }];
        });
        return { ...page, entries: shown };
      });
      return { ...outcome, results };
    },
  } as Store;
}

function bound(store: Store): Store {
  return {
    kind: store.kind,
    apply: store.apply.bind(store),
    schedule: store.schedule.bind(store),
    due: store.due.bind(store),
    listen: store.listen.bind(store),
    ping: store.ping.bind(store),
    close: store.close.bind(store),
  };
}

describe.each([...durable, 'memory' as const])('on %s', (kind) => {
  const made = (): Promise<Store> =>
    kind === 'memory' ? Promise.resolve(memoryStore()) : open(addresses[kind]());

  test('each writer has a chain, and the next one goes on with one that was closed', async () => {
    const store = await made();
    const [one, two] = [writer({ store }), writer({ store })];
    for (let n = 1; n <= 3; n++) {
      await one.call(n);
      await one.audit.flush();
      await two.call(10 + n);
      await two.audit.flush();
    }
    expect(one.audit.head()).toMatchObject({ seq: 3, chain: 1 });
    expect(two.audit.head()).toMatchObject({ seq: 3, chain: 2 });
    await one.audit.close();
    const three = writer({ store });
    await three.call(21);
    await three.audit.close();
    expect((await linesIn(store)).map(numbersIn)).toEqual([
      [1, 2, 3, 21],
      [11, 12, 13],
    ]);
    expect(await verifyAudit({ store })).toEqual({
      ok: true,
      lines: 7,
      heads: [three.audit.head(), two.audit.head()],
    });
  });

  test('a chain whose writer has gone without closing it says so', async () => {
    const store = await made();
    const one = writer({ store });
    await one.call(1);
    await one.audit.flush();
    // What happens by itself a minute after the last sign of life.
    await store.apply(auditSpace, [{ op: 'delete', key: holderKey(1) }]);
    const two = writer({ store });
    await two.call(2);
    await two.audit.flush();
    // The first writer was not gone after all. It goes on with another chain.
    await one.call(3);
    await one.audit.flush();
    expect((await linesIn(store)).map(numbersIn)).toEqual([[1, 'recovered', 2], [3]]);
    expect(await verifyAudit({ store })).toMatchObject({ ok: true, lines: 4 });
    expect([...one.faults, ...two.faults]).toEqual([]);
  });

  test('a chain that others have used while it was looked at is not taken for abandoned', async () => {
    const store = await made();
    const first = writer({ store });
    await first.call(1);
    await first.audit.close();
    // Others take the chain, write and close it, between two looks of a slow writer.
    let waits = true;
    const slow: Store = {
      ...bound(store),
      apply: (async (space: Store.Space, operations: readonly Store.Operation[]) => {
        if (waits && operations.some((one) => one.op === 'set' && one.key === holderKey(1))) {
          waits = false;
          const other = writer({ store });
          await other.call(2);
          await other.audit.close();
        }
        return await store.apply(space, operations);
      }) as Store['apply'],
    };
    const late = writer({ store: slow });
    await late.call(3);
    await late.audit.close();
    expect((await linesIn(store)).map(numbersIn)).toEqual([[1, 2, 3]]);
    expect(await verifyAudit({ store })).toMatchObject({ ok: true, lines: 3 });
  });

  test('many writers at once lose and repeat nothing', async () => {
    const store = await made();
    const writers = Array.from({ length: 6 }, () => writer({ store }));
    await Promise.all(
      writers.flatMap(({ call }, at) => Array.from({ length: 20 }, (_, n) => call(at * 100 + n))),
    );
    await Promise.all(writers.map(({ audit }) => audit.close()));
    const numbers = (await linesIn(store)).flatMap(numbersIn);
    expect(new Set(numbers).size).toBe(120);
    expect(numbers).toHaveLength(120);
    expect(await verifyAudit({ store })).toMatchObject({ ok: true, lines: 120 });
  });

  test('tampering is noticed, also with the lines that were cut off, if heads are known', async () => {
    const store = await made();
    const [one, two] = [writer({ store }), writer({ store })];
    for (const { call, audit } of [one, two]) {
      for (let n = 1; n <= 5; n++) await call(n);
      await audit.flush();
    }
    const heads = [one.audit.head(), two.audit.head().hash];
    expect(await verifyAudit({ store, heads })).toMatchObject({ ok: true });
    const check = (change: Parameters<typeof tampered>[1], known?: typeof heads) =>
      verifyAudit({ store: tampered(store, change), heads: known });
    const at = (log: string, id: number) => (name: string, entry: Store.Entry) =>
      name === log && entry.id === id;
    const changed = at('chain 2', 3);
    expect(
      await check((log, entry) =>
        changed(log, entry) ? entry.value.replace('"n":3', '"n":4') : entry.value,
      ),
    ).toMatchObject({ ok: false, lines: 10, chain: 2, brokenAt: 3, reason: /changed/ as never });
    expect(
      await check((log, entry) => (changed(log, entry) ? undefined : entry.value)),
    ).toMatchObject({ ok: false, lines: 9, chain: 2, brokenAt: 3 });
    const cut = (log: string, { id, value }: Store.Entry) =>
      log === 'chain 1' && id > 4 ? undefined : value;
    // The store still counts the line; with heads, it would be missed without that, too.
    expect(await check(cut)).toMatchObject({ ok: false, chain: 1, brokenAt: 5 });
    expect(await check(cut, heads)).toMatchObject({ ok: false, lines: 9 });
    const dropped = (log: string, { value }: Store.Entry) =>
      log === 'chain 2' ? undefined : value;
    expect(await check(dropped, heads)).toMatchObject({ ok: false, chain: 2, brokenAt: 1 });
  });

  test('a number of chains that no writer has written hides none of them', async () => {
    const store = await made();
    for (const { call, audit } of [writer({ store }), writer({ store })]) {
      await call(1);
      await audit.flush();
    }
    for (const value of ['-5', 'none', '1.5', '1000000000', '']) {
      await store.apply(auditSpace, [{ op: 'set', key: countKey, value }]);
      expect(await verifyAudit({ store })).toMatchObject({
        ok: false,
        lines: 2,
        reason: 'the number of chains was changed',
      });
    }
    const late = writer({ store, required: true });
    expect((await late.call(2)).error).toMatchObject({ reason: 'audit_unavailable' });
    expect(late.faults[0]).toMatch(/the number of chains was changed\. Verify the log\./);
  });

  test('a key makes lines that nobody else can make', async () => {
    const store = await made();
    const key = 'k'.repeat(32);
    const one = writer({ store, key, content: 'hashed' });
    await one.call(1);
    await one.audit.close();
    expect((await linesIn(store))[0]?.[0]).toMatchObject({
      arguments: expect.stringMatching(/^hmac-sha256:/),
    });
    expect(await verifyAudit({ store, key })).toMatchObject({ ok: true, lines: 1 });
    expect(await verifyAudit({ store })).toMatchObject({ ok: false, chain: 1, brokenAt: 1 });
    // Another key does not go on with the chain.
    const two = writer({ store, key: 'x'.repeat(32), required: true });
    expect((await two.call(2)).error).toMatchObject({ reason: 'audit_unavailable' });
    expect(two.faults[0]).toMatch(/chain 1 .*`key` is not the one of the log/);
  });

  test('keeps so many lines of each chain as it is told, and they still verify', async () => {
    const store = await made();
    const { call, audit } = writer({ store, keep: 1_000 });
    for (let n = 1; n <= 1_050; n++) await call(n);
    await audit.flush();
    const [lines] = await linesIn(store);
    expect(lines).toHaveLength(1_000);
    expect(lines?.[0]).toMatchObject({ seq: 51 });
    expect(await verifyAudit({ store })).toMatchObject({ ok: true, lines: 1_000 });
  });

  test('lines that are dropped while the log is verified are not missed', async () => {
    const store = await made();
    const { call, audit } = writer({ store, keep: 1_000 });
    const add = async (lines: number): Promise<void> => {
      for (let n = 1; n <= lines; n++) await call(n);
      await audit.flush();
    };
    await add(1_000);
    let pages = 0;
    const busy: Store = {
      ...bound(store),
      apply: (async (space: Store.Space, operations: readonly Store.Operation[]) => {
        const [first] = operations;
        if (first?.op === 'read' && first.limit > 0 && ++pages === 2) await add(150);
        return store.apply(space, operations);
      }) as Store['apply'],
    };
    expect(await verifyAudit({ store: busy })).toMatchObject({ ok: true, lines: 1_000 });
    expect(pages).toBeGreaterThan(2);
  });

  test('a step whose answer was lost is not repeated', async () => {
    const store = await made();
    let loses = 0;
    const lossy: Store = {
      ...bound(store),
      apply: (async (space: Store.Space, operations: readonly Store.Operation[]) => {
        const outcome = await store.apply(space, operations);
        if (operations.some(({ op }) => op === 'append') && loses-- > 0)
          throw new Error('The answer was lost.');
        return outcome;
      }) as Store['apply'],
    };
    const { call, audit, faults } = writer({ store: lossy });
    loses = 1;
    await call(1);
    await audit.flush().catch(() => {});
    await audit.flush();
    await call(2);
    await audit.flush();
    loses = 1;
    await call(3);
    await audit.flush().catch(() => {});
    await call(4);
    await audit.flush();
    expect(faults.length).toBeGreaterThan(0);
    expect((await linesIn(store)).flatMap(numbersIn).filter((n) => n !== 'recovered')).toEqual([
      1, 2, 3, 4,
    ]);
    expect(await verifyAudit({ store })).toMatchObject({ ok: true });
  });
});

describe.each(durable)('a process that is killed while it writes into %s', (kind) => {
  test.each(['', 'required'])('leaves chains that verify %s', async (required) => {
    const url = addresses[kind]();
    const store = await open(url);
    let said = 0;
    for (let round = 0; round < 2; round++) {
      const child = spawn(
        process.execPath,
        [program('test/surfaces/audit/fixtures/store-writer.ts'), url, required],
        { stdio: ['ignore', 'pipe', 'inherit'] },
      );
      onTestFinished(() => void child.kill('SIGKILL'));
      let output = '';
      await new Promise<void>((resolve, reject) => {
        child.stdout.on('data', (text: Buffer) => {
          output += text.toString();
          if (output.split('\n').length > 60 + 7 * round) resolve();
        });
        child.on('exit', () => reject(new Error('the writer ended')));
      });
      // Without a required log, its lines may wait in memory for a while.
      await expect.poll(async () => (await countChains(store)).chains).toBe(round + 1);
      const ended = new Promise((resolve) => child.on('close', resolve));
      child.kill('SIGKILL');
      await ended;
      said += output.trimEnd().split('\n').length - 1;
      expect(await verifyAudit({ store })).toMatchObject({ ok: true });
    }
    const lines = (await linesIn(store)).flat();
    if (required === 'required')
      expect(lines.filter(({ type }) => type === 'start').length).toBeGreaterThanOrEqual(said);
    const next = writer({ store });
    await next.call(1);
    await next.audit.close();
    // The dead still hold their chains for a while.
    expect(next.audit.head()).toMatchObject({ chain: 3, seq: 1 });
    expect(await verifyAudit({ store })).toMatchObject({ ok: true });
  });
});

test.skipIf(!redisAvailable)(
  'a store that is down refuses calls if the log is required',
  async () => {
    const own = await startRedis(['--appendonly', 'yes']);
    const store = await open(`redis://127.0.0.1:${own.port}`);
    const [strict, loose] = [writer({ store, required: true }), writer({ store })];
    expect(await strict.call(1)).toMatchObject({ success: true });
    await loose.call(1);
    await own.kill('SIGKILL');
    expect((await strict.call(2)).error).toMatchObject({
      code: 'policy_error',
      reason: 'audit_unavailable',
    });
    expect(await loose.call(2)).toMatchObject({ success: true });
    await own.restart();
    await expect.poll(async () => (await strict.call(3)).success).toBe(true);
    await expect
      .poll(() =>
        loose.audit.flush().then(
          () => true,
          () => false,
        ),
      )
      .toBe(true);
    await strict.audit.flush();
    const numbers = (await linesIn(store)).flatMap(numbersIn);
    expect(numbers).toEqual(expect.arrayContaining([1, 2, 3, 'start']));
    expect(await verifyAudit({ store })).toMatchObject({ ok: true });
    await own.stop();
  },
);

test.skipIf(!postgresAvailable)(
  'what an administrator changes in PostgreSQL is noticed',
  async () => {
    const url = addresses.PostgreSQL();
    const schema = /schema=(\w+)/.exec(url)?.[1];
    const store = await open(url);
    const { call, audit } = writer({ store });
    for (let n = 1; n <= 4; n++) await call(n);
    await audit.close();
    await postgres
      ?.pool()
      .query(`update ${schema}.entries set value = replace(value, '"n":2', '"n":7')`);
    expect(await verifyAudit({ store })).toMatchObject({ ok: false, chain: 1, brokenAt: 2 });
    await postgres
      ?.pool()
      .query(`update ${schema}.entries set value = replace(value, '"n":7', '"n":2')`);
    expect(await verifyAudit({ store })).toMatchObject({ ok: true });
    await postgres?.pool().query(`delete from ${schema}.entries where id = 4`);
    expect(await verifyAudit({ store })).toMatchObject({
      ok: false,
      chain: 1,
      brokenAt: 4,
      reason: 'lines were cut off its end',
    });
    await postgres?.pool().query(`delete from ${schema}.entries where id = 2`);
    expect(await verifyAudit({ store })).toMatchObject({
      ok: false,
      chain: 1,
      brokenAt: 2,
      lines: 2,
    });
  },
);

test.skipIf(!postgresAvailable)(
  'what an administrator removes with all its traces is noticed with heads only',
  async () => {
    const url = addresses.PostgreSQL();
    const schema = /schema=(\w+)/.exec(url)?.[1];
    const store = await open(url);
    const [one, two] = [writer({ store }), writer({ store })];
    for (const { call, audit } of [one, two])
      for (let n = 1; n <= 3; n++) {
        await call(n);
        await audit.flush();
      }
    const { heads = [] } = await verifyAudit({ store });
    const query = (sql: string) => postgres?.pool().query(sql.replaceAll('$', `${schema}.`));
    await query(`delete from $entries where id = 3;
      update $logs set last = 2 where log in ('chain 1', 'chain 2')`);
    expect(await verifyAudit({ store })).toMatchObject({ ok: true, lines: 4 });
    expect(await verifyAudit({ store, heads })).toMatchObject({
      ok: false,
      reason: expect.stringMatching(/^2 lines of `heads` are not in the log/),
    });
    const before = (await verifyAudit({ store })).heads;
    await query(`delete from $entries e using $logs l where e.log = l.number and l.log = 'chain 2';
      delete from $logs where log = 'chain 2';
      update $documents set value = '1' where key = 'chains'`);
    expect(await verifyAudit({ store })).toMatchObject({ ok: true, lines: 2 });
    expect(await verifyAudit({ store, heads: before })).toMatchObject({
      ok: false,
      reason: expect.stringMatching(/^a line of `heads` is not in the log/),
    });
  },
);

test.each<[AuditOptions, RegExp]>([
  [{}, /expected one of `path`, `store` and `sink`, got none/],
  [{ path: 'a', store: memoryStore() }, /got `path` and `store`/],
  [{ store: {} as Store }, /`store` to be a store/],
  [{ store: { ...bound(memoryStore()), lacks: ['append'] } }, /a `store` with logs/],
  [{ store: memoryStore(), fsync: 'always' }, /`fsync` is for a `path` only/],
  [{ store: memoryStore(), rotate: { daily: true } }, /`rotate` is for a `path` only/],
  [{ store: memoryStore(), content: 'hashed' }, /hashed content in a `store` needs a `key`/],
  [{ path: 'a', keep: 1_000 }, /`keep` is for a `store` only/],
  [{ store: memoryStore(), keep: 10 }, /`keep` to be .* 1000/],
])('options that do not fit are refused: %#', (options, message) => {
  expect(() => createAuditLog(options)).toThrow(message);
});
