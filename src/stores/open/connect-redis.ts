/** A connection to Redis, made with ioredis, which is optional. */
import type { Redis } from 'ioredis';
import { messageOf } from '../../values/errors/index.ts';
import { packageFault } from '../../values/packages/missing-package.ts';

/** A client that is connected. */
export interface ConnectedRedis {
  readonly client: Redis;
  close(): void;
}

/**
 * Connects, and waits until Redis answers. Afterwards, the client connects again whenever it is cut
 * off.
 * @param use What the package is needed for; follows "which" in the message.
 * @param note Called with a line when the connection is lost.
 * @throws Error if the package is missing, or Redis cannot be reached or refuses. Its message shows
 * nothing of the address.
 */
export async function connectRedis(
  url: string,
  use: string,
  note: (line: string) => void,
): Promise<ConnectedRedis> {
  const { Redis } = await import('ioredis').catch((error: unknown) => {
    throw packageFault('ioredis', use, error);
  });
  const client = new Redis(url, { autoResendUnfulfilledCommands: false, lazyConnect: true });
  let isOpen = false;
  let lastCode = '';
  let seen: string | undefined;
  client.on('error', (error: unknown) => {
    // A failure is shown again only if another one or a connection came in between, because ioredis
    // retries forever.
    const { code: own } = error as { readonly code?: unknown };
    const code = typeof own === 'string' ? own : wordOf(error);
    seen = code ?? seen;
    if (isOpen && code !== lastCode) note(`warning: Redis: ${code ?? 'error'}`);
    lastCode = code ?? 'error';
  });
  client.on('ready', () => {
    lastCode = '';
  });
  try {
    await client.connect();
    // A client that may not use its database says nothing, and uses the first one.
    const { db = 0 } = client.options;
    await (db === 0 ? client.ping() : client.select(db));
    isOpen = true;
    return { client, close: () => client.disconnect() };
  } catch (error) {
    client.disconnect();
    throw unreachable(error, seen);
  }
}

/** Redis begins its refusals with a word in capitals, such as `NOAUTH`. */
function wordOf(error: unknown): string | undefined {
  return /^[A-Z]{2,20}(?=\s|$)/.exec(messageOf(error))?.[0];
}

const advice: Readonly<Record<string, string>> = {
  ERR: 'it has no database of the number in the address, or refuses a command that opens it',
  NOAUTH: 'it wants a user and a password, as in `redis://user:password@host`',
  WRONGPASS: 'it refuses the user or the password of the address',
  NOPERM: 'the user may not run the commands that are needed; docs/stores.md lists them',
};

/**
 * @param seen a code that the client reported before. A client that gives up says only that the
 * connection is closed
 */
function unreachable(error: unknown, seen?: string): Error {
  const { code } = error as { readonly code?: unknown };
  const known = typeof code === 'string' ? code : (wordOf(error) ?? seen);
  const why = known ?? messageOf(error).replace(/\.+$/, '');
  const more = Object.hasOwn(advice, why) ? `: ${advice[why]}` : '';
  return new Error(`Cannot reach Redis: ${why}${more}.`);
}
