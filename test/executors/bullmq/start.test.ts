/** What a worker does when Redis accepts its connections but never answers. */
import { createServer, type Socket } from 'node:net';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { FleetWorker } from '../../../src/executors/bullmq/fleet-worker.ts';
import { soon } from '../../stores/redis/redis-server.ts';

const sockets = new Set<Socket>();
const silent = createServer((socket) => {
  sockets.add(socket);
  socket.on('error', () => {});
  socket.on('close', () => sockets.delete(socket));
  socket.resume();
});

beforeEach(async () => {
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
});
afterEach(async () => {
  for (const socket of sockets) socket.destroy();
  await new Promise((resolve) => silent.close(resolve));
});

test('it does not start, says what to check, and leaves no connection', async () => {
  const errors: Error[] = [];
  const worker = new FleetWorker({
    connection: { host: '127.0.0.1', port: (silent.address() as { port: number }).port },
    queue: 'silent',
    prefix: 'bull',
    tools: new Map(),
    concurrency: 1,
    services: undefined,
    around: undefined,
    onError: (error) => errors.push(error),
    startMs: 200,
  });
  await expect(worker.start()).rejects.toThrow(
    'serveFleet: expected Redis to answer within 200 ms, got no answer. Check that `connection`',
  );
  await soon(() => sockets.size).toBe(0);
  expect(errors).toEqual([]);
});
