/** The example of `docs/fleet.md` runs as it is written, with one host and three workers. */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { fencesOf, root } from '../../docs/pages.ts';
import { program, programUrl } from '../../runner/programs.ts';
import {
  demandRedis,
  type RedisServer,
  redisAvailable,
  startRedis,
  whyNot,
} from '../../stores/redis/redis-server.ts';

demandRedis();

describe.skipIf(!redisAvailable)(`docs/fleet.md${whyNot}`, () => {
  let redis: RedisServer;
  let folder: string;
  const workers: ChildProcess[] = [];

  beforeAll(async () => {
    redis = await startRedis();
    folder = await mkdtemp(join(tmpdir(), 'host-tools-page-'));
  });
  afterAll(async () => {
    for (const worker of workers) {
      const gone = once(worker, 'exit');
      if (worker.kill('SIGKILL')) await gone;
    }
    await redis.stop();
    await rm(folder, { recursive: true, force: true });
  });

  test('one host and three workers', async () => {
    const fences = fencesOf(await readFile(join(root, 'docs/fleet.md'), 'utf8'));
    const here = (text: string): string =>
      text
        .replaceAll('redis://127.0.0.1:6379', `redis://127.0.0.1:${redis.port}`)
        .replaceAll("'host-tools/bullmq'", `'${programUrl('src/executors/bullmq/index.ts')}'`)
        .replaceAll("'host-tools'", `'${programUrl('src/index.ts')}'`);
    await writeFile(join(folder, 'package.json'), '{ "type": "module" }');
    for (const { info, code } of fences) {
      const [, name] = /^\/\/ (\S+\.js)\n/.exec(code) ?? [];
      if (info === 'js' && name !== undefined) await writeFile(join(folder, name), here(code));
    }
    const lines = fences.find(({ code }) => code.startsWith('npx host-tools worker'))?.code ?? '';
    const commands = here(lines)
      .split('\n')
      .filter((line) => line.startsWith('npx host-tools'));
    expect(commands).toHaveLength(3);
    await Promise.all(
      commands.map(async (line) => {
        const argv = line.replace(/^npx host-tools | &$/g, '').split(' ');
        const worker = spawn(process.execPath, [program('src/cli/index.ts'), ...argv], {
          cwd: folder,
          stdio: ['ignore', 'pipe', 'inherit'],
        });
        workers.push(worker);
        await once(worker.stdout, 'data');
      }),
    );
    const { stdout } = await promisify(execFile)(process.execPath, ['host.js'], { cwd: folder });
    const printed = stdout.trim().split('\n');
    expect(printed.map((line) => line.replace(/\d+$/, 'N'))).toEqual(
      ['Sales', 'Costs', 'Staff', 'Stock', 'Plans', 'Risks'].map(
        (title) => `${title}, 20 pages, by process N`,
      ),
    );
  });
});
