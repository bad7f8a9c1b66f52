/** Stores that are opened by their address, on real servers: tables, closing, and what fails. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { openStore } from '../../../src/stores/open/open-store.ts';
import { readStoreAddress } from '../../../src/stores/open/store-address.ts';
import { freePort } from '../free-port.ts';
import {
  demandPostgres,
  type PostgresServer,
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

const space = { shared: 'test' };
const set = [{ op: 'set', key: 'k', value: 'v' }] as const;
const get = [{ op: 'get', keys: ['k'] }] as const;

/** Opens a store, and closes it when the test ends. */
async function open(url: string, tables: 'make' | 'need' | 'any' = 'make') {
  const opened = await openStore(readStoreAddress(url, tmpdir(), {}), { tables, note: () => {} });
  onTestFinished(() => opened.close());
  return opened;
}

async function keeps(url: string, kind: string): Promise<void> {
  const one = await open(url);
  expect(one.store?.kind).toBe(kind);
  expect((await one.store?.apply(space, set))?.results).toBeDefined();
  await one.close();
  const other = await open(url);
  expect((await other.store?.apply(space, get))?.results?.[0][0]?.value).toBe('v');
}

/** The message with which an address is refused. */
async function refusal(url: string, tables?: 'need' | 'any'): Promise<string> {
  const message = await open(url, tables).then(
    () => 'opened',
    (error: unknown) => (error as Error).message,
  );
  expect(message).not.toContain('s3cret');
  return message;
}

describe.skipIf(!postgresAvailable)(`on PostgreSQL${whyNot}`, () => {
  let server: PostgresServer;
  const at = (more = '', user = 'postgres:s3cret') =>
    `postgres://${user}@127.0.0.1:${server.port}/postgres${more}`;
  beforeAll(async () => {
    server = await startPostgres();
    const pool = server.pool();
    await pool.query("create role limited login password 'x'");
    await pool.query('create role reader login');
  });
  afterAll(() => server?.stop());

  test('tables are made in the schema of the address, and what is kept stays', async () => {
    await keeps(at('?schema=one'), 'PostgreSQL');
    const { rows } = await server.pool().query('select 1 from one.meta where version > 0');
    expect(rows).toHaveLength(1);
    expect((await (await open(at('?schema=two'))).store?.apply(space, get))?.results).toEqual([
      [undefined],
    ]);
  });

  test('a role that may not make tables works after somebody else has made them', async () => {
    await open(at('?schema=granted'));
    const url = at('?schema=granted', 'limited:s3cret');
    expect(await refusal(url)).toMatch(/42501.*USAGE on the schema.*store migrate/);
    // Reading is not enough, which is found out at once.
    await server.pool().query(`grant usage on schema granted to limited;
      grant select on all tables in schema granted to limited;
      grant usage on sequence granted.numbers to limited`);
    expect(await refusal(url)).toMatch(/42501.*INSERT, UPDATE and DELETE/);
    await server.pool().query(`
      grant select, insert, update, delete on all tables in schema granted to limited`);
    await keeps(url, 'PostgreSQL');
    expect(await refusal(at('?schema=absent', 'limited:s3cret'))).toMatch(
      /^The store at postgres:\/\/127.0.0.1:\d+\/postgres\?schema=absent cannot be used: .*42501/,
    );
  });

  test('tables of a newer version are refused', async () => {
    await open(at('?schema=newer'));
    await server.pool().query('update newer.meta set version = 99');
    expect(await refusal(at('?schema=newer'))).toMatch(/version 99, which a newer .*Update/);
    expect(await refusal(at('?schema=newer'), 'need')).toMatch(/version 99, which a newer /);
  });

  test('tables that a command only reads must be there', async () => {
    expect(await refusal(at('?schema=unmade'), 'need')).toMatch(
      /schema=unmade cannot be used: it has no tables\..*`host-tools store migrate`/,
    );
    await open(at('?schema=unmade'), 'any');
    await open(at('?schema=hidden'));
    expect(await refusal(at('?schema=hidden', 'reader'), 'any')).toMatch(
      /^The store at postgres:\/\/127.0.0.1:\d+\/postgres\?schema=hidden .*42501/,
    );
  });

  test('a database, a schema and a server that are not there are named', async () => {
    expect(await refusal(at().replace(/postgres$/, 'none'))).toMatch(/database does not exist/);
    expect(await refusal(at('?schema=a-b'))).toMatch(/`schema`/);
    const port = await freePort();
    expect(await refusal(`postgres://a:s3cret@127.0.0.1:${port}/x`)).toMatch(/ECONNREFUSED/);
  });
});

