/** Describes what a session shows, without keeping it open on this node. */
import type { HostTool, ToolSession } from '../../../index.ts';
import { nextTurn } from '../../../limits/next-turn.ts';
import type { SessionDocument, ToolsDocument } from '../ports/documents.ts';
import { leaving } from '../relay-error.ts';
import { createRelayedTools } from '../tools/relayed-tools.ts';
import { readTools } from '../tools/tools-document.ts';
import { getLive } from './live-session-open.ts';
import type { LiveSessionParts } from './live-session-parts.ts';
import { governedSessionOptions } from './session-registry.ts';

/** Tools above which other requests get their turn. */
const manyTools = 50;

/** What a session shows. */
export interface DescribedSession {
  /** The effective tools, in their order. */
  readonly tools: readonly HostTool[];
  /** Changes with what is listed, as `LiveSessions.listed` does. */
  readonly listing: string;
  /** What the application has registered. */
  readonly registered: ToolsDocument | undefined;
}

/**
 * Describes a session. One that is open here is asked. Otherwise a session is opened for this
 * reading alone, because only a session knows which tools profile and rules leave to it. Kept open,
 * it would take a hundred kilobytes for ten minutes.
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

/** Other requests get their turn between the steps if there are many tools. */
async function shownBy(
  session: ToolSession,
  registered: ToolsDocument | undefined,
): Promise<DescribedSession> {
  if ((registered?.definitions.length ?? 0) > manyTools) {
    await nextTurn();
    // Finds out which of them are shown, which is half of the work.
    session.effectiveTools();
    await nextTurn();
  }
  return { tools: session.tools(), listing: session.effectiveTools().hash, registered };
}
