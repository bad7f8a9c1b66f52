/** What commands that serve have in common. */
import type { Server } from 'node:http';
import { messageOf } from '../values/errors/index.ts';
import { failure } from './fault.ts';

/** Listens. @throws CliFault 1 if the address cannot be taken */
export function listen(
  server: Server,
  host: string,
  port: number,
): Promise<{ readonly port: number }> {
  return new Promise((resolve, reject) => {
    server.once('error', (error) =>
      reject(failure(`Cannot listen on ${host}:${port}: ${messageOf(error)}`)),
    );
    server.listen(port, host, () => resolve(server.address() as { port: number }));
  });
}

/** Waits until the user interrupts, or `ended` settles. Rejects if `ended` rejects. */
export function untilAborted(signal: AbortSignal, ended?: Promise<void>): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = (): void => resolve();
    if (signal.aborted) return stop();
    signal.addEventListener('abort', stop, { once: true });
    ended?.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop));
  });
}
