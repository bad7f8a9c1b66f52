/**
 * The agent's own tools, as tools of the session. A tool is registered when the agent first uses
 * it. If the host has registered a tool under its name, that one is used.
 */
import { resolve } from 'node:path';
import { isMisuseError, type ToolSession } from '../../core.ts';
import { inspectSession } from '../../extend.ts';
import { agentTool, mcpNames, mcpTool } from '../agents/agent-tools.ts';
import { claudeCodeTools } from '../agents/claude-code/tools.ts';
import type { Place } from '../agents/place.ts';

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
