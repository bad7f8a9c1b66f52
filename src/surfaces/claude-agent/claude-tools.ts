/** The tools of a Claude agent: its own, and those of the session. */
import { resolve } from 'node:path';
import { isMisuseError, type Surface, type ToolSession } from '../../core.ts';
import { inspectSession } from '../../extend.ts';
import { agentTool, mcpNames, mcpTool } from '../agents/agent-tools.ts';
import { claudeCodeTools } from '../agents/claude-code/tools.ts';
import type { Place } from '../agents/place.ts';
import { plainDialect } from '../anthropic/dialects.ts';
import { type Dialect, type Listing, listingOf, type ShownTool } from '../shared/listing.ts';

// The agent's own tools, as tools of the session. A tool is registered when the agent first uses
// it. If the host has registered a tool under its name, that one is used.

/** The agent's tools, and where they work. */
export interface BuiltInTools {
  /** Registers a tool, if it is known here and the session does not have it yet. */
  prepare(tool: string): void;
  /**
   * Sets the folder in which a call would run.
   * @returns forgets it
   */
  locate(callId: string, cwd: string): () => void;
}

/** A tool may run as long as the agent lets it. A call that never ends is forgotten after a day. */
const longestMs = 86_400_000;

export function builtInTools(
  session: ToolSession,
  { cwd: project, home }: { readonly cwd: string; readonly home: string },
): BuiltInTools {
  const folders = new Map<string, string>();
  const prepared = new Set<string>();
  const place = ({ callId }: { readonly callId: string }): Place => ({
    cwd: folders.get(callId) ?? project,
    project,
    home,
  });
  return {
    prepare(tool) {
      if (prepared.has(tool)) return;
      const row = claudeCodeTools.find(({ name }) => name === tool);
      const isMcp = row === undefined && mcpNames.test(tool);
      if (row === undefined && !isMcp) return;
      try {
        session.register(
          (row === undefined
            ? mcpTool(tool, longestMs)
            : agentTool(row, place, asksForOrigins(session), longestMs)) as never,
        );
      } catch (error) {
        // The session has a tool of this name, or of a similar one, or is closed.
        if (!isMisuseError(error)) throw error;
      }
      prepared.add(tool);
    },
    locate(callId, cwd) {
      folders.set(callId, resolve(project, cwd));
      return () => void folders.delete(callId);
    },
  };
}

/** Labels alone would begin a record of origins. */
function asksForOrigins(session: ToolSession): boolean {
  return inspectSession(session).remembersTexts;
}

// The session's tools, by the names that the agent uses for them.

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
