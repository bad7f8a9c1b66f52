/** Opens live sessions, and keeps their tools up to date with the documents in the store. */
import type { SessionDocument } from '../ports/documents.ts';
import { leaving, sessionNotFound } from '../relay-error.ts';
import { createRelayedTools } from '../tools/relayed-tools.ts';
import { readTools } from '../tools/tools-document.ts';
import { announceApprovals } from './approval-log.ts';
import { type LiveEntry, type LiveSession, newEntry } from './live-session.ts';
import { closeLive, makeRoom } from './live-session-close.ts';
import type { LiveSessionParts } from './live-session-parts.ts';
import { announceProgress } from './progress-wakes.ts';
import { governedSessionOptions } from './session-registry.ts';

/**
 * Gets the session of a document and opens it if necessary. Its tools are at least as new as the
 * document requires.
 */
export async function getLive(
  parts: LiveSessionParts,
  document: SessionDocument,
): Promise<LiveSession> {
  const { entries } = parts.state;
  const { code, toolsRevision } = document;
  for (;;) {
    if (parts.state.ended) throw leaving();
    const opening = entries.get(code) ?? beginOpening(parts, document);
    const entry = await opening;
    // The session must not be closed to free memory while its tools are read.
    const release = entry.retain();
    try {
      if (entry.revision < toolsRevision) await follow(parts, entry, toolsRevision);
    } finally {
      release();
    }
    if (entries.get(code) === opening) return entry;
    if (entry.over !== undefined) throw entry.over;
  }
}

function beginOpening(parts: LiveSessionParts, document: SessionDocument): Promise<LiveEntry> {
  const { entries } = parts.state;
  const { code } = document;
  const opening = open(parts, document);
  entries.set(code, opening);
  opening.catch(() => {
    if (entries.get(code) === opening) entries.delete(code);
  });
  return opening;
}

async function open(parts: LiveSessionParts, document: SessionDocument): Promise<LiveEntry> {
  const { options, settings, hub, calls, registry } = parts;
  const { code } = document;
  const session = registry.createSession(governedSessionOptions(options, code));
  const tools = createRelayedTools({
    code,
    session,
    requestTimeoutMs: settings.requestTimeoutMs,
    logger: settings.logger,
    run: (input, context, idempotent) => calls.run(code, input, context, idempotent),
  });
  const entry = newEntry(document, session, tools);
  announceApprovals(session, code, settings, hub);
  announceProgress(session, code, hub);
  try {
    entry.stop = await hub.watch(code, (wake) => {
      // A client that only listens, such as an MCP client, must get the change too.
      if (wake === 'tools' || wake === undefined)
        follow(parts, entry, Number.POSITIVE_INFINITY).catch(() => {});
      if (wake === 'closed') void closeLive(parts, code, sessionNotFound());
    });
  } catch (error) {
    await session.close();
    throw error;
  }
  parts.state.alive.set(code, entry);
  return entry;
}

/** Updates the tools to a revision, once earlier updates have finished. */
function follow(parts: LiveSessionParts, entry: LiveEntry, wanted: number): Promise<void> {
  entry.syncing = entry.syncing.catch(() => {}).then(() => sync(parts, entry, wanted));
  return entry.syncing;
}

async function sync(parts: LiveSessionParts, entry: LiveEntry, wanted: number): Promise<void> {
  if (entry.revision >= wanted) return;
  const found = await readTools(parts.settings.store, entry.code);
  if (found === undefined || found.document.revision <= entry.revision) return;
  const { document } = found;
  await entry.tools.show(document);
  entry.revision = document.revision;
  entry.chars = entry.tools.chars;
  makeRoom(parts).catch(() => {});
}
