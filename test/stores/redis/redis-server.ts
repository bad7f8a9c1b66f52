/**
 * A real Redis for tests: a child process on a free port, which can be killed and started again
 * with what it had kept.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis, type RedisOptions } from 'ioredis';
import { expect, test } from 'vitest';
import { freePort } from '../free-port.ts';

/** Whether there is a `redis-server` to start. */
export const redisAvailable = spawnSync('redis-server', ['--version']).status === 0;

/** What the name of a suite ends with that cannot run here. */
export const whyNot = redisAvailable ? '' : ' (skipped: no `redis-server` on the PATH)';

/** A suite that needs Redis begins with this: where Redis is demanded, its absence is a failure. */
export function demandRedis(): void {
  if (redisAvailable || process.env.HOST_TOOLS_REQUIRE_REDIS !== '1') return;
  test('redis-server is on the PATH, since HOST_TOOLS_REQUIRE_REDIS=1', () => {
    throw new Error(
      'Expected to find `redis-server` on the PATH, since HOST_TOOLS_REQUIRE_REDIS=1; install ' +
        'it, such as by `apt-get install redis-server`',
    );
  });
}

/** What is so before long; other processes have their own pace. */
export function soon<T>(read: () => T) {
  return expect.poll(read, { interval: 10 });
}

export interface RedisServer {
  readonly port: number;
  /** A client; it ends with the server. */
  connect(options?: RedisOptions & { replyMapping?: 'resp3' }): Redis;
  /** Resolves when the process is gone. */
  kill(signal: NodeJS.Signals): Promise<void>;
  /** Stops answering, connections stay open; `SIGCONT` goes on. */
  signal(signal: 'SIGSTOP' | 'SIGCONT'): void;
  /** On the same port, with what was kept. */
  restart(): Promise<void>;
  stop(): Promise<void>;
}

/** For stores in tests: a busy machine may take longer than the default for a command. */
export const patient = { commandTimeoutMs: 60_000 } as const;

/** @param more further arguments, such as `--maxmemory` */
export async function startRedis(more: readonly string[] = []): Promise<RedisServer> {
  const dir = await mkdtemp(join(tmpdir(), 'host-tools-redis-'));
  const port = await freePort();
  const clients: Redis[] = [];
  let child: ChildProcess | undefined;
  const start = async (): Promise<void> => {
    const args = [
      '--port',
      String(port),
      '--bind',
      '127.0.0.1',
      '--dir',
      dir,
      '--appendonly',
      'yes',
      '--appendfsync',
      'always',
      '--save',
      '',
      ...more,
    ];
    child = spawn('redis-server', args, { stdio: 'ignore' });
    await ready(port, child);
  };
  const kill = async (signal: NodeJS.Signals): Promise<void> => {
    const running = child;
    child = undefined;
    if (running === undefined || running.exitCode !== null || running.signalCode !== null) return;
    const gone = new Promise((resolve) => running.once('exit', resolve));
    running.kill(signal);
    await gone;
  };
  await start();
  return {
    port,
    connect(options = {}) {
      const client = new Redis({ port, host: '127.0.0.1', retryStrategy: () => 20, ...options } as {
        port: number;
      });
      // Tests look at what commands answer.
      client.on('error', () => {});
      clients.push(client);
      return client;
    },
    kill,
    signal: (signal) => void child?.kill(signal),
    restart: start,
    async stop() {
      for (const client of clients) client.disconnect();
      await kill('SIGKILL');
      await rm(dir, { recursive: true, force: true });
    },
  };
}

/** Answers commands, having loaded what it kept. */
async function ready(port: number, child: ChildProcess): Promise<void> {
  const client = new Redis({
    port,
    host: '127.0.0.1',
    retryStrategy: () => 10,
    maxRetriesPerRequest: null,
  });
  client.on('error', () => {});
  const failed = new Promise<never>((_, reject) => {
    child.once('error', reject);
    child.once('exit', (code) =>
      reject(new Error(`redis-server ended with ${code} before it answered`)),
    );
  });
  try {
    await Promise.race([client.ping(), failed]);
  } finally {
    client.disconnect();
  }
}
