/**
 * The one connection behind an import. It is opened when needed and reopened after a loss, with a
 * growing pause between attempts.
 */
import { connectionFault } from '../../shared/executor-fault.ts';
import type { Link } from './link.ts';
import type { ConnectedMcpClient } from './sdk.ts';

/** Time and randomness, replaced in tests. */
export interface ConnectionClock {
  /** Monotonic milliseconds. */
  now(): number;
  /** From 0 to below 1. */
  random(): number;
}

/** A connection that outlives its links. */
export interface Connection {
  /**
   * An open link. Opens one if there is none. Rejects at once with a ConnectionFault during the
   * pause after a failure.
   */
  link(): Promise<Link>;
  /** Ends the connection for good. Idempotent; never rejects. */
  close(): Promise<void>;
}

/** What a connection needs. */
export interface ConnectionOptions {
  /** Opens a link; `signal` aborts when the connection is closed. */
  readonly open: (signal: AbortSignal) => Promise<Link>;
  /**
   * Checks what a new link offers, before any call runs on it. If it rejects, the link is closed.
   */
  readonly greet: (client: ConnectedMcpClient) => Promise<void>;
  readonly clock: ConnectionClock;
  /** False for a client that the host made: it is not opened again after a loss. */
  readonly reopen: boolean;
  /** Called when an open link is lost. @default not called */
  readonly onLost?: () => void;
}

const firstPauseMs = 500;
const longestPauseMs = 30_000;
/** A link that lasted this long counts as good. */
const goodLifeMs = 10_000;

interface State extends ConnectionOptions {
  current: Link | undefined;
  /** The opening that is in progress. All callers share it. */
  opening: Promise<Link> | undefined;
  /** Successive failures. */
  failures: number;
  /** By the clock. */
  mayOpenAt: number;
  everOpened: boolean;
  closed: Promise<void> | undefined;
  readonly stop: AbortController;
}

/** Makes a connection without opening it. */
export function createConnection(options: ConnectionOptions): Connection {
  const state: State = {
    ...options,
    current: undefined,
    opening: undefined,
    failures: 0,
    mayOpenAt: Number.NEGATIVE_INFINITY,
    everOpened: false,
    closed: undefined,
    stop: new AbortController(),
  };
  return {
    link: async () => linkOf(state),
    close() {
      state.stop.abort();
      state.closed ??= closeLinks(state);
      return state.closed;
    },
  };
}

function linkOf(state: State): Link | Promise<Link> {
  const { current, opening, reopen, clock } = state;
  if (state.closed !== undefined)
    throw connectionFault('The connection to the MCP server is closed.');
  if (current !== undefined && !current.lost) return current;
  if (opening !== undefined) return opening;
  if (!reopen && state.everOpened)
    throw connectionFault(
      'The connection to the MCP server was lost. The host must connect its client again.',
    );
  const wait = state.mayOpenAt - clock.now();
  if (wait > 0)
    throw connectionFault(
      `The MCP server cannot be reached. Try again in ${Math.ceil(wait / 1_000)} s.`,
    );
  state.opening = openLink(state).finally(() => {
    state.opening = undefined;
  });
  return state.opening;
}

async function openLink(state: State): Promise<Link> {
  let link: Link;
  try {
    link = await state.open(state.stop.signal);
  } catch (error) {
    noteFailure(state);
    throw error;
  }
  const since = state.clock.now();
  try {
    if (state.closed !== undefined)
      throw connectionFault('The connection to the MCP server is closed.');
    await state.greet(link.client);
    if (link.lost || state.closed !== undefined)
      throw connectionFault('The connection to the MCP server was lost.');
  } catch (error) {
    noteFailure(state);
    await link.close();
    throw error;
  }
  state.everOpened = true;
  link.onlost = () => {
    if (state.current !== link) return;
    noteLoss(state, since);
    state.onLost?.();
  };
  state.current = link;
  return link;
}

/**
 * The first loss after a long connection may be repaired at once. A server that keeps dying is not
 * started over and over.
 */
function noteLoss(state: State, since: number): void {
  state.current = undefined;
  if (state.clock.now() - since >= goodLifeMs) state.failures = 0;
  noteFailure(state, state.failures === 0);
}

function noteFailure(state: State, withoutPause = false): void {
  const { clock } = state;
  state.failures++;
  const pause = withoutPause
    ? 0
    : Math.min(longestPauseMs, firstPauseMs * 2 ** Math.min(state.failures - 1, 16)) *
      (0.5 + clock.random() / 2);
  state.mayOpenAt = clock.now() + pause;
}

async function closeLinks(state: State): Promise<void> {
  // An opening in progress sees that the connection is closed, and cleans up after itself.
  await state.opening?.catch(() => {});
  await state.current?.close();
  state.current = undefined;
}
