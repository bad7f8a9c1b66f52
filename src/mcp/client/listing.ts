/** Asks a server for its tools, page by page and within bounds. */
import type { JsonObject } from '../../index.ts';
import { copyJson, isJsonObject } from '../../json.ts';
import { connectionFault, isFault } from '../../surfaces/shared/executor-fault.ts';
import { cleanLine } from '../../surfaces/shared/outside-text.ts';
import { anyResult, type ConnectedMcpClient } from './sdk.ts';

/** Most pages of one listing. */
const maxPages = 100;
/** Most tools of one listing. */
const maxTools = 1_000;
/** Most characters of one listing, over its pages. */
const maxChars = 8 * 1_048_576;
/**
 * Most values of one page. Our own transports have a tighter bound, which applies before a message
 * is parsed.
 */
const maxValues = 500_000;

/**
 * Lists a server's tools as private copies, which are not checked yet.
 * @param timeoutMs milliseconds for all pages together
 * @throws ConnectionFault that names the bound, or quotes the server's error
 */
export async function listTools(
  client: ConnectedMcpClient,
  timeoutMs: number,
): Promise<readonly unknown[]> {
  if (client.getServerCapabilities()?.tools === undefined) return [];
  const signal = AbortSignal.timeout(timeoutMs);
  const tools: unknown[] = [];
  const cursors = new Set<string>();
  let chars = 0;
  let cursor: string | undefined;
  for (let pages = 1; ; pages++) {
    if (pages > maxPages) throw refused(`more than ${maxPages} pages of tools`);
    const page = await request(client, cursor, signal, timeoutMs);
    const copy = copyJson(page, { maxDepth: 80, maxValues, maxChars: maxChars - chars });
    if (!copy.ok && copy.fault !== 'too_large')
      throw refused(`a listing that is not valid JSON: ${copy.message}`);
    if (!copy.ok || copy.overflow) throw refused('a listing that is too large');
    if (!isJsonObject(copy.value) || !Array.isArray(copy.value.tools))
      throw refused('a listing without `tools`');
    chars += copy.size;
    const entries = copy.value.tools as readonly unknown[];
    if (tools.length + entries.length > maxTools) throw refused(`more than ${maxTools} tools`);
    tools.push(...entries);
    const { nextCursor } = copy.value as JsonObject;
    if (nextCursor === undefined || nextCursor === null || nextCursor === '') return tools;
    if (typeof nextCursor !== 'string' || cursors.has(nextCursor))
      throw refused('an invalid or repeated cursor');
    cursors.add(nextCursor);
    cursor = nextCursor;
  }
}

async function request(
  client: ConnectedMcpClient,
  cursor: string | undefined,
  signal: AbortSignal,
  timeoutMs: number,
): Promise<unknown> {
  try {
    return await client.request(
      { method: 'tools/list', params: cursor === undefined ? {} : { cursor } },
      anyResult,
      { signal, timeout: timeoutMs },
    );
  } catch (error) {
    if (isFault(error)) throw error;
    const why = signal.aborted
      ? `it took longer than ${timeoutMs / 1_000} s`
      : cleanLine(error instanceof Error ? error.message : String(error), 500);
    throw connectionFault(`The MCP server did not list its tools: ${why}`, error);
  }
}

function refused(what: string): Error {
  return connectionFault(`The MCP server sent ${what}. The whole listing was refused.`);
}
