/** Which server of a gateway a name belongs to, and a server's tools in the registry. */

import type { AnyTool, HostToolRegistry, ToolRegistration } from '../../core.ts';
import { inspectRegistry } from '../../extend.ts';
import { messageOf } from '../../values/errors/index.ts';
import { nameSkeleton } from '../../values/text/names.ts';
import type { ImportedMcpTools } from '../mcp/client/imported-tools.ts';
import { listingFaults } from './listing-faults.ts';
import type { GatewayPorts } from './ports.ts';
import type { ServerStatus } from './server-status.ts';

/** A server, as far as its names go. */
export interface NamingServer {
  readonly name: string;
  readonly prefix: string;
  /** Gives up a name. */
  release(tool: string): void;
}

/**
 * Why a server may not have a name; undefined if it may. A name belongs to the server whose prefix
 * is the longest one that it begins with, also if that server is not running. So a server with a
 * short prefix cannot take the place of another one by starting first. Clients see `files.read` as
 * `files_read`, so that name belongs to `files.` as well.
 */
export function foreignName(
  own: NamingServer,
  servers: Iterable<NamingServer>,
  tool: string,
): string | undefined {
  const skeleton = nameSkeleton(tool);
  const begins = (prefix: string): boolean => skeleton.startsWith(nameSkeleton(prefix));
  const isShownAsItIs = shownForm(tool) === tool;
  for (const { name, prefix } of servers)
    if (
      prefix.length > own.prefix.length &&
      (begins(prefix) || (isShownAsItIs && begins(shownForm(prefix))))
    )
      return `Names that begin with \`${prefix}\` belong to the server \`${name}\`.`;
  return undefined;
}

/** How clients see a name, unless another one looks the same. */
function shownForm(name: string): string {
  return name.replace(/[^\w-]/gu, '_');
}

/** Of servers with one prefix, the first one has a name that several offer. */
export function claimName(own: NamingServer, servers: Iterable<NamingServer>, tool: string): void {
  let isLater = false;
  for (const server of servers) {
    if (isLater && server.prefix === own.prefix) server.release(tool);
    if (server.name === own.name) isLater = true;
  }
}

/** A server's names. */
export interface NamesState {
  readonly registry: HostToolRegistry<never>;
  /** The server's tools in the registry, by name. */
  readonly held: Map<string, ToolRegistration>;
  /** Why the server may not have a name. */
  foreign(tool: string): string | undefined;
  /** Called before a name is taken. */
  claim(tool: string): void;
  readonly name: string;
  readonly ports: Pick<GatewayPorts, 'note'>;
  /** Tools whose names it cannot have. */
  conflicts: ServerStatus['failed'];
  /** What was said about the tools that were listed last. */
  told: ReadonlySet<string>;
}

/** Takes the names of the last listing. Returns what was not said about it before. */
export function takeNames(state: NamesState, imported: ImportedMcpTools): readonly string[] {
  state.conflicts = registerTools(state, imported);
  const faults = listingFaults([...imported.failed, ...state.conflicts], imported.warnings);
  const unreported = faults.filter((fault) => !state.told.has(fault));
  state.told = new Set(faults);
  return unreported;
}

/** Gives up a name that another server has before this one. */
export function releaseName(state: NamesState, tool: string): void {
  const registration = state.held.get(tool);
  if (registration === undefined) return;
  registration.unregister();
  state.held.delete(tool);
  const fault = { name: tool, reason: 'An earlier server of the file has this name.' };
  state.conflicts = [...state.conflicts, fault];
  state.ports.note(`warning: server \`${state.name}\`: ${listingFaults([fault], [])[0]}`);
}

/** Brings the registry up to a listing. Returns the tools that it cannot hold. */
function registerTools(
  { registry, held, foreign, claim }: NamesState,
  imported: ImportedMcpTools,
): ServerStatus['failed'] {
  const now = new Map(imported.tools.map((tool) => [tool.name, tool]));
  const conflicts: { name: string; reason: string }[] = [];
  try {
    inspectRegistry(registry).change(() => {
      for (const [tool, registration] of held) {
        const isOffered = now.has(tool) || imported.found(tool) !== undefined;
        if (isOffered && foreign(tool) === undefined) continue;
        registration.unregister();
        held.delete(tool);
      }
      for (const tool of now.values()) {
        if (held.has(tool.name)) continue;
        const reason = foreign(tool.name);
        if (reason !== undefined) {
          conflicts.push({ name: tool.name, reason });
          continue;
        }
        claim(tool.name);
        try {
          held.set(tool.name, registry.register(tool as AnyTool));
        } catch (error) {
          conflicts.push({ name: tool.name, reason: messageOf(error) });
        }
      }
    });
  } catch {
    // The registry was closed, so its tools are gone.
  }
  return conflicts;
}
