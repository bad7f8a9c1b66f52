/** Describes the tools that a session shows, without keeping the session open on this node. */
import type { HostTool, ToolSession } from '../../../core.ts';
import { nextTurn } from '../../../values/limits/next-turn.ts';
import type { SessionDocument, ToolsDocument } from '../ports/documents.ts';
import { leaving } from '../relay-error.ts';
import { createRelayedTools } from '../tools/relayed-tools.ts';
import { readTools } from '../tools/tools-document.ts';
import { getLive } from './live-session-open.ts';
import type { LiveSessionParts } from './live-session-parts.ts';
import { governedSessionOptions } from './session-registry.ts';

/** If a session has more tools than this, other requests get a turn between the steps. */
const manyTools = 50;

/** The tools that a session shows. */
export interface DescribedSession {
  /** The effective tools, in their order. */
  readonly tools: readonly HostTool[];
  /** Changes when the listed tools change, like `LiveSessions.listed`. */
  readonly listing: string;
  /** The registration of the application. */
  readonly registered: ToolsDocument | undefined;
}

/**
 * Describes a session. If the session is not open on this node, one is opened and closed again,
 * because only a session knows which tools its profile and rules allow. If it stayed open, it would
 * take a hundred kilobytes for ten minutes.
 */
export async function describeLive(
  parts: LiveSessionParts,
  document: SessionDocument,
): Promise<DescribedSession> {
  const { options, settings, registry, state } = parts;
  const { code } = document;
  if (state.ended) throw leaving();
  if (state.entries.has(code)) {
    const entry = await getLive(parts, document);
    const release = entry.retain();
    try {
      const found = await readTools(settings.store, code);
      return await shownBy(entry.session, found?.document);
    } finally {
      release();
    }
  }
  const found = await readTools(settings.store, code);
  const session = registry.createSession(governedSessionOptions(options, code));
  try {
    const relayed = createRelayedTools({
      code,
      session,
      requestTimeoutMs: settings.requestTimeoutMs,
      logger: settings.logger,
      run: () => Promise.reject(new Error('A description runs no calls.')),
    });
    if (found !== undefined) await relayed.show(found.document);
    return await shownBy(session, found?.document);
  } finally {
    await session.close();
  }
}

/** Reads the tools of a session. If there are many, other requests get a turn between the steps. */
async function shownBy(
  session: ToolSession,
  registered: ToolsDocument | undefined,
): Promise<DescribedSession> {
  if ((registered?.definitions.length ?? 0) > manyTools) {
    await nextTurn();
    // This step finds out which tools are shown, which is half of the work.
    session.effectiveTools();
    await nextTurn();
  }
  return { tools: session.tools(), listing: session.effectiveTools().hash, registered };
}