describe.skipIf(!redisAvailable)(`on Redis${whyNoRedis}`, () => {
  let server: RedisServer;
  beforeAll(async () => {
    server = await startRedis();
    await server.connect().config('SET', 'requirepass', 's3cret');
  });
  afterAll(() => server?.stop());

  test('what is kept stays, under the prefix of the address', async () => {
    const url = `redis://:s3cret@127.0.0.1:${server.port}`;
    await keeps(`${url}?prefix=one`, 'Redis');
    expect((await (await open(url)).store?.apply(space, get))?.results).toEqual([[undefined]]);
  });

  test('a wrong or missing password, and a server that is not there, are named', async () => {
    const at = `127.0.0.1:${server.port}`;
    expect(await refusal(`redis://${at}`)).toMatch(/NOAUTH: it wants a user and a password/);
    expect(await refusal(`redis://:xs3cret@${at}`)).toMatch(/WRONGPASS: it refuses/);
    const port = await freePort();
    expect(await refusal(`redis://:s3cret@127.0.0.1:${port}`)).toMatch(
      /cannot be used: Cannot reach Redis: ECONNREFUSED\.$/,
    );
    expect(await refusal(`redis://:s3cret@${at}?prefix=a%20b`)).toMatch(/`prefix`/);
  });

  test('a database that the server does not have is refused, and not taken for the first', async () => {
    const at = `redis://:s3cret@127.0.0.1:${server.port}`;
    expect(await refusal(`${at}/99`)).toMatch(/ERR: it has no database of the number/);
    expect(await refusal(`${at}?db=99`)).toMatch(/ERR: it has no database of the number/);
    await keeps(`${at}/3?prefix=third`, 'Redis');
    const first = await open(`${at}?prefix=third`);
    expect((await first.store?.apply(space, get))?.results).toEqual([[undefined]]);
  });

  test('a user without rights is refused at once, and works with those that are named', async () => {
    const admin = server.connect({ password: 's3cret' });
    const url = `redis://app:s3cret@127.0.0.1:${server.port}?prefix=acl`;
    await admin.call('ACL', 'SETUSER', 'app', 'on', '>s3cret', '+ping', '+info', '+hello');
    const message = await refusal(url);
    expect(message).toMatch(/NOPERM.*`~PREFIX:\* &PREFIX:\* \+@all -@dangerous \+info`/);
    await admin.call('ACL', 'SETUSER', 'app', '~acl:*', '&acl:*', '+@all', '-@dangerous', '+info');
    await keeps(url, 'Redis');
  });
});

describe('on this machine', () => {
  const folder = mkdtempSync(join(tmpdir(), 'host-tools-open-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  test('a file of SQLite is made, and what is kept stays', async () => {
    await keeps(`sqlite:${folder}/state.db`, 'SQLite');
  });

  test('a file in a folder that is not there is refused', async () => {
    expect(await refusal(`sqlite:${folder}/none/state.db`)).toMatch(/Make its folder/);
  });

  test('a file without tables is named, with the command that makes them', async () => {
    writeFileSync(join(folder, 'empty.db'), '');
    expect(await refusal(`sqlite:${folder}/empty.db`, 'need')).toMatch(
      /empty\.db cannot be used: it has no tables\..*`host-tools store migrate`/,
    );
    await open(`sqlite:${folder}/empty.db`, 'any');
  });

  test('a folder is no store, and is opened by what keeps its form', async () => {
    expect(await open(`file:${folder}`)).toMatchObject({ store: undefined, folder });
  });
});
