/** Messages of streams, kept for a while so that a disconnected client can fetch what it missed. */
import { randomBytes } from 'node:crypto';
import type { EventStore } from '@modelcontextprotocol/server';
import pTimeout from 'p-timeout';
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

/** All messages that are kept. */
interface Memory {
  readonly now: () => number;
  /** By MCP session. The session that has stored last is last. */
  readonly shelves: Map<string, Shelf>;
  /** In all shelves together. */
  chars: number;
}

const keptMs = 300_000;
const shelfEvents = 1_000;
const shelfChars = 4_000_000;
const allChars = 64_000_000;
/** Milliseconds that a host's store may take. Answers wait for it. */
const storeMs = 10_000;

/** A store in memory for all MCP sessions. */
export interface MemoryEvents {
  /** The store of one MCP session. */
  open(sessionId: string): EventStore;
  /** Drops the messages of one MCP session. */
  forget(sessionId: string): void;
}

/** The store is bounded in time, in messages and in characters, for each MCP session and in all. */
export function memoryEvents(now: () => number = () => performance.now()): MemoryEvents {
  const memory: Memory = { now, shelves: new Map(), chars: 0 };
  return {
    open(sessionId) {
      const shelf: Shelf = { events: new Map(), chars: 0, count: 0 };
      memory.shelves.set(sessionId, shelf);
      return storeOn(memory, sessionId, shelf);
    },
    forget(sessionId) {
      const shelf = memory.shelves.get(sessionId);
      if (shelf === undefined) return;
      memory.shelves.delete(sessionId);
      memory.chars -= shelf.chars;
      shelf.events.clear();
    },
  };
}

function storeOn(memory: Memory, sessionId: string, shelf: Shelf): EventStore {
  // Keeps the events of two processes, or of two lives of a session, apart.
  const mark = randomBytes(6).toString('hex');
  return {
    async storeEvent(stream, message) {
      const { shelves, now } = memory;
      const id = `${mark}-${++shelf.count}`;
      const size = JSON.stringify(message).length;
      shelf.events.set(id, { stream, message, chars: size, at: now() });
      shelf.chars += size;
      memory.chars += size;
      if (shelves.delete(sessionId)) shelves.set(sessionId, shelf);
      trim(memory, shelf);
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
      // All are sent at once, because everything that is stored from here on goes to the stream
      // itself.
      await Promise.all(missed.map(([id, message]) => send(id, message)));
      return from.stream;
    },
  };
}

/** Drops the oldest messages until the bounds hold again. */
function trim(memory: Memory, shelf: Shelf): void {
  const oldest = (): Kept | undefined => shelf.events.values().next().value;
  // The last message stays whatever its size: it is the answer that a client is waiting for.
  while (
    shelf.events.size > 1 &&
    (shelf.events.size > shelfEvents ||
      shelf.chars > shelfChars ||
      (oldest()?.at ?? 0) < memory.now() - keptMs)
  )
    drop(memory, shelf);
  for (const other of memory.shelves.values()) {
    while (memory.chars > allChars && other.events.size > (other === shelf ? 1 : 0))
      drop(memory, other);
    if (memory.chars <= allChars) break;
  }
}

function drop(memory: Memory, shelf: Shelf): void {
  const oldest = shelf.events.entries().next().value;
  if (oldest === undefined) return;
  shelf.events.delete(oldest[0]);
  shelf.chars -= oldest[1].chars;
  memory.chars -= oldest[1].chars;
}

/**
 * One MCP session's part of a store. It does not see the events of other sessions. If the store
 * fails or never answers, a stream cannot be resumed, but answers still arrive.
 * @param prefix of the names of its streams
 */
export function scopedEvents(
  store: McpEventStore,
  prefix: string,
  report: (error: unknown) => void,
): EventStore {
  const port = store as EventStore;
  const streamOf = async (eventId: string): Promise<string | undefined> => {
    const known = await inTime(
      port.getStreamIdForEventId === undefined
        ? port.replayEventsAfter(eventId, { send: async () => {} })
        : port.getStreamIdForEventId(eventId),
    );
    return known?.startsWith(prefix) === true ? known.slice(prefix.length) : undefined;
  };
  return {
    async storeEvent(stream, message) {
      try {
        return await inTime(port.storeEvent(prefix + stream, message));
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
      let isOver = false;
      try {
        await inTime(
          port.replayEventsAfter(lastEventId, {
            // The event that opens a stream carries no message.
            send: async (id, message) =>
              !isOver && 'jsonrpc' in message ? send(id, message) : undefined,
          }),
        );
      } finally {
        isOver = true;
      }
      return stream;
    },
  };
}

/** Rejects if a store takes too long. */
export function inTime<T>(answer: T | Promise<T>): Promise<T> {
  return pTimeout(Promise.resolve(answer), {
    milliseconds: storeMs,
    message: 'The event store did not answer in time.',
  });
}
