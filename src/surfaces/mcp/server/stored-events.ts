/** The messages of the streams of MCP sessions, in a store. */
import { randomBytes } from 'node:crypto';
import type { EventStore } from '@modelcontextprotocol/server';
import type { Store } from '../../../extend.ts';
import { inTime } from './events.ts';
import { extend, open, spaceOf } from './stored-sessions.ts';

/** A session that is used is kept longer at most this often, in milliseconds. */
const extendMs = 3_600_000;
/** How many milliseconds a message is kept, and how many of the newest of a session. */
const messageMs = 300_000;
const messages = 1_000;
/** Milliseconds after which a stream is looked after without a wake-up. */
const lookMs = 10_000;

const log = 'events';
/** The stream of the protocol's package on which a server speaks unasked. */
const unasked = '_GET_stream';

type Message = Parameters<EventStore['storeEvent']>[1];

/** The messages of one session's streams. */
export interface StoredEvents extends EventStore {
  /**
   * Continues a stream after an event, if another process writes it: what it has missed, and what
   * comes, until its request is answered.
   * @param isOver whether a message is the last one
   */
  follow(
    lastEventId: string,
    isOver: (message: object) => boolean,
  ): Promise<ReadableStream<Uint8Array> | undefined>;
}

interface Events {
  readonly store: Store;
  readonly space: { readonly session: string };
  /** The streams of the last messages that this process has written, as many as are kept. */
  readonly own: Set<string>;
  /** When the session was last kept longer; undefined until it is known to exist. */
  extendedAt: number | undefined;
}

/** @param isNew whether the session begins here, and need not exist in the store yet */
export function storedEvents(store: Store, id: string, isNew: boolean): StoredEvents {
  const events: Events = {
    store,
    space: spaceOf(id),
    own: new Set(),
    extendedAt: isNew ? undefined : Number.NEGATIVE_INFINITY,
  };
  const streamOf = async (eventId: string): Promise<string | undefined> =>
    (await messagesOf(events, [eventId]))[0]?.stream;
  return {
    storeEvent: (stream, message) => storeEvent(events, stream, message),
    getStreamIdForEventId: streamOf,
    async replayEventsAfter(lastEventId, { send }) {
      const { stream, missed } = await missedAfter(events, lastEventId);
      for (const { eventId, message } of missed) await send(eventId, message);
      return stream;
    },
    async follow(lastEventId, isOver) {
      const stream = await inTime(streamOf(lastEventId));
      return stream === undefined || stream === unasked || events.own.has(stream)
        ? undefined
        : followed(events, stream, lastEventId, isOver);
    },
  };
}

async function storeEvent(events: Events, stream: string, message: Message): Promise<string> {
  const { store, space, own, extendedAt } = events;
  own.delete(stream);
  own.add(stream);
  // Each request has a stream, so that a long session would have ever more.
  if (own.size > messages) own.delete(own.values().next().value as string);
  const eventId = randomBytes(12).toString('base64url');
  const time = performance.now();
  const mustExtend = extendedAt !== undefined && time - extendedAt >= extendMs;
  const steps = [
    { op: 'append', log, value: `${eventId} ${stream}`, keep: messages },
    {
      op: 'set',
      key: `event ${eventId}`,
      value: JSON.stringify({ stream, message }),
      ttlMs: messageMs,
    },
    { op: 'publish', message: stream },
  ] as const satisfies readonly Store.Operation[];
  const first = extendedAt === undefined ? [open()] : mustExtend ? [extend()] : [];
  let kept = await store.apply(space, [...first, ...steps]);
  // Another message of this session was first.
  if (kept.results === undefined && extendedAt === undefined)
    kept = await store.apply(space, steps);
  if (kept.results === undefined) throw new Error('The MCP session is not in the store any more.');
  if (first.length > 0) events.extendedAt = time;
  const { dropped } = kept.results.at(-3) as Store.Results['append'];
  if (dropped.length > 0) void drop(events, dropped);
  return eventId;
}

/** The message that was kept is kept, whatever becomes of this. */
async function drop({ store, space }: Events, entries: readonly string[]): Promise<void> {
  const deletes = entries.map((old): Store.Delete => ({ op: 'delete', key: `event ${idIn(old)}` }));
  try {
    await store.apply(space, deletes);
  } catch {
    // They go by themselves after a while.
  }
}

interface Kept {
  readonly eventId: string;
  readonly stream: string;
  readonly message: Message;
}

/** Those that are still kept. */
async function messagesOf(
  { store, space }: Events,
  eventIds: readonly string[],
): Promise<readonly Kept[]> {
  if (eventIds.length === 0) return [];
  const keys = eventIds.map((eventId) => `event ${eventId}`);
  const found = (await store.apply(space, [{ op: 'get', keys }])).results?.[0] ?? [];
  return found.flatMap((document, index) =>
    document === undefined
      ? []
      : [
          {
            eventId: eventIds[index] as string,
            ...(JSON.parse(document.value) as Pick<Kept, 'stream' | 'message'>),
          },
        ],
  );
}

function idIn(entry: string): string {
  return entry.slice(0, entry.indexOf(' '));
}

/** @throws Error if the event is not known */
async function missedAfter(
  events: Events,
  lastEventId: string,
): Promise<{ readonly stream: string; readonly missed: readonly Kept[] }> {
  const { store, space } = events;
  const read = { op: 'read', log, after: 0, limit: messages } as const;
  const entries = (await store.apply(space, [read])).results?.[0].entries ?? [];
  const at = entries.findIndex(({ value }) => idIn(value) === lastEventId);
  if (at === -1) throw new Error('The event is not known.');
  const stream = (entries[at]?.value ?? '').slice(lastEventId.length + 1);
  const later = entries.slice(at + 1).filter(({ value }) => value.endsWith(` ${stream}`));
  const kept = await messagesOf(
    events,
    later.map(({ value }) => idIn(value)),
  );
  // The event that opens a stream carries no message.
  return { stream, missed: kept.filter(({ message }) => 'jsonrpc' in message) };
}

/** Ends once the request is answered, or once nothing has come for as long as messages are kept. */
function followed(
  events: Events,
  stream: string,
  lastEventId: string,
  isOver: (message: object) => boolean,
): ReadableStream<Uint8Array> {
  const { store, space } = events;
  let over = false;
  let wake = (): void => {};
  const follow = async (controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> => {
    const stop = await store.listen(space, (told) => {
      // The session has other streams, too.
      if (told === undefined || told === stream) wake();
    });
    let timer: ReturnType<typeof setTimeout> | undefined;
    try {
      let last = lastEventId;
      let cameAt = performance.now();
      while (!over && performance.now() - cameAt < messageMs) {
        const woken = new Promise<void>((resolve) => {
          wake = resolve;
          timer = setTimeout(resolve, lookMs);
        });
        for (const { eventId, message } of (await missedAfter(events, last)).missed) {
          if (over) break;
          controller.enqueue(eventText(eventId, message));
          [last, cameAt, over] = [eventId, performance.now(), isOver(message)];
        }
        if (!over) await woken;
        clearTimeout(timer);
      }
      controller.close();
    } finally {
      clearTimeout(timer);
      stop();
    }
  };
  return new ReadableStream({
    start(controller) {
      // The client comes again, and is answered then if the store is.
      follow(controller).catch((error: unknown) => {
        if (!over) controller.error(error);
      });
    },
    cancel() {
      over = true;
      wake();
    },
  });
}

function eventText(eventId: string, message: Message): Uint8Array {
  return new TextEncoder().encode(
    `event: message\nid: ${eventId}\ndata: ${JSON.stringify(message)}\n\n`,
  );
}
