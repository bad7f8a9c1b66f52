/** Closes live sessions: on request, when they are idle or expired, and to free memory. */
import { type RelayError, sessionNotFound } from '../relay-error.ts';
import { faultOf } from '../report.ts';
import { isUnused, type LiveEntry, type LiveSessionParts } from './live-session.ts';
import { endOfSession } from './session-document.ts';

/**
 * Milliseconds without use after which a session is closed on this node. The store keeps everything
 * that a later use needs, but grants of approvals end with the session.
 */
const idleMs = 600_000;
/**
 * Milliseconds after its last use during which a session is not closed to free memory. Its grants,
 * windows and loop guard would end with it.
 */
const freshMs = 60_000;

/** Closes a session of this node. @param over why it must not be opened again */
export async function closeLive(
  { settings: { logger }, state: { entries, alive } }: LiveSessionParts,
  code: string,
  over?: RelayError,
): Promise<void> {
  const opening = entries.get(code);
  entries.delete(code);
  const entry = await opening?.catch(() => undefined);
  if (entry === undefined) return;
  entry.over = over;
  forget(alive, entry);
  entry.stop();
  for (const run of entry.closers.splice(0)) {
    try {
      await run();
    } catch (error) {
      logger.warn({ err: faultOf(error) }, 'relay: closing a session: a clean-up failed');
    }
  }
  await entry.session.close();
}

/** Closes unused sessions, longest unused first, while definitions take too much memory. */
export async function makeRoom(parts: LiveSessionParts): Promise<void> {
  const { alive } = parts.state;
  const { maxChars } = parts;
  let chars = 0;
  for (const entry of alive.values()) chars += entry.chars;
  if (chars <= maxChars) return;
  for (const entry of [...alive.values()].sort((one, other) => one.usedAt - other.usedAt)) {
    if (chars <= maxChars) return;
    if (entry.chars === 0 || !isUnused(entry, freshMs) || !forget(alive, entry)) continue;
    chars -= entry.chars;
    await closeLive(parts, entry.code);
  }
}

/**
 * Removes a session from the open ones. False if it has already begun to close. Another session of
 * the same code may be open by now.
 */
function forget(alive: Map<string, LiveEntry>, entry: LiveEntry): boolean {
  return alive.get(entry.code) === entry && alive.delete(entry.code);
}

/**
 * Closes sessions that have expired or are idle. While an earlier call waits for the store, it does
 * nothing.
 */
export async function closeIdle(parts: LiveSessionParts): Promise<void> {
  const { state } = parts;
  if (state.sweeping) return;
  state.sweeping = true;
  try {
    for (const entry of state.alive.values()) {
      const { code } = entry;
      if (await hasExpired(parts, entry)) await closeLive(parts, code, sessionNotFound());
      else if (isUnused(entry, idleMs)) await closeLive(parts, code);
    }
  } finally {
    state.sweeping = false;
  }
}

/**
 * Whether a session has expired. Its end is read again, because the host may have extended it.
 * While the store cannot be reached, the session counts as open.
 */
async function hasExpired(
  { settings: { store, now } }: LiveSessionParts,
  entry: LiveEntry,
): Promise<boolean> {
  if (entry.expiresAt > now()) return false;
  try {
    entry.expiresAt = (await endOfSession(store, entry.code)) ?? entry.expiresAt;
  } catch {
    return false;
  }
  return entry.expiresAt <= now();
}
