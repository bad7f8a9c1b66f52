/** `worker`: started as a person starts it, with a host that sends it calls. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { fleetExecutor } from '../../src/executors/bullmq/index.ts';
import { type AnyTool, defineTool, HostToolRegistry } from '../../src/index.ts';
import { loadHostTools } from '../../src/surfaces/config/index.ts';
import { program } from '../runner/programs.ts';
import {
  demandRedis,
  type RedisServer,
  redisAvailable,
  startRedis,
  whyNot,
} from '../stores/redis/redis-server.ts';
import { cli, type Ran } from './cli-run.ts';

demandRedis();

const toolsYaml = `tools:
  - name: double
    description: Doubles a number.
    parameters: { type: object, properties: { n: { type: number } }, required: [n] }
    module: ./handlers.mjs
    function: double
  - name: hold
    description: Takes long.
    parameters: { type: object }
    module: ./handlers.mjs
    function: hold
    outputStrategy: offload
`;
const handlers = `
export const double = ({ n }) => n * 2;
export const hold = (_, { emit, signal }) => new Promise((resolve) => emit('held'));
`;

let folder: string;
const file = (): string => join(folder, 'tools.yaml');

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'host-tools-worker-'));
  writeFileSync(file(), toolsYaml);
  writeFileSync(join(folder, 'handlers.mjs'), handlers);
  writeFileSync(join(folder, 'empty.yaml'), 'tools: []\n');
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** A host whose tools are those of the file, and run on the fleet. */
async function host(redis: RedisServer, queue: string) {
  const here = new HostToolRegistry();
  await loadHostTools(file(), here);
  const registry = new HostToolRegistry({ graceMs: 100 });
  const connection = { port: redis.port, host: '127.0.0.1' };
  const executor = fleetExecutor({ connection, queue, leaseMs: 60_000, startTimeoutMs: 60_000 });
  for (const name of here.listNames()) {
    const { description, parameters, annotations } = here.get(name) as AnyTool;
    registry.register(defineTool({ name, description, parameters, annotations, executor }));
  }
  await here.close();
  return { registry, session: registry.createSession({ sessionId: 's' }) };
}

