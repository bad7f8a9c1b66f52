/**
 * What the tests of the import have in common: everything that was opened is closed after each
 * test.
 */
import { HostToolRegistry, type ToolResult, type ToolSession } from '../../../../src/index.ts';
import {
  type ImportMcpOptions,
  importThrough,
  type McpConnection,
} from '../../../../src/surfaces/mcp/client/import.ts';
import type { ImportedMcpTools } from '../../../../src/surfaces/mcp/client/imported-tools.ts';
import { type RawServer, startRawServer } from './raw-http.ts';

const open: (() => Promise<unknown>)[] = [];

/**
 * For each file to say `afterEach(closeAll)`: one module serves several files, and only the first
 * of them would have a hook of its own.
 */
export async function closeAll(): Promise<void> {
  for (const close of open.splice(0).reverse()) await close();
}

/** Remembers to close. */
export function closing<T extends { close(): Promise<unknown> }>(one: T): T {
  open.push(() => one.close());
  return one;
}

export async function serve(...given: Parameters<typeof startRawServer>): Promise<RawServer> {
  return closing(await startRawServer(...given));
}

/** Time that stands still until it is moved. */
export const clock = { at: 0, now: () => clock.at, random: () => 0 };

/** Nothing happens later, as time stands still. */
const later = () => () => {};

export async function imports(
  connection: McpConnection | RawServer,
  options: ImportMcpOptions = {},
  handshakeMs = 5_000,
): Promise<ImportedMcpTools> {
  const to = 'received' in connection ? { url: connection.url } : connection;
  return closing(await importThrough(to, options, { clock, handshakeMs, later }));
}

/** A session over everything that was imported. */
export function sessionOver(
  imported: ImportedMcpTools,
  registry = new HostToolRegistry(),
): ToolSession {
  closing(registry);
  registry.registerAll(imported.tools);
  return registry.createSession({ sessionId: 's', services: undefined });
}

/** A failure's code and reason, or the output. */
export function brief(result: ToolResult): unknown {
  return result.success
    ? result.output
    : [result.error.code, ...(result.error.reason === undefined ? [] : [result.error.reason])];
}

/** Waits for something to become true, a little while. */
export async function until(holds: () => boolean): Promise<void> {
  for (let turn = 0; turn < 6_000 && !holds(); turn++)
    await new Promise((resolve) => setTimeout(resolve, 5));
  if (!holds()) throw new Error('It did not come true.');
}
