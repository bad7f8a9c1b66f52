import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface StatusServer {
  readonly origin: string;
  /** Resolves when the next request for `/slow` has come in. */
  slowRequest(): Promise<void>;
  close(): Promise<void>;
}

/**
 * A server on the loopback address: `/status` answers, `/slow` never does, `/moved` points to
 * another server.
 */
export async function startStatusServer(): Promise<StatusServer> {
  const waiting = new Set<() => void>();
  const server = createServer((request, response) => {
    if (request.url === '/status') {
      response
        .writeHead(200, { 'content-type': 'application/json' })
        .end(JSON.stringify({ service: 'demo', healthy: true }));
    } else if (request.url === '/slow') {
      for (const notify of waiting) notify();
      waiting.clear();
    } else if (request.url === '/moved') {
      response.writeHead(302, { location: 'http://127.0.0.1:9/elsewhere' }).end();
    } else {
      response.writeHead(404, { 'content-type': 'text/plain' }).end('no such page\n');
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    slowRequest: () => new Promise<void>((resolve) => waiting.add(resolve)),
    async close() {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}
