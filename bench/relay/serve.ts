/**
 * A server in a process of its own, so that what the client costs is not counted: a relay, or the
 * bare echo. Asked over IPC for what it has used.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { redisStore } from '../../src/stores/redis/index.ts';
import { createRelay, type RelayOptions, serveRelay } from '../../src/surfaces/relay/index.ts';
import { nodeListener } from '../../src/surfaces/relay/server/node-listener.ts';
import { serverPortOf } from '../../src/surfaces/relay/server/server-port.ts';
import { lazyRequest, wholeRequest } from '../../src/values/http/lazy-request.ts';
import { settledHeap } from '../harness.ts';
import { serveEcho } from './echo.ts';
import type { Asked, ServerKind, Told } from './server-process.ts';

/** Nothing that is measured meets a limit. */
const most = 1_000_000_000;
const limits: NonNullable<RelayOptions['limits']> = {
  updatesPerMinute: most,
  requestsPerMinute: most,
  responsesPerMinute: most,
  sessionsPerMinute: most,
  metadataPerMinute: most,
  readsPerMinute: most,
  streamsPerMinute: most,
  mcpMessagesPerMinute: most,
};

async function open(kind: ServerKind): Promise<{ readonly port: number; close(): Promise<void> }> {
  if (kind === 'echo') return serveEcho();
  if (kind === 'memory') return serveRelay({ port: 0, limits });
  if (kind === 'limited')
    return serveRelay({ port: 0, limits: { sessionsPerMinute: limits.sessionsPerMinute } });
  if (kind === 'lazy' || kind === 'whole')
    return serveBy(kind === 'lazy' ? lazyRequest : wholeRequest);
  const client = new Redis({ port: kind.redisPort, host: '127.0.0.1' });
  const store = redisStore({ client });
  const served = await serveRelay({ port: 0, limits, store });
  return {
    port: served.port,
    close: async () => {
      await served.close();
      await store.close();
      client.disconnect();
    },
  };
}

async function serveBy(
  toRequest: typeof lazyRequest,
): Promise<{ readonly port: number; close(): Promise<void> }> {
  const relay = createRelay({ limits });
  const own = serverPortOf(relay);
  if (own === undefined) throw new Error('The relay gave no port for servers.');
  const server = createServer(
    { keepAliveTimeout: 65_000 },
    nodeListener(own.answered, console.error, toRequest),
  );
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    close: async () => {
      await relay.close();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** What has to go for good may wait for its timers. */
async function usage(): Promise<Told> {
  await sleep(50);
  const heap = settledHeap();
  const { user, system } = process.cpuUsage();
  const { rss, external } = process.memoryUsage();
  return { cpuUs: user + system, heap, external, rss };
}

const server = await open(JSON.parse(process.argv[2] ?? '"echo"') as ServerKind);
process.on('message', async (asked: Asked) => {
  if (asked === 'cpu') {
    const { user, system } = process.cpuUsage();
    process.send?.({ cpuUs: user + system, heap: 0, external: 0, rss: 0 } satisfies Told);
  } else if (asked === 'usage') process.send?.(await usage());
  else {
    await server.close();
    process.disconnect?.();
    // Profiles are written on the way out.
    process.exit();
  }
});
// Whoever asks has died: nobody would end this process.
process.once('disconnect', () => process.exit());
process.send?.(server.port);
