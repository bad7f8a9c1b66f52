/** The pages of a server's apps, for the clients of an MCP server that shows its tools. */
import type { JsonObject } from '../../../core.ts';
import { copyJson, isJsonObject } from '../../../values/json/index.ts';
import { isPageUri, metaIn, type Pages, pagesOf } from '../sent.ts';
import type { Connection } from './connection.ts';
import { listEntries } from './listing.ts';
import { anyResult } from './sdk.ts';

const list = {
  method: 'resources/list',
  member: 'resources',
  noun: 'resources',
  capability: 'resources',
} as const;
/** The longest time that one server may delay a list of all servers. */
const listMs = 5_000;
const readMs = 60_000;
/** Most characters of a page, as JSON. A message has no more than 8 MB. */
const maxChars = 8 * 1_048_576;

/** From now on, clients can read the pages of the server of which a tool says this. */
export function readPagesOf(said: JsonObject, connection: Connection): void {
  pagesOf.set(said, pagesThrough(connection));
}

const through = new WeakMap<Connection, Pages>();

function pagesThrough(connection: Connection): Pages {
  let pages = through.get(connection);
  if (pages !== undefined) return pages;
  pages = {
    async list() {
      const listed = await connection.run(({ client }) => listEntries(client, list, listMs));
      return listed.flatMap((entry): JsonObject[] => {
        if (!isJsonObject(entry) || !isPageUri(entry.uri) || typeof entry.name !== 'string')
          return [];
        const { _meta, ...rest } = entry;
        return [{ ...rest, ...metaIn(_meta) }];
      });
    },
    async read(uri, signal) {
      const params = { uri };
      const answer: unknown = await connection.run(
        ({ client }) =>
          client.request({ method: 'resources/read', params }, anyResult, {
            signal,
            timeout: readMs,
          }),
        signal,
      );
      const copy = copyJson(answer, { maxDepth: 72, maxValues: 100_000, maxChars });
      if (!copy.ok || copy.overflow || !isJsonObject(copy.value))
        throw new Error('The MCP server returned no page, or one that is too long.');
      const { contents, _meta } = copy.value;
      if (!Array.isArray(contents)) throw new Error('The MCP server returned no page.');
      return { contents, ...metaIn(_meta) };
    },
  };
  through.set(connection, pages);
  return pages;
}
