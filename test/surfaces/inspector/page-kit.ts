/** The page of an inspector in a real browser, with what it says that it should not. */
import { createServer, type Server } from 'node:http';
import type { Browser, BrowserContextOptions, Locator, Page } from 'playwright-core';
import type { Store } from '../../../src/extend.ts';
import type { HostToolRegistry } from '../../../src/index.ts';
import { createInspector, type Inspector } from '../../../src/surfaces/inspector/index.ts';
import { toNodeListener } from '../../../src/surfaces/mcp/index.ts';
import { freePort } from '../../stores/free-port.ts';

/** An inspector that is served on loopback. */
export interface ServedInspector {
  readonly inspector: Inspector;
  /** What the console said. Empty, unless the server was away. */
  readonly said: string[];
  /** Opens the page and waits until it is live. */
  open(browser: Browser, options?: BrowserContextOptions): Promise<Page>;
  /** Stops answering, as a process that has ended. */
  leave(): Promise<void>;
  /** Answers again, at the same address. @param by another inspector; the same one by default */
  comeBack(by?: Inspector): Promise<void>;
  close(): Promise<void>;
}

const token = 'page-token-0123456789-0123456789-abc';

/** An inspector with the token of {@link serveInspector}, unless it is given another one. */
export function inspectorOf(
  registry: HostToolRegistry,
  allowCalls = false,
  own = token,
  store?: Store,
): Inspector {
  return createInspector(registry, { token: own, allowCalls, store });
}

export async function serveInspector(
  registry: HostToolRegistry,
  allowCalls = false,
  store?: Store,
): Promise<ServedInspector> {
  const inspector = inspectorOf(registry, allowCalls, token, store);
  const said: string[] = [];
  // It is let go and taken again, so it must be one that the system gives to nobody meanwhile.
  const port = await freePort();
  let server: Server | undefined;
  const listen = async (one: Inspector): Promise<void> => {
    const own = createServer(toNodeListener(one));
    server = own;
    await new Promise<void>((resolve, reject) =>
      own.once('error', reject).listen(port, '127.0.0.1', resolve),
    );
  };
  const leave = async (): Promise<void> => {
    const own = server;
    server = undefined;
    own?.closeAllConnections();
    await new Promise((resolve) => (own === undefined ? resolve(0) : own.close(resolve)));
  };
  await listen(inspector);
  return {
    inspector,
    said,
    async open(browser, options = {}) {
      const context = await browser.newContext({
        viewport: { width: 1280, height: 800 },
        ...options,
      });
      const page = await context.newPage();
      page.setDefaultTimeout(60_000);
      page.on('console', (message) => said.push(message.text()));
      page.on('pageerror', (error) => said.push(String(error)));
      await page.goto(`http://127.0.0.1:${port}/#token=${token}`);
      await page.getByText('live', { exact: true }).waitFor();
      return page;
    },
    leave,
    comeBack: (by = inspector) => listen(by),
    async close() {
      await inspector.close();
      await leave();
    },
  };
}

export const tabOf = (page: Page, view: string): Locator =>
  page.getByRole('navigation').getByRole('button', { name: view });

export const rowsOf = (page: Page): Locator => page.locator('[role=listbox] [role=option]');
