/**
 * Listing a server's tools again: one listing at a time, and ever more rarely for a server that
 * keeps saying that its tools changed.
 */

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

const firstPauseMs = 1_000;
const longestPauseMs = 30_000;
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
    pauseMs: firstPauseMs,
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
        state.pauseMs = Math.min(longestPauseMs, 2 * state.pauseMs);
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
  if (wait <= -longestPauseMs) state.pauseMs = firstPauseMs;
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
