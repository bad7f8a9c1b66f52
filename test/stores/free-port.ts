/** Ports for servers that a test or a measurement starts. */
import { createServer } from 'node:net';

/**
 * A free port that the system gives to nobody by itself: one from its own range could be taken by a
 * connection while the server is away, and a client that tries to connect to it again and again
 * might even reach itself.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    // Each thread of the run has ports of its own, so that none takes one that another has closed
    // for a moment.
    const range = (Number(process.env.VITEST_POOL_ID ?? 0) % 8) * 1_250;
    const port = 20_000 + range + Math.floor(Math.random() * 1_250);
    const server = createServer();
    const isFree = await new Promise<boolean>((resolve) => {
      server.once('error', () => resolve(false)).listen(port, '127.0.0.1', () => resolve(true));
    });
    await new Promise((resolve) => server.close(resolve));
    if (isFree) return port;
  }
}
