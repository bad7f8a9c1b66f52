import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import type { HostToolRegistry } from '../../src/index.ts';
import { createInspector } from '../../src/surfaces/inspector/index.ts';
import { toNodeListener } from '../../src/surfaces/mcp/index.ts';

/** How slowly the demo goes while somebody watches. */
const PAUSE_MS = 600;

export interface DemoInspector {
  /** The address of the page, with its token. */
  readonly url: string;
  /** Resolves when the page listens. */
  readonly opened: Promise<void>;
  /** Lets the person look at the call before, unless they have seen enough. */
  pause(): Promise<void>;
  /** Whether the person has seen enough. */
  readonly isOver: boolean;
  /** Resolves when the person has seen enough. */
  readonly over: Promise<void>;
  close(): Promise<void>;
}

/**
 * Shows a registry on a page of this machine. Its form can call tools, under the demo's profiles.
 */
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
  // Ctrl+C ends the demo at any time, and it still clears up.
  let isOver = false;
  const over = once(process, 'SIGINT').then(() => {
    isOver = true;
  });
  return {
    url: `http://127.0.0.1:${port}/#token=${inspector.token}`,
    opened,
    async pause() {
      await Promise.race([setTimeout(PAUSE_MS), over]);
    },
    get isOver() {
      return isOver;
    },
    over,
    async close() {
      await inspector.close();
      server.closeAllConnections();
      server.close();
    },
  };
}
