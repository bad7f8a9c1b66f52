/** A Redis that keeps nothing on disk, where there is a `redis-server` to start. */
import { spawn, spawnSync } from 'node:child_process';
import { createServer } from 'node:net';
import { Redis } from 'ioredis';

export const redisMissing = 'the rows of Redis need `redis-server` on the PATH.';

/** Undefined where there is none. */
export async function startRedis(): Promise<
  { readonly port: number; close(): Promise<void> } | undefined
> {
  if (spawnSync('redis-server', ['--version']).status !== 0) return undefined;
  const port = await freePort();
  const child = spawn(
    'redis-server',
    ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no'],
    { stdio: 'ignore' },
  );
  const client = new Redis({
    port,
    host: '127.0.0.1',
    retryStrategy: () => 20,
    maxRetriesPerRequest: null,
  });
  client.on('error', () => {});
  await client.ping();
  client.disconnect();
  return {
    port,
    close: () =>
      new Promise((resolve) => {
        child.once('exit', () => resolve());
        child.kill();
      }),
  };
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  await new Promise((resolve) => server.close(resolve));
  return port;
}
