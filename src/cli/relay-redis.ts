/** The Redis of `relay --redis`, reached through ioredis, which is optional. */
import type { ApprovalStore, OffloadStore } from '../core.ts';
import { redisApprovals, redisBus, redisOffload, redisStore } from '../stores/redis/index.ts';
import type { RelayBus, RelayStore } from '../surfaces/relay/index.ts';
import { packageFault } from '../values/packages/missing-package.ts';
import type { CliIo } from './cli-io.ts';
import { failure, untilInterrupted } from './fault.ts';
import { redisAddress, redisFailure } from './redis-address.ts';
import type { Screen } from './screen.ts';

/** What the nodes share. */
export interface RelayRedis {
  readonly store: RelayStore;
  readonly bus: RelayBus;
  readonly approvals: ApprovalStore;
  /** For outputs of the host's own tools. */
  readonly outputs: OffloadStore;
  /** Ends the connections. */
  close(): Promise<void>;
}

/**
 * Connects, and waits until Redis answers.
 * @param given an address, or the name of an environment variable that has one
 * @throws CliFault 2 if the URL is not an address of Redis; 1 if Redis cannot be reached or ioredis
 * is not installed
 */
export async function openRelayRedis(
  given: string,
  io: CliIo,
  screen: Screen,
): Promise<RelayRedis> {
  const url = redisAddress(given, io);
  const { Redis } = await import('ioredis').catch((error: unknown) => {
    throw failure(packageFault('ioredis', '`--redis` needs', error).message);
  });
  const client = new Redis(url, { autoResendUnfulfilledCommands: false, lazyConnect: true });
  let lastCode = '';
  let seen: string | undefined;
  client.on('error', (error: unknown) => {
    // A failure is shown again only if another one or a connection came in between, because ioredis
    // retries forever.
    const { code: own } = error as { code?: unknown };
    if (typeof own === 'string') seen = own;
    const code = String(own ?? 'error');
    if (code !== lastCode) screen.note(`warning: Redis: ${code}`);
    lastCode = code;
  });
  client.on('ready', () => {
    lastCode = '';
  });
  try {
    await untilInterrupted(client.connect(), io.signal);
  } catch (error) {
    client.disconnect();
    if (io.signal.aborted) throw error;
    throw redisFailure(error, seen);
  }
  const bus = redisBus({ client });
  return {
    store: redisStore({ client }),
    bus,
    approvals: redisApprovals({ client }),
    outputs: redisOffload({ client }),
    async close() {
      await bus.close?.();
      client.disconnect();
    },
  };
}
