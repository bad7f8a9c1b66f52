/** The session's tools, by the names that the agent uses for them. */
import type { Surface, ToolSession } from '../../core.ts';
import { plainDialect } from '../anthropic/dialects.ts';
import { type Dialect, type Listing, listingOf, type ShownTool } from '../shared/listing.ts';

/** The server of a tool, as the SDK reports it. Claude Code before 2.1.220 does not. */
export interface Provenance {
  readonly name?: unknown;
  readonly source?: unknown;
}

/** The session's tools as the agent sees them. */
export interface OwnTools {
  /** The name of their server. */
  readonly server: string;
  /** The agent's prefix of their names. */
  readonly prefix: string;
  readonly surface: Surface;
  /** The tools that are effective now. */
  shown(): readonly ShownTool[];
  /** The session's name of a tool that the server was asked for. */
  nameOf(shown: string): string;
  /** Whether a tool that the agent names is one of these. */
  includes(tool: string, provenance: Provenance | undefined): boolean;
}

/**
 * The API takes names of up to 64 characters, with the prefix. By the length of the server's name.
 */
const dialects: readonly Dialect[] = Array.from({ length: 33 }, (_, length) =>
  Object.freeze({ ...plainDialect, names: { maxLength: 64 - 'mcp____'.length - length } }),
);

/** @param server 1 to 32 characters */
export function ownTools(session: ToolSession, server: string): OwnTools {
  const dialect = dialects[server.length] as Dialect;
  const prefix = `mcp__${server}__`;
  const listing = (): Listing => listingOf(session, dialect);
  return {
    server,
    prefix,
    surface: {
      name: 'claude-agent',
      shownName: (name) => prefix + listing().shownName(name),
    },
    shown: () => listing().shown,
    nameOf: (shown) => listing().known.get(shown) ?? shown,
    includes(tool, provenance) {
      if (!tool.startsWith(prefix)) return false;
      // A server of the same name may be in the user's or the project's settings.
      if (provenance !== undefined && (provenance.source !== 'sdk' || provenance.name !== server))
        return false;
      return listing().known.has(tool.slice(prefix.length));
    },
  };
}
