/** A relay on a port that was in use until just now. */
import {
  type ServedRelay,
  type ServeRelayOptions,
  serveRelay,
} from '../../../src/surfaces/relay/index.ts';

/**
 * Listens where a socket has just been closed. A process that another test starts at that moment has
 * a copy of the socket until its program begins, so the port may be in use for some milliseconds.
 */
export async function serveAgain(options: ServeRelayOptions): Promise<ServedRelay> {
  for (let left = 100; ; left--)
    try {
      return await serveRelay(options);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE' || left === 0) throw error;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
}
