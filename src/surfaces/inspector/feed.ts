/**
 * The streams that pages read. A page gets only as many lines as it has room for. While it does not
 * read, only the numbers of changed calls are kept for it. So a slow page, or one that is gone,
 * costs calls nothing.
 */
import { wireText } from '../../values/json/index.ts';
import type { CallLine, FeedMessage, InspectorState } from '../pages/inspector-wire.ts';
import type { CallLog } from './call-log.ts';

/** Most pages at once. */
const maxReaders = 16;
/** Most calls of one message. */
const maxOfMessage = 500;
/** Milliseconds between checks for changes, between states, and between signs of life. */
const [tickMs, stateMs, beatMs] = [100, 1_000, 15_000];

/** The sources of the streams. */
export interface FeedSource {
  readonly log: CallLog;
  readonly hello: FeedMessage;
  /** Milliseconds that never go back. */
  readonly monotonic: () => number;
  state(): Promise<InspectorState>;
}

/** Sends changes to pages. */
export interface Feed {
  /** A stream of JSON lines; undefined if there are too many already. */
  open(): ReadableStream<Uint8Array> | undefined;
  /** Records that something other than a call in the log may have changed. */
  changed(): void;
  /** Ends all streams. */
  close(): void;
}

/** One page. */
interface Reader {
  readonly changes: Set<number>;
  /** Wakes it. It then looks for changes itself. */
  wake: () => void;
  /** The number of the last state that it got. */
  has: number;
  lastAnnouncedAt: number;
  readonly end: () => void;
}

/** Longer than 60 lines, since its short functions share the readers and the current state. */
export function createFeed({ log, hello, monotonic, state }: FeedSource): Feed {
  const readers = new Set<Reader>();
  const encoder = new TextEncoder();
  const lineOf = (message: FeedMessage): string => `${wireText(message)}\n`;
  const current = { version: 0, at: Number.NEGATIVE_INFINITY, text: '' };
  let [dirty, reading] = [true, false];
  let timer: ReturnType<typeof setInterval> | undefined;

  const refresh = async (): Promise<void> => {
    [dirty, reading] = [false, true];
    try {
      const text = lineOf({ type: 'state', state: await state() });
      if (text === current.text) return;
      current.text = text;
      current.version++;
    } finally {
      reading = false;
      current.at = monotonic();
    }
  };
  const tick = (): void => {
    const now = monotonic();
    // Waits for a person or a store change without any event.
    const due = now - current.at >= (dirty ? stateMs : 2 * stateMs);
    if (due && !reading) void refresh().catch(() => {});
    for (const reader of readers)
      if (
        reader.changes.size > 0 ||
        reader.has !== current.version ||
        now - reader.lastAnnouncedAt >= beatMs
      )
        reader.wake();
  };
  const follow = (reader: Reader): void => {
    readers.add(reader);
    if (timer !== undefined) return;
    timer = setInterval(tick, tickMs);
    timer.unref?.();
  };
  const leave = (reader: Reader): void => {
    readers.delete(reader);
    if (readers.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };
  const next = (reader: Reader): string | undefined => {
    const lines: CallLine[] = [];
    for (const n of reader.changes) {
      if (lines.length === maxOfMessage) break;
      reader.changes.delete(n);
      const line = log.get(n)?.line;
      if (line !== undefined) lines.push(line);
    }
    if (lines.length > 0) return lineOf({ type: 'calls', calls: lines });
    if (reader.has !== current.version) {
      reader.has = current.version;
      return current.text;
    }
    return monotonic() - reader.lastAnnouncedAt >= beatMs ? lineOf({ type: 'beat' }) : undefined;
  };
  return {
    open() {
      if (readers.size >= maxReaders) return undefined;
      const followed = log.follow();
      let reader: Reader | undefined;
      return new ReadableStream<Uint8Array>(
        {
          start(controller) {
            const own: Reader = {
              changes: followed.changes,
              wake() {},
              has: 0,
              lastAnnouncedAt: monotonic(),
              end: () => {
                followed.stop();
                leave(own);
                own.wake();
                controller.close();
              },
            };
            reader = own;
            follow(own);
            controller.enqueue(encoder.encode(lineOf(hello)));
          },
          async pull(controller) {
            const own = reader as Reader;
            for (;;) {
              if (!readers.has(own)) return;
              const chunk = next(own);
              if (chunk !== undefined) {
                own.lastAnnouncedAt = monotonic();
                controller.enqueue(encoder.encode(chunk));
                return;
              }
              await new Promise<void>((resolve) => {
                own.wake = resolve;
              });
            }
          },
          cancel() {
            followed.stop();
            if (reader !== undefined) {
              leave(reader);
              reader.wake();
            }
          },
        },
        { highWaterMark: 1 },
      );
    },
    changed() {
      dirty = true;
    },
    close() {
      for (const reader of [...readers]) reader.end();
    },
  };
}
