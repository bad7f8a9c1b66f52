/**
 * Answers that clients have not read yet. Each may wait for a limited time, and together they may
 * hold a limited number of bytes.
 */
import type { ServerResponse } from 'node:http';

/** Answers and streams that wait for their clients. */
export interface UnreadAnswers {
  /** Watches an answer that was written in one piece, until it was sent. */
  add(outgoing: ServerResponse): void;
  /** Counts the waiting bytes of a stream until `release`. */
  watch(outgoing: ServerResponse): void;
  release(outgoing: ServerResponse): void;
}

/** Milliseconds without progress after which an unread answer is destroyed. */
const unreadMs = 30_000;
const fewBytes = 65_536;
/** Most bytes that wait for all clients together. */
const maxBytesOfAll = 256 * 1_048_576;

/**
 * Starts with no answers. When the limit is exceeded, the answers that have waited longest are
 * destroyed.
 */
export function createUnreadAnswers(maxBytes = maxBytesOfAll): UnreadAnswers {
  // Keys are in insertion order, so the oldest comes first.
  const waiting = new Map<ServerResponse, number>();
  let bytes = 0;
  const release = (outgoing: ServerResponse): void => {
    bytes -= waiting.get(outgoing) ?? 0;
    waiting.delete(outgoing);
  };
  const hold = (outgoing: ServerResponse): void => {
    const size = outgoing.writableLength;
    waiting.set(outgoing, size);
    bytes += size;
    for (const [oldest] of waiting) {
      if (bytes <= maxBytes) return;
      release(oldest);
      oldest.destroy();
    }
  };
  return {
    add(outgoing) {
      if (outgoing.writableLength <= fewBytes) return;
      outgoing.once('close', () => release(outgoing));
      outgoing.setTimeout(unreadMs, () => outgoing.destroy());
      hold(outgoing);
    },
    watch: hold,
    release,
  };
}
