/** Bounds on what a server can cause: answers, connections and listings. */
import type { Client, ReconnectionScheduler, Transport } from '@modelcontextprotocol/client';
import type { ConnectedMcpClient } from './sdk.ts';

// Bounds on what a server can make a connection do: answer its requests and reopen its streams.

/** Most characters of the id of a server's request, because the answer repeats it. */
const maxIdChars = 128;
/** Most answers in transit at once. */
const maxAnswers = 16;

/**
 * Answers a server's requests only as fast as the server takes the answers. A request with a long
 * id gets no answer, and neither does one that comes while 16 answers are in transit. This is done
 * where answers leave, so it applies from the first message of the handshake.
 */
export function boundAnswers(transport: Transport): void {
  const send = transport.send.bind(transport);
  let unanswered = 0;
  transport.send = async (message, options) => {
    if (Array.isArray(message) || 'method' in message) return send(message, options);
    if (
      (typeof message.id === 'string' && message.id.length > maxIdChars) ||
      unanswered >= maxAnswers
    )
      return;
    unanswered++;
    try {
      await send(message, options);
    } finally {
      unanswered--;
    }
  };
}

/** Put before a method's name, so that the SDK has no schema for it. */
const unread = 'host-tools/';

/**
 * A client whose requests resolve with exactly what the server sent. In the 2026 era the SDK checks
 * each result with its method's schema, whatever schema the request was given, and describes each
 * wrong part: 20 000 wrong parts make megabytes of text. So the SDK is given a method name that it
 * does not know, which is corrected where the request leaves.
 */
export function askUnread(client: Client, transport: Transport): ConnectedMcpClient {
  const send = transport.send.bind(transport);
  transport.send = (message, options) =>
    send(
      !Array.isArray(message) && 'method' in message && message.method.startsWith(unread)
        ? { ...message, method: message.method.slice(unread.length) }
        : message,
      options,
    );
  const request: ConnectedMcpClient['request'] = ({ method, params }, schema, options) =>
    client.request(
      { method: unread + method, ...(params === undefined ? {} : { params }) },
      schema,
      options,
    );
  return Object.create(client, { request: { value: request } });
}

const firstPauseMs = 500;
const longestPauseMs = 5_000;
/** The longest pause that a server can ask for. A timer treats far longer times as zero. */
const longestWishMs = 30_000;
/** After this long without a reconnection, the pause is short again. */
const quietMs = 30_000;

/** Decides when streams are reopened. */
export interface Reconnections {
  /** For the SDK's transport. */
  readonly schedule: ReconnectionScheduler;
  /** Cancels all reconnections that are due. */
  clear(): void;
}

/**
 * Reopens streams that keep ending after a growing pause, from half a second to 5 s, whatever
 * `retry` the server sends. If it asks for a longer pause, it gets one of up to 30 s.
 */
export function createReconnections(clock: { now(): number }, later: Later): Reconnections {
  const pending = new Set<() => void>();
  let pauseMs = firstPauseMs;
  let lastAt = Number.NEGATIVE_INFINITY;
  const clear = (): void => {
    for (const cancel of pending) cancel();
    pending.clear();
  };
  return {
    schedule(reconnect, wish) {
      const now = clock.now();
      if (now - lastAt >= quietMs + pauseMs) pauseMs = firstPauseMs;
      lastAt = now;
      const wait = Math.min(longestWishMs, Math.max(pauseMs, wish));
      pauseMs = Math.min(longestPauseMs, 2 * pauseMs);
      const cancel = later(() => {
        pending.delete(cancel);
        reconnect();
      }, wait);
      pending.add(cancel);
      // The transport keeps only the last one and calls it when it closes, which must end them all.
      return clear;
    },
    clear,
  };
}

// Listing a server's tools again: one listing at a time, and ever more rarely for a server that
// keeps saying that its tools changed.

/** Runs something after some milliseconds. The returned function cancels it. */
export type Later = (run: () => void, ms: number) => () => void;

/** What relisting needs. */
export interface RelistingOptions {
  /** Lists once. */
  readonly list: () => Promise<void>;
  readonly clock: { now(): number };
  readonly later: Later;
}

/** Listings that the host asks for, and those that the server's notices cause. */
export interface Relisting {
  /**
   * Lists, and lists once more if the tools changed meanwhile. Joins a listing that is under way.
   * Rejects as `list` does.
   */
  refresh(): Promise<void>;
  /**
   * The server says that its tools changed. Lists now, or when the pause is over. Never fails. A
   * listing that fails changes nothing.
   */
  changed(): void;
  /** Stops the listings that notices cause. */
  close(): void;
}

const firstRelistMs = 1_000;
const longestRelistMs = 30_000;
/**
 * Most listings in a row. A server that reports a change during each of them waits for the pause.
 */
const maxRounds = 2;

interface State extends RelistingOptions {
  running: Promise<void> | undefined;
  /** The tools changed after the last listing began. */
  stale: boolean;
  /** The running listing was caused by a notice. */
  bySelf: boolean;
  pauseMs: number;
  /** By the clock. */
  mayListAt: number;
  /** Cancels the listing that is due later. */
  cancel: (() => void) | undefined;
  closed: boolean;
}

/** Makes a relisting without listing anything yet. */
export function createRelisting(options: RelistingOptions): Relisting {
  const state: State = {
    ...options,
    running: undefined,
    stale: false,
    bySelf: false,
    pauseMs: firstRelistMs,
    mayListAt: Number.NEGATIVE_INFINITY,
    cancel: undefined,
    closed: false,
  };
  return {
    refresh: () => refresh(state),
    changed() {
      state.stale = true;
      listWhenDue(state);
    },
    close() {
      state.closed = true;
      state.cancel?.();
    },
  };
}

function refresh(state: State): Promise<void> {
  // Listing starts a turn later, so that a notice which comes as it begins finds `running` set.
  state.running ??= Promise.resolve()
    .then(() => listRounds(state))
    .finally(() => {
      state.running = undefined;
      if (state.bySelf || state.stale) {
        state.mayListAt = state.clock.now() + state.pauseMs;
        state.pauseMs = Math.min(longestRelistMs, 2 * state.pauseMs);
      }
      state.bySelf = false;
      if (state.stale) listWhenDue(state);
    });
  return state.running;
}

async function listRounds(state: State): Promise<void> {
  for (let round = 0; round < maxRounds; round++) {
    state.stale = false;
    await state.list();
    if (!state.stale) return;
  }
}

function listWhenDue(state: State): void {
  if (state.closed || state.cancel !== undefined || state.running !== undefined) return;
  const wait = state.mayListAt - state.clock.now();
  // After a long quiet period the next burst starts with the shortest pause.
  if (wait <= -longestRelistMs) state.pauseMs = firstRelistMs;
  if (wait <= 0) listBySelf(state);
  else state.cancel = state.later(() => listBySelf(state), wait);
}

function listBySelf(state: State): void {
  state.cancel = undefined;
  // Not stale means that the host has listed meanwhile.
  if (state.closed || !state.stale || state.running !== undefined) return;
  state.bySelf = true;
  refresh(state).catch(() => {});
}
