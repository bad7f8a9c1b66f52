import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import type { HostToolRegistry } from '../../src/index.ts';
import { createInspector } from '../../src/inspector/index.ts';
import { toNodeListener } from '../../src/mcp/index.ts';

/** How slowly the demo goes while somebody watches. */
const PAUSE_MS = 600;

export interface DemoInspector {
  /** The address of the page, with its token. */
  readonly url: string;
  /** Resolves when the page listens. */
  readonly opened: Promise<void>;
  pause(): Promise<void>;
  /** Resolves when the person has seen enough. */
  interrupted(): Promise<void>;
  close(): Promise<void>;
}

/** Shows a registry on a page of this machine. Its form can call tools, under the demo's profiles. */
export async function inspectDemo(registry: HostToolRegistry): Promise<DemoInspector> {
  const inspector = createInspector(registry, { allowCalls: true });
  const answer = toNodeListener(inspector);
  let open = (): void => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  const server = createServer((request, response) => {
    const listens = request.url === '/api/stream';
    answer(request, response);
    if (listens && request.headers.authorization === `Bearer ${inspector.token}`) open();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/#token=${inspector.token}`,
    opened,
    pause: () => setTimeout(PAUSE_MS),
    async interrupted() {
      await once(process, 'SIGINT');
    },
    async close() {
      await inspector.close();
      server.closeAllConnections();
      server.close();
    },
  };
}
