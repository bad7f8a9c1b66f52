/** The Redis of `relay --redis`, reached through ioredis, which is optional. */
import type { ApprovalStore, OffloadStore } from '../core.ts';
import { redisApprovals, redisBus, redisOffload, redisStore } from '../stores/redis/index.ts';
import type { RelayBus, RelayStore } from '../surfaces/relay/index.ts';
import { messageOf } from '../values/errors/index.ts';
import { packageFault } from '../values/packages/missing-package.ts';
import type { CliIo } from './cli-io.ts';
import { type CliFault, failure, untilInterrupted, usageFault } from './fault.ts';
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

// The Redis of a command: the address in `--redis`, and the error if it cannot be reached.

/**
 * @param given an address, or the name of an environment variable that has one
 * @throws CliFault 2 if there is no address of Redis
 */
export function redisAddress(given: string, io: CliIo): string {
  const url = addressOf(given, io);
  // An address may hold a password, so it is never shown.
  if (URL.canParse(url) && /^rediss?:$/.test(new URL(url).protocol)) return url;
  throw usageFault(
    'Expected `--redis` to be an address such as `redis://127.0.0.1:6379`, or the name of an ' +
      'environment variable that has one.',
  );
}

/** @throws CliFault 2 */
function addressOf(given: string, { env }: CliIo): string {
  if (!/^\w+$/.test(given)) return given;
  const address = env[given];
  if (address !== undefined && address !== '') return address;
  throw usageFault(
    `\`--redis\` names the environment variable \`${given.slice(0, 60)}\`, which is not set. Set ` +
      'it to an address such as `redis://127.0.0.1:6379`.',
  );
}

/**
 * @param error what the client rejected with
 * @param seen a code that the client reported before. A client that gives up says only that the
 * connection is closed
 */
export function redisFailure(error: unknown, seen?: string): CliFault {
  const why = (error as { code?: string }).code ?? seen ?? messageOf(error);
  return failure(`Cannot reach Redis: ${why.replace(/\.+$/, '')}.`);
}
