/** Asks one server for what is passed on in addition to its tools. */
import { messageOf } from '../../values/errors/index.ts';
import { isJsonObject, type JsonObject } from '../../values/json/index.ts';
import type { Connection } from '../mcp/client/connection.ts';
import { listEntries, type ServerList } from '../mcp/client/listing.ts';
import { anyResult } from '../mcp/client/sdk.ts';
import type { PassedList } from '../mcp/passed-on.ts';
import { cleanText } from '../shared/outside-text.ts';
import { type OfferedEntry, offeredEntry } from './offered-entries.ts';

/** The longest time that one server may delay a list of all servers. */
const listMs = 5_000;
const askMs = 60_000;
const maxOfError = 1_000;

const lists: Readonly<Record<PassedList, ServerList>> = {
  prompts: {
    method: 'prompts/list',
    member: 'prompts',
    noun: 'prompts',
    capability: 'prompts',
  },
  resources: {
    method: 'resources/list',
    member: 'resources',
    noun: 'resources',
    capability: 'resources',
  },
  resourceTemplates: {
    method: 'resources/templates/list',
    member: 'resourceTemplates',
    noun: 'resource templates',
    capability: 'resources',
  },
};

/** The entries of a list. @throws the errors of the connection */
export async function offersOf(
  connection: Connection,
  which: PassedList,
  prefix: string,
): Promise<readonly OfferedEntry[]> {
  const listed = await connection.run(({ client }) => listEntries(client, lists[which], listMs));
  return listed.flatMap((raw) => offeredEntry(which, raw, prefix) ?? []);
}

/** One prompt or resource, with its known members only. @throws Error that a client may see */
export async function askServer(
  connection: Connection,
  method: 'prompts/get' | 'resources/read',
  params: Record<string, unknown>,
  signal: AbortSignal,
): Promise<JsonObject> {
  let result: unknown;
  try {
    const request = { method, params };
    const options = { signal, timeout: askMs };
    result = await connection.run(
      ({ client }) => client.request(request, anyResult, options),
      signal,
    );
  } catch (error) {
    throw new Error(cleanText(messageOf(error), maxOfError), { cause: error });
  }
  const member = method === 'prompts/get' ? 'messages' : 'contents';
  const given = isJsonObject(result) ? (result as JsonObject) : {};
  const list = Object.hasOwn(given, member) ? given[member] : undefined;
  if (!Array.isArray(list)) throw new Error(`The MCP server sent no \`${member}\`.`);
  const description = Object.hasOwn(given, 'description') ? given.description : undefined;
  return typeof description === 'string' && method === 'prompts/get'
    ? { description, [member]: list }
    : { [member]: list };
}
