/** A Redis that keeps nothing on disk, where there is a `redis-server` to start. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { Redis } from 'ioredis';

export const redisMissing = 'the rows of Redis need `redis-server` on the PATH.';

/** How many ports are tried: others on the machine may have one, or take it first. */
const maxTries = 20;

/** Undefined where there is none. */
export async function startRedis(): Promise<
  { readonly port: number; close(): Promise<void> } | undefined
> {
  if (spawnSync('redis-server', ['--version']).status !== 0) return undefined;
  for (let tries = 0; tries < maxTries; tries++) {
    // The system gives these ports to nobody by itself. One that it does could be given to a
    // connection before the server has it.
    const port = 20_000 + Math.floor(Math.random() * 10_000);
    const child = spawn(
      'redis-server',
      ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no'],
      { stdio: 'ignore' },
    );
    const gone = once(child, 'exit');
    if (!(await answers(port, child, gone))) continue;
    return {
      port,
      close: async () => {
        child.kill();
        await gone;
      },
    };
  }
  throw new Error(`Expected redis-server to start on a free port, and ${maxTries} tries failed.`);
}

/** Whether it is this server that answers, and not another one that has the port. */
async function answers(
  port: number,
  { pid }: ChildProcess,
  gone: Promise<unknown>,
): Promise<boolean> {
  const client = new Redis({
    port,
    host: '127.0.0.1',
    retryStrategy: () => 20,
    maxRetriesPerRequest: null,
  });
  client.on('error', () => {});
  try {
    const info = await Promise.race([client.info('server'), gone]);
    return String(info).includes(`process_id:${pid}\r`);
  } finally {
    client.disconnect();
  }
}
