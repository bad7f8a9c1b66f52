/**
 * What clients have not read yet: each answer for a while, and all of a server together within a
 * bound.
 */
import type { ServerResponse } from 'node:http';

/** Answers, and streams, that wait for their clients. */
export interface UnreadAnswers {
  /** Looks after an answer that was sent whole. */
  add(outgoing: ServerResponse): void;
  /** Counts what waits of a stream, until `release` or its end. */
  watch(outgoing: ServerResponse): void;
  release(outgoing: ServerResponse): void;
}

/**
 * Milliseconds without progress after which an answer that its client does not read is given up.
 */
const unreadMs = 30_000;
const fewBytes = 65_536;
/** Most bytes that wait for all clients together. */
const mostBytesOfAll = 256 * 1_048_576;

/** None yet. Over the bound, those that have waited longest are given up. */
export function createUnreadAnswers(mostBytes = mostBytesOfAll): UnreadAnswers {
  // Oldest first.
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
      if (bytes <= mostBytes) return;
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
