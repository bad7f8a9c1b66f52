/**
 * The prompts and resources of all servers, as one list each. If several servers have the same
 * name, the first one counts.
 */
import { messageOf } from '../../values/errors/index.ts';
import type { JsonObject } from '../../values/json/index.ts';
import type { PassedList, PassedOn } from '../mcp/passed-on.ts';
import type { GatewayServer } from './gateway-server.ts';
import { foreignName } from './server-names.ts';
import type { OfferedEntry } from './server-offers.ts';

/** What the lists are made of. */
export interface PassedParts {
  /** In the order of precedence. */
  servers(): Iterable<GatewayServer>;
  note(line: string): void;
  scrub(text: string): string;
}

/** The lists that clients get. Their changes are announced. */
export interface PassedLists extends PassedOn {
  changed(kind: 'prompts' | 'resources'): void;
}

interface Owner {
  readonly server: GatewayServer;
  readonly key: string;
}

/** The last listing: what clients get and, by the name there, the server that has it. */
interface Listing {
  readonly shown: readonly JsonObject[];
  readonly owners: ReadonlyMap<string, Owner>;
}

/** Most entries of a list, for all servers together. */
const maxEntries = 1_000;

/** Longer than 60 lines, since its short functions share the listings. */
export function createPassedLists(parts: PassedParts): PassedLists {
  const last = new Map<PassedList, Listing>();
  /** Clients that ask at the same time share one listing. */
  const running = new Map<PassedList, Promise<Listing>>();
  const told = new Map<string, string>();
  const listeners = new Set<(kind: 'prompts' | 'resources') => void>();
  const exposes = (kind: 'prompts' | 'resources'): boolean => {
    for (const server of parts.servers()) if (server.exposes(kind)) return true;
    return false;
  };
  const listing = (which: PassedList): Promise<Listing> => {
    const open = running.get(which);
    if (open !== undefined) return open;
    const work = listAll(parts, which, told)
      .then((found) => {
        last.set(which, found);
        return found;
      })
      .finally(() => running.delete(which));
    running.set(which, work);
    return work;
  };
  const ownerOf = async (which: PassedList, name: string): Promise<Owner | undefined> => {
    const known = last.get(which)?.owners.get(name);
    // A server that an edit has removed is not asked.
    if (known !== undefined && [...parts.servers()].includes(known.server)) return known;
    return (await listing(which)).owners.get(name);
  };
  const scrubbed = (error: unknown): Error => new Error(parts.scrub(messageOf(error)));
  return {
    get prompts() {
      return exposes('prompts');
    },
    get resources() {
      return exposes('resources');
    },
    list: async (which) => (await listing(which)).shown,
    async prompt(name, args, signal) {
      const owner = await ownerOf('prompts', name);
      const params = { name: owner?.key, ...(args === undefined ? {} : { arguments: args }) };
      return owner?.server.ask('prompts/get', params, signal).catch((error: unknown) => {
        throw scrubbed(error);
      });
    },
    async resource(uri, signal) {
      const server =
        (await ownerOf('resources', uri))?.server ??
        ownerByTemplate(await listing('resourceTemplates'), uri);
      return server?.ask('resources/read', { uri }, signal).catch((error: unknown) => {
        throw scrubbed(error);
      });
    },
    onChanged(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    changed(kind) {
      for (const listener of listeners) listener(kind);
    },
  };
}

async function listAll(
  { servers, note, scrub }: PassedParts,
  which: PassedList,
  told: Map<string, string>,
): Promise<Listing> {
  const kind = which === 'prompts' ? 'prompts' : 'resources';
  const asked = [...servers()].filter((server) => server.exposes(kind));
  const found = await Promise.all(
    asked.map(async (server): Promise<readonly OfferedEntry[]> => {
      const about = `${server.name} ${which}`;
      try {
        const entries = await server.offers(which);
        told.delete(about);
        return entries;
      } catch (error) {
        const why = scrub(messageOf(error));
        // Reported once, because a client may ask again and again.
        if (told.get(about) !== why) note(`warning: server \`${server.name}\`: ${why}`);
        told.set(about, why);
        return [];
      }
    }),
  );
  const shown: JsonObject[] = [];
  const owners = new Map<string, Owner>();
  for (const [index, entries] of found.entries())
    for (const { key, shown: entry } of entries) {
      const name = which === 'prompts' ? (entry.name as string) : key;
      const server = asked[index] as GatewayServer;
      const isForeign = which === 'prompts' && foreignName(server, servers(), name) !== undefined;
      if (isForeign || owners.has(name) || owners.size >= maxEntries) continue;
      owners.set(name, { server, key });
      shown.push(entry);
    }
  return { shown, owners };
}

/** The first server with a template that begins like the address. */
function ownerByTemplate({ owners }: Listing, uri: string): GatewayServer | undefined {
  for (const [template, { server }] of owners) {
    const start = template.split('{', 1)[0] as string;
    if (start !== '' && start !== template && uri.startsWith(start)) return server;
  }
  return undefined;
}
