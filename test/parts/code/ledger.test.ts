/**
 * Programs of five calls with one approval, in processes that are killed at random: every program
 * ends once, and nothing that is not idempotent runs twice. `HOST_TOOLS_LEDGER_PROGRAMS` says how
 * many programs.
 */
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { build } from 'esbuild';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { finishedRunner } from '../../../tsup.config.ts';
import { root } from '../../docs/pages.ts';
import {
  demandPostgres,
  type PostgresServer,
  postgresAvailable,
  startPostgres,
  whyNot as whyNoPostgres,
} from '../../stores/postgres/postgres-server.ts';
import {
  demandRedis,
  type RedisServer,
  redisAvailable,
  startRedis,
  whyNot as whyNoRedis,
} from '../../stores/redis/redis-server.ts';
import { openStore } from '../../stores/shared/open-store.ts';
import { ledgerHost } from './fixtures/ledger-host.ts';

demandRedis();
demandPostgres();

const count = Number(process.env.HOST_TOOLS_LEDGER_PROGRAMS ?? 4);
const isLong = count > 50;

/** The processes, as plain JavaScript: a loader would cost each of them a second. */
const built = join(root, `.cache/ledger-${process.pid}`);

beforeAll(async () => {
  await build({
    entryPoints: { worker: join(root, 'test/parts/code/fixtures/ledger-worker.ts') },
    outdir: built,
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    packages: 'external',
    plugins: [finishedRunner],
    logLevel: 'warning',
  });
});
afterAll(() => rmSync(built, { recursive: true, force: true }));

/** A process. It resolves once it works. */
async function worker(...given: string[]): Promise<{ kill(): Promise<void> }> {
  const child = spawn(process.execPath, [join(built, 'worker.js'), ...given], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const gone = new Promise<void>((resolve) => child.once('close', () => resolve()));
  onTestFinished(() => void child.kill('SIGKILL'));
  await Promise.race([gone, new Promise((resolve) => child.stdout.once('data', resolve))]);
  return {
    kill: () => {
      child.kill('SIGKILL');
      return gone;
    },
  };
}

function ledger(place: (folder: string) => readonly string[]): void {
  test(`${count} programs end once, and nothing runs twice`, async () => {
    const folder = mkdtempSync(join(tmpdir(), 'host-tools-programs-'));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const where = place(folder);
    const store = openStore(where);
    await store.migrate?.();
    const { registry, session } = ledgerHost(store, () => {
      throw new Error('Nothing runs here.');
    });
    // It only looks on. A session that is open would go on with programs.
    await session.close();
    const looking = registry.createSession({ sessionId: 'chat', principal: 'user:ann' });
    const effects = join(folder, 'effects');
    const given = [effects, String(count), ...where];
    const seen = new Map<number, unknown>();
    const isOver = async (): Promise<boolean> => {
      for (let program = 0; program < count; program++) {
        if (seen.has(program)) continue;
        const { status, result } = await looking.approvals.outcome(`program-${program}`);
        if (status !== 'settled') return false;
        seen.set(program, result);
      }
      return true;
    };
    let running = await Promise.all([worker(...given), worker(...given)]);
    let kills = 0;
    while (!(await isOver())) {
      await pause(100 + Math.random() * (isLong ? 2_500 : 900));
      // The last ones that are killed leave programs to those that stay.
      if (kills >= (isLong ? 60 : 3)) continue;
      const [victim, other] = running;
      await victim?.kill();
      kills++;
      running = [other as (typeof running)[0], await worker(...given)];
    }
    await Promise.all(running.map((one) => one.kill()));
    const lines = existsSync(effects) ? readFileSync(effects, 'utf8').trimEnd().split('\n') : [];
    const once = lines.filter((line) => line.startsWith('act '));
    expect(once.filter((line, at) => once.indexOf(line) !== at)).toEqual([]);
    const steps = new Set(lines.map((line) => line.split(' ').slice(1, 3).join(' ')));
    const codes = new Map<unknown, number>();
    for (const [program, result] of seen) {
      const { output } = result as { readonly output: readonly unknown[] };
      expect(output, JSON.stringify(result)).toHaveLength(5);
      for (const [at, step] of output.entries()) {
        codes.set(typeof step, (codes.get(typeof step) ?? 0) + 1);
        if (step === 'executor_lost') continue;
        // What a program says has happened has happened.
        expect(step).toBe(at + 1);
        expect(steps).toContain(`${program} ${step}`);
      }
      const { result: later } = await looking.approvals.outcome(`program-${program}`);
      expect(later).toEqual(result);
    }
    if (isLong)
      console.log(
        `${where[0]}: ${count} programs, ${kills} kills, ${codes.get('number') ?? 0} ` +
          `steps known, ${codes.get('string') ?? 0} lost, ${once.length} effects`,
      );
    await registry.close();
    await store.close();
  }, 600_000);
}

describe('on SQLite', () => ledger((folder) => ['sqlite', join(folder, 'state.db')]));

describe.skipIf(!redisAvailable)(`on Redis${whyNoRedis}`, () => {
  let server: RedisServer;
  beforeAll(async () => {
    server = await startRedis();
  });
  afterAll(() => server.stop());
  ledger(() => ['redis', `${server.port}`, 'programs']);
});

describe.skipIf(!postgresAvailable)(`on PostgreSQL${whyNoPostgres}`, () => {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await startPostgres();
  });
  afterAll(() => server.stop());
  ledger(() => ['postgres', `${server.port}`, 'programs']);
});
