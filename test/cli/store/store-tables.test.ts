/** `store migrate` and `store status`, on real servers and on a file. */
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  demandPostgres,
  type PostgresServer,
  postgresAvailable,
  startPostgres,
  whyNot,
} from '../../stores/postgres/postgres-server.ts';
import { demandRedis, redisAvailable, startRedis } from '../../stores/redis/redis-server.ts';
import { cli } from '../cli-run.ts';

demandPostgres();
demandRedis();

const folder = mkdtempSync(join(tmpdir(), 'host-tools-tables-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe.skipIf(!postgresAvailable)(`tables in PostgreSQL${whyNot}`, () => {
  let server: PostgresServer;
  let url = '';
  let shown = '';
  beforeAll(async () => {
    server = await startPostgres();
    shown = `postgres://127.0.0.1:${server.port}/postgres?schema=tools`;
    url = shown.replace('//', '//postgres:s3cret@');
  });
  afterAll(() => server?.stop());

  test('are missing, are made, and are there', async () => {
    expect(await cli(['store', 'status', url])).toMatchObject({
      exit: 1,
      stdout:
        `${shown} (PostgreSQL) has no tables, and version 1 is needed: ` +
        '`host-tools store migrate` makes them.\n',
    });
    expect((await cli(['store', 'migrate', url])).stdout).toBe(
      `${shown} (PostgreSQL) has tables of version 1 now; found none.\n`,
    );
    expect((await cli(['store', 'migrate', 'URL'], { env: { URL: url } })).stdout).toBe(
      `${shown} (PostgreSQL) has tables of version 1 already.\n`,
    );
    const status = await cli(['store', 'status', url, '--json']);
    expect(status).toMatchObject({ exit: 0, stderr: '' });
    expect(JSON.parse(status.stdout)).toEqual({
      kind: 'PostgreSQL',
      address: shown,
      found: 1,
      needed: 1,
    });
  });

  test('of a newer version are shown, and not touched', async () => {
    await cli(['store', 'migrate', url]);
    await server.pool().query('update tools.meta set version = 9');
    expect(await cli(['store', 'status', url])).toMatchObject({
      exit: 1,
      stdout: expect.stringContaining('a newer host-tools made them; update this one'),
    });
    expect(await cli(['store', 'migrate', url])).toMatchObject({
      exit: 1,
      stderr: expect.stringContaining('which a newer host-tools made'),
    });
  });
});

test.skipIf(!redisAvailable)('Redis needs no tables', async () => {
  const server = await startRedis();
  const url = `redis://127.0.0.1:${server.port}`;
  expect((await cli(['store', 'status', url])).stdout).toBe(
    `${url} (Redis) answers, and needs no tables.\n`,
  );
  expect(JSON.parse((await cli(['store', 'migrate', url, '--json'])).stdout)).toMatchObject({
    found: null,
    needed: null,
  });
  await server.stop();
});

test('a file of SQLite is not made by looking at it', async () => {
  const file = join(folder, 'state.db');
  const run = (...words: string[]) => cli(['store', ...words], { cwd: folder });
  expect(await run('status', 'sqlite:./state.db')).toMatchObject({ exit: 1 });
  expect(existsSync(file)).toBe(false);
  expect((await run('migrate', 'sqlite:./state.db')).stdout).toMatch(/now; found none/);
  expect(await run('status', 'sqlite:./state.db')).toMatchObject({ exit: 0 });
});

test.each([
  [['status'], 2, /`store status` needs URL/],
  [['status', 'NOT_SET'], 2, /`NOT_SET` is not set\.\n$/],
  [['migrate', 'mysql://ann:s3cret@db'], 2, /`URL`: expected the address of a store to be/],
  [['status', 'redis://db', 'redis://ann:s3cret@db'], 2, /also got `redis:\/\/…@db`/],
  [['status', 'sqlite:/none/state.db'], 1, /state\.db cannot be used: its folder does not exist/],
  [['status', 'postgres://ann:s3cret@127.0.0.1:1/app'], 1, /app cannot be used: .*ECONNREFUSED/],
])('store %j is refused with exit code %i', async (words, exit, message) => {
  const ran = await cli(['store', ...words]);
  expect(ran).toMatchObject({ exit, stdout: '', stderr: expect.stringMatching(message) });
  expect(ran.stderr).not.toContain('s3cret');
});
