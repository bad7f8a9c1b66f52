/** Asks a server for its entries, page by page and within bounds. */
import type { JsonObject } from '../../../core.ts';
import { copyJson, isJsonObject } from '../../../values/json/index.ts';
import { connectionFault, isFault } from '../../shared/executor-fault.ts';
import { cleanLine } from '../../shared/outside-text.ts';
import { anyResult, type ConnectedMcpClient } from './sdk.ts';

/** Most pages of one listing. */
const maxPages = 100;
/** Most entries of one listing. */
const maxEntries = 1_000;
/** Most characters of one listing, over its pages. */
const maxChars = 8 * 1_048_576;
/**
 * Most values of one page. Our own transports have a tighter bound, which applies before a message
 * is parsed.
 */
const maxValues = 500_000;
/**
 * Most levels of nesting of one page. A message of our own transports has no more, so a tool whose
 * schema is nested too deeply costs only itself.
 */
const maxDepth = 100;

/** A list that a server may have. */
export interface ServerList {
  readonly method: string;
  /** The member of a page that has the entries. */
  readonly member: string;
  /** For messages. */
  readonly noun: string;
  /** The capability of a server that has the list. */
  readonly capability: 'tools' | 'prompts' | 'resources';
}

const toolList: ServerList = {
  method: 'tools/list',
  member: 'tools',
  noun: 'tools',
  capability: 'tools',
};

/** The tools of a server. See {@link listEntries}. */
export function listTools(
  client: ConnectedMcpClient,
  timeoutMs: number,
): Promise<readonly unknown[]> {
  return listEntries(client, toolList, timeoutMs);
}

/**
 * Lists a server's entries as private copies, which are not checked yet.
 * @param timeoutMs milliseconds for all pages together
 * @throws ConnectionFault that names the bound, or quotes the server's error
 */
export async function listEntries(
  client: ConnectedMcpClient,
  list: ServerList,
  timeoutMs: number,
): Promise<readonly unknown[]> {
  const { member, noun, capability } = list;
  if (client.getServerCapabilities()?.[capability] === undefined) return [];
  const signal = AbortSignal.timeout(timeoutMs);
  const found: unknown[] = [];
  const cursors = new Set<string>();
  let chars = 0;
  let cursor: string | undefined;
  for (let pages = 1; ; pages++) {
    if (pages > maxPages) throw refused(`more than ${maxPages} pages of ${noun}`);
    const page = await request(client, list, cursor, signal, timeoutMs);
    const copy = copyJson(page, { maxDepth, maxValues, maxChars: maxChars - chars });
    if (!copy.ok && copy.fault !== 'too_large')
      throw refused(`a listing that is not valid JSON: ${copy.message}`);
    if (!copy.ok || copy.overflow) throw refused('a listing that is too large');
    if (!isJsonObject(copy.value) || !Array.isArray(copy.value[member]))
      throw refused(`a listing without \`${member}\``);
    chars += copy.size;
    const entries = copy.value[member] as readonly unknown[];
    if (found.length + entries.length > maxEntries)
      throw refused(`more than ${maxEntries} ${noun}`);
    found.push(...entries);
    const { nextCursor } = copy.value as JsonObject;
    if (nextCursor === undefined || nextCursor === null || nextCursor === '') return found;
    if (typeof nextCursor !== 'string' || cursors.has(nextCursor))
      throw refused('an invalid or repeated cursor');
    cursors.add(nextCursor);
    cursor = nextCursor;
  }
}

async function request(
  client: ConnectedMcpClient,
  { method, noun }: ServerList,
  cursor: string | undefined,
  signal: AbortSignal,
  timeoutMs: number,
): Promise<unknown> {
  try {
    return await client.request(
      { method, params: cursor === undefined ? {} : { cursor } },
      anyResult,
      { signal, timeout: timeoutMs },
    );
  } catch (error) {
    if (isFault(error)) throw error;
    const why = signal.aborted
      ? `it took longer than ${timeoutMs / 1_000} s`
      : cleanLine(error instanceof Error ? error.message : String(error), 500);
    throw connectionFault(`The MCP server did not list its ${noun}: ${why}`, error);
  }
}

function refused(what: string): Error {
  return connectionFault(`The MCP server sent ${what}. The whole listing was refused.`);
}
