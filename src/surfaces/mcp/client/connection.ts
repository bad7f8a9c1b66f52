/**
 * The one connection behind an import. It is opened when needed and reopened after a loss, with a
 * growing pause between attempts.
 */
import { messageOf } from '../../../values/errors/index.ts';
import { waitText } from '../../../values/text/duration.ts';
import { connectionFault } from '../../shared/executor-fault.ts';
import type { Link } from './link.ts';
import { sessionForgotten } from './request-errors.ts';
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
   * @param signal ends the wait. @default waits
   */
  link(signal?: AbortSignal): Promise<Link>;
  /** Whether a link is open. */
  readonly isOpen: boolean;
  /**
   * Does some work over an open link. If the server refuses it because it has forgotten the
   * session, the work is done once more in a new session, which all refused work shares. Work that
   * the server still answers in the old session is not disturbed.
   * @param work rejects with the error of the request, which may be the `cause` of a fault
   * @param signal ends the wait for a link. @default waits
   */
  run<T>(work: (link: Link) => Promise<T>, signal?: AbortSignal): Promise<T>;
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
/** So many sessions in a row that are forgotten before they were of use are replaced at once. */
const freeRenewals = 3;

interface State extends ConnectionOptions {
  current: Link | undefined;
  /** How much work each link is doing. */
  readonly busy: Map<Link, number>;
  /** Links whose sessions were forgotten, while they still do some work. */
  readonly retired: Set<Link>;
  /** The current link has answered something. */
  useful: boolean;
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
    busy: new Map(),
    retired: new Set(),
    useful: false,
    opening: undefined,
    failures: 0,
    mayOpenAt: Number.NEGATIVE_INFINITY,
    everOpened: false,
    closed: undefined,
    stop: new AbortController(),
  };
  return {
    link: async (signal) => within(state, signal),
    get isOpen() {
      return state.closed === undefined && state.current?.lost === false;
    },
    run: (work, signal) => run(state, work, signal),
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
    throw connectionFault(`The MCP server cannot be reached. Try again in ${waitText(wait)}.`);
  state.opening = openLink(state).finally(() => {
    state.opening = undefined;
  });
  return state.opening;
}

async function run<T>(
  state: State,
  work: (link: Link) => Promise<T>,
  signal: AbortSignal | undefined,
): Promise<T> {
  const first = await attempt(state, await openFor(state, signal), work);
  if ('value' in first) return first.value;
  if (!state.reopen)
    throw connectionFault(
      'The MCP server has forgotten the session, so the call did not run. The host must connect ' +
        'its client again.',
      first.refusal,
    );
  const link = await openFor(state, signal).catch((error: unknown) => {
    throw connectionFault(`${messageOf(error)} The call did not run.`, error);
  });
  const second = await attempt(state, link, work);
  if ('value' in second) return second.value;
  throw connectionFault(
    'The MCP server has forgotten the session twice in a row. The call did not run.',
    second.refusal,
  );
}

/** An open link, which counts as busy until {@link attempt} has ended. */
async function openFor(state: State, signal: AbortSignal | undefined): Promise<Link> {
  for (;;) {
    const link = await within(state, signal);
    // It may have been given up since it was handed out.
    if (link.lost || state.retired.has(link)) continue;
    state.busy.set(link, (state.busy.get(link) ?? 0) + 1);
    return link;
  }
}

/** Does some work over a link. `refusal` is the error if the server has forgotten the session. */
async function attempt<T>(
  state: State,
  link: Link,
  work: (link: Link) => Promise<T>,
): Promise<{ readonly value: T } | { readonly refusal: unknown }> {
  const { busy, retired } = state;
  try {
    const value = await work(link);
    if (state.current === link) state.useful = true;
    return { value };
  } catch (error) {
    if (!sessionForgotten(error, link)) throw error;
    if (state.reopen) retire(state, link);
    return { refusal: error };
  } finally {
    const rest = (busy.get(link) as number) - 1;
    if (rest > 0) busy.set(link, rest);
    else {
      busy.delete(link);
      if (retired.delete(link)) link.drop();
    }
  }
}

/**
 * The server has forgotten the session of this link. Work that was sent over it may still be
 * answered, so the link ends with the last of it.
 */
function retire(state: State, link: Link): void {
  if (state.current !== link) return;
  state.current = undefined;
  if (state.useful) state.failures = 0;
  noteFailure(state, state.failures < freeRenewals);
  state.retired.add(link);
  state.onLost?.();
}

/** Waits for a link, but no longer than the work may take. */
function within(state: State, signal: AbortSignal | undefined): Link | Promise<Link> {
  const ended = (): Error =>
    connectionFault('The call ended before the MCP server could be reached.');
  if (signal?.aborted === true) throw ended();
  const opening = linkOf(state);
  if (signal === undefined || !(opening instanceof Promise)) return opening;
  return new Promise((resolve, reject) => {
    const stop = (): void => reject(ended());
    signal.addEventListener('abort', stop, { once: true });
    opening.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop));
  });
}

async function openLink(state: State): Promise<Link> {
  const { link, since } = await greetedLink(state);
  state.everOpened = true;
  link.onlost = () => {
    if (state.current !== link) return;
    noteLoss(state, since);
    state.onLost?.();
  };
  state.useful = false;
  state.current = link;
  return link;
}

/** Opens a link and greets the server. If its session is forgotten meanwhile, this is repeated. */
async function greetedLink(state: State): Promise<{ readonly link: Link; readonly since: number }> {
  for (let turn = 1; ; turn++) {
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
      return { link, since };
    } catch (error) {
      const again =
        turn === 1 && state.reopen && state.closed === undefined && sessionForgotten(error, link);
      if (again) {
        link.drop();
        continue;
      }
      await link.close();
      noteFailure(state);
      throw error;
    }
  }
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
  const links = [...state.retired, ...(state.current === undefined ? [] : [state.current])];
  // A session that the server has forgotten is not ended there.
  for (const link of state.retired) link.drop();
  await Promise.all(links.map((link) => link.close()));
  state.retired.clear();
  state.current = undefined;
}
