/**
 * Messages of streams, kept for a while so that a client which was cut off can fetch what it
 * missed.
 */
import { randomBytes } from 'node:crypto';
import type { EventStore } from '@modelcontextprotocol/server';
import type { McpEventStore } from './options.ts';

type Message = Parameters<EventStore['storeEvent']>[1];

interface Kept {
  readonly stream: string;
  readonly message: Message;
  readonly chars: number;
  readonly at: number;
}

/** One MCP session's messages, oldest first. */
interface Shelf {
  readonly events: Map<string, Kept>;
  chars: number;
  count: number;
}

const keptMs = 300_000;
const shelfEvents = 1_000;
const shelfChars = 4_000_000;
const allChars = 64_000_000;

/** A store in memory, and what forgets a MCP session's part of it. */
export interface MemoryEvents {
  /** The store of one MCP session. */
  open(sessionId: string): EventStore;
  forget(sessionId: string): void;
}

/** Bounded in time, in messages and in characters, by MCP session and in all. */
export function memoryEvents(now: () => number = () => performance.now()): MemoryEvents {
  // The session that has stored last stands last.
  const shelves = new Map<string, Shelf>();
  let chars = 0;
  const drop = (shelf: Shelf): void => {
    const oldest = shelf.events.entries().next().value;
    if (oldest === undefined) return;
    shelf.events.delete(oldest[0]);
    shelf.chars -= oldest[1].chars;
    chars -= oldest[1].chars;
  };
  const trim = (shelf: Shelf): void => {
    const oldest = (): Kept | undefined => shelf.events.values().next().value;
    // The last one stays whatever its size: it is the answer that somebody waits for.
    while (
      shelf.events.size > 1 &&
      (shelf.events.size > shelfEvents ||
        shelf.chars > shelfChars ||
        (oldest()?.at ?? 0) < now() - keptMs)
    )
      drop(shelf);
    for (const other of shelves.values()) {
      while (chars > allChars && other.events.size > (other === shelf ? 1 : 0)) drop(other);
      if (chars <= allChars) break;
    }
  };
  return {
    open(sessionId) {
      const shelf: Shelf = { events: new Map(), chars: 0, count: 0 };
      // No event of one process, or of one life of a session, is taken for another's.
      const mark = randomBytes(6).toString('hex');
      shelves.set(sessionId, shelf);
      return {
        async storeEvent(stream, message) {
          const id = `${mark}-${++shelf.count}`;
          const size = JSON.stringify(message).length;
          shelf.events.set(id, { stream, message, chars: size, at: now() });
          shelf.chars += size;
          chars += size;
          if (shelves.delete(sessionId)) shelves.set(sessionId, shelf);
          trim(shelf);
          return id;
        },
        getStreamIdForEventId: async (id) => shelf.events.get(id)?.stream,
        async replayEventsAfter(lastEventId, { send }) {
          const from = shelf.events.get(lastEventId);
          if (from === undefined) throw new Error('The event is not known.');
          let past = false;
          const missed: [string, Message][] = [];
          for (const [id, { stream, message }] of shelf.events) {
            if (past && stream === from.stream && 'jsonrpc' in message) missed.push([id, message]);
            past ||= id === lastEventId;
          }
          // All at once: what is stored from here on goes to the stream itself.
          await Promise.all(missed.map(([id, message]) => send(id, message)));
          return from.stream;
        },
      };
    },
    forget(sessionId) {
      const shelf = shelves.get(sessionId);
      if (shelf === undefined) return;
      shelves.delete(sessionId);
      chars -= shelf.chars;
      shelf.events.clear();
    },
  };
}

/**
 * One MCP session's part of a host's store: another session's events do not exist for it, and a
 * store that fails costs the resume, not the answer.
 */
export function scopedEvents(
  store: McpEventStore,
  sessionId: string,
  report: (error: unknown) => void,
): EventStore {
  const port = store as unknown as EventStore;
  const prefix = `${sessionId}:`;
  const streamOf = async (eventId: string): Promise<string | undefined> => {
    const known =
      port.getStreamIdForEventId === undefined
        ? await port.replayEventsAfter(eventId, { send: async () => {} })
        : await port.getStreamIdForEventId(eventId);
    return known?.startsWith(prefix) === true ? known.slice(prefix.length) : undefined;
  };
  return {
    async storeEvent(stream, message) {
      try {
        return await port.storeEvent(prefix + stream, message);
      } catch (error) {
        report(error);
        return '';
      }
    },
    async getStreamIdForEventId(eventId) {
      try {
        return await streamOf(eventId);
      } catch (error) {
        report(error);
        return undefined;
      }
    },
    async replayEventsAfter(lastEventId, { send }) {
      const stream = await streamOf(lastEventId);
      if (stream === undefined) throw new Error('The event is not known.');
      // What primes a stream has no message in it.
      await port.replayEventsAfter(lastEventId, {
        send: async (id, message) => ('jsonrpc' in message ? send(id, message) : undefined),
      });
      return stream;
    },
  };
}