describe.skipIf(!redisAvailable)(`a worker${whyNot}`, () => {
  let redis: RedisServer;
  let queues = 0;
  const url = (): string => `redis://127.0.0.1:${redis.port}`;

  beforeAll(async () => {
    redis = await startRedis();
  });
  afterAll(() => redis.stop());

  /** Runs the command until `use` is done with it. */
  async function served(
    argv: readonly string[],
    use: (queue: string) => Promise<void>,
    env: Record<string, string> = {},
  ): Promise<Ran> {
    const queue = `worker-${++queues}`;
    const interrupt = new AbortController();
    let tell = (): void => {};
    const serves = new Promise<void>((resolve) => {
      tell = resolve;
    });
    const line = ['worker', '--queue', queue, '--host-tools', file(), ...argv];
    const ran = cli(line, { signal: interrupt.signal, env, onStdout: () => tell() });
    try {
      await Promise.race([serves, ran.then(({ stderr }) => Promise.reject(new Error(stderr)))]);
      await use(queue);
    } finally {
      interrupt.abort();
    }
    return ran;
  }

  test('runs the calls of hosts until it is interrupted', async () => {
    const { exit, stdout, stderr } = await served(['--redis', url()], async (queue) => {
      const { registry, session } = await host(redis, queue);
      expect((await session.call('double', { n: 21 })).output).toBe(42);
      await registry.close();
    });
    expect([exit, stderr]).toEqual([0, '']);
    expect(stdout).toBe(`Serving \`worker-${queues}\`: double, hold\n`);
  });

  test('says as JSON what it serves, and takes the address from a variable', async () => {
    const argv = ['--redis', 'REDIS_URL', '--json', '--concurrency', '3'];
    const env = { REDIS_URL: url() };
    const { exit, stdout } = await served(argv, async () => {}, env);
    expect(exit).toBe(0);
    const queue = `worker-${queues}`;
    expect(JSON.parse(stdout)).toEqual({ queue, tools: ['double', 'hold'], concurrency: 3 });
  });

  test('as a process, it ends with 0 when it is asked to', async () => {
    const queue = `worker-${++queues}`;
    const argv = ['worker', '--redis', url(), '--queue', queue, '--host-tools', file()];
    const child = spawn(process.execPath, [program('src/cli/index.ts'), ...argv], {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    await once(child.stdout, 'data');
    const { registry, session } = await host(redis, queue);
    expect((await session.call('double', { n: 1 })).output).toBe(2);
    const held = new Promise((resolve) => session.events.on('tool:event', resolve));
    const result = session.call('hold', {});
    await held;
    const gone = once(child, 'exit');
    child.kill('SIGTERM');
    expect(await gone).toEqual([0, null]);
    expect((await result).error).toMatchObject({ code: 'executor_lost', reason: 'worker_closed' });
    await registry.close();
  });

  test('without a tool that it can run, it does not start', async () => {
    const argv = ['--queue', 'q', '--host-tools', join(folder, 'empty.yaml')];
    const { exit, stderr } = await cli(['worker', '--redis', url(), ...argv]);
    expect([exit, stderr]).toEqual([1, expect.stringContaining('no tool that a worker could run')]);
  });
});

describe('the command line', () => {
  const place = ['--redis', 'redis://127.0.0.1:1', '--queue', 'q'];

  test.each<[string[], string]>([
    [['--queue', 'q'], '`worker` needs `--redis URL`'],
    [['--redis', 'redis://127.0.0.1:1'], '`worker` needs `--queue NAME`'],
    [[...place, '--concurrency', '0'], '`--concurrency` to be a whole number from 1 to 10000'],
    [[...place, '--concurency', '2'], 'Did you mean `--concurrency`?'],
    [[...place, '--workers', '2'], 'Did you mean `--concurrency`?'],
    [[...place, '--port', '1'], '`worker` takes no `--port`'],
    [[...place, '--profile', 'x'], '`worker` takes no `--profile`'],
    [['--redis', 'redis://127.0.0.1:1', '--queue', 'a:b'], 'without colons'],
    [['--redis', 'http://127.0.0.1', '--queue', 'q'], 'Expected `--redis` to be an address'],
    [
      ['--redis', 'NOT_SET', '--queue', 'q'],
      'the environment variable `NOT_SET`, which is not set',
    ],
    [['--redis', 'redis://127.0.0.1:1', '--queue'], '`--queue` needs a value: `--queue NAME`'],
    [[...place, 'word'], '`worker` takes no words, but also got `word`'],
    [[...place], 'There are no tools to work with'],
  ])('%j is exit code 2', async (argv, message) => {
    const { exit, stdout, stderr } = await cli(['worker', ...argv]);
    expect([exit, stdout]).toEqual([2, '']);
    expect(stderr).toContain(message);
  });

  test('a Redis that cannot be reached is exit code 1, and its password is not shown', async () => {
    const argv = ['--redis', 'redis://:secret@127.0.0.1:1', '--queue', 'q'];
    const { exit, stderr } = await cli(['worker', ...argv, '--host-tools', file()]);
    expect([exit, stderr]).toEqual([1, 'host-tools: Cannot reach Redis: ECONNREFUSED.\n']);
  });

  test('a file that cannot be read is exit code 1', async () => {
    const { exit, stderr } = await cli(['worker', ...place, '--host-tools', 'no-such.yaml']);
    expect([exit, stderr]).toEqual([1, expect.stringContaining('no-such.yaml')]);
  });

  test('other commands do not take its options', async () => {
    const { exit, stderr } = await cli(['list', '--queue', 'q']);
    expect([exit, stderr]).toEqual([2, expect.stringContaining('an option of `worker`')]);
  });
});
