/** Asks one server for what is passed on in addition to its tools. */
import { messageOf } from '../../values/errors/index.ts';
import { isJsonObject, type JsonObject, ownMember } from '../../values/json/index.ts';
import type { Connection } from '../mcp/client/connection.ts';
import { listEntries, type ServerList } from '../mcp/client/listing.ts';
import { anyResult } from '../mcp/client/sdk.ts';
import type { PassedList } from '../mcp/passed-on.ts';
import { cleanLine, cleanText } from '../shared/outside-text.ts';

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

// What clients see of a server's prompts and resources: known members, in cleaned texts.

/** One entry of a list. */
export interface OfferedEntry {
  /** The server's own key for it: the name of a prompt, or else an address or address template. */
  readonly key: string;
  /** What clients see. */
  readonly shown: JsonObject;
}

const maxOfKey = 2_048;
const maxOfText = 4_096;
const maxArguments = 64;
const keys = { prompts: 'name', resources: 'uri', resourceTemplates: 'uriTemplate' } as const;

/**
 * Reads one entry; undefined if people could not distinguish it from others.
 * @param prefix is put before the name of a prompt
 */
function offeredEntry(which: PassedList, raw: unknown, prefix: string): OfferedEntry | undefined {
  if (!isJsonObject(raw)) return undefined;
  const given = raw as JsonObject;
  const key = ownMember(given, keys[which]);
  const name = ownMember(given, 'name');
  if (typeof key !== 'string' || key === '' || cleanLine(key, maxOfKey) !== key) return undefined;
  if (typeof name !== 'string') return undefined;
  const shown: Record<string, unknown> = { ...described(given) };
  if (which === 'prompts') {
    shown.name = prefix + key;
    const args = ownMember(given, 'arguments');
    if (Array.isArray(args)) shown.arguments = args.slice(0, maxArguments).flatMap(argument);
  } else {
    shown[keys[which]] = key;
    shown.name = cleanLine(name, 256);
    const type = ownMember(given, 'mimeType');
    if (typeof type === 'string') shown.mimeType = cleanLine(type, 256);
    const size = ownMember(given, 'size');
    if (typeof size === 'number') shown.size = size;
  }
  return { key, shown: shown as JsonObject };
}

function argument(raw: unknown): JsonObject[] {
  if (!isJsonObject(raw)) return [];
  const given = raw as JsonObject;
  const name = ownMember(given, 'name');
  if (typeof name !== 'string') return [];
  const required = ownMember(given, 'required') === true;
  return [{ ...described(given), name, ...(required ? { required } : {}) }];
}

function described(given: JsonObject): JsonObject {
  const [title, description] = [ownMember(given, 'title'), ownMember(given, 'description')];
  return {
    ...(typeof title === 'string' ? { title: cleanLine(title, 256) } : {}),
    ...(typeof description === 'string' ? { description: cleanText(description, maxOfText) } : {}),
  };
}
