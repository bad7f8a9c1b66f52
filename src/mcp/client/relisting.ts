/**
 * Listing again: one listing at a time, and a server that keeps saying that its tools changed is
 * listened to ever more rarely.
 */

/** Runs something after some milliseconds; what it gives calls that off. */
export type Later = (run: () => void, ms: number) => () => void;

/** What listing again is made of. */
export interface RelistingOptions {
  /** Lists once. */
  readonly list: () => Promise<void>;
  readonly clock: { now(): number };
  readonly later: Later;
}

/** Listings that the host asks for, and those that the server's notices ask for. */
export interface Relisting {
  /**
   * Lists, and once more where the tools changed meanwhile; joins a listing that is under way.
   * Rejects as `list` does.
   */
  refresh(): Promise<void>;
  /**
   * The server says that its tools changed: lists now, or when the pause is over. Never fails: a
   * listing that does changes nothing.
   */
  changed(): void;
  /** Nothing is listed by itself any more. */
  close(): void;
}

const firstPauseMs = 1_000;
const longestPauseMs = 30_000;
/** Most listings in a row; a server that says that it changed during each of them is waited for. */
const mostRounds = 2;

/** Makes it; nothing is listed yet. */
export function createRelisting({ list, clock, later }: RelistingOptions): Relisting {
  let running: Promise<void> | undefined;
  let stale = false;
  let bySelf = false;
  let pauseMs = firstPauseMs;
  let mayListAt = Number.NEGATIVE_INFINITY;
  let callOff: (() => void) | undefined;
  let closed = false;

  const rounds = async (): Promise<void> => {
    for (let round = 0; round < mostRounds; round++) {
      stale = false;
      await list();
      if (!stale) return;
    }
  };
  const refresh = (): Promise<void> => {
    // Not at once: a notice that comes while listing begins must find it running.
    running ??= Promise.resolve()
      .then(rounds)
      .finally(() => {
        running = undefined;
        if (bySelf || stale) {
          mayListAt = clock.now() + pauseMs;
          pauseMs = Math.min(longestPauseMs, 2 * pauseMs);
        }
        bySelf = false;
        if (stale) listWhenDue();
      });
    return running;
  };
  const listBySelf = (): void => {
    callOff = undefined;
    // The host has listed meanwhile.
    if (closed || !stale || running !== undefined) return;
    bySelf = true;
    refresh().catch(() => {});
  };
  const listWhenDue = (): void => {
    if (closed || callOff !== undefined || running !== undefined) return;
    const wait = mayListAt - clock.now();
    // Quiet for long: the next storm begins anew.
    if (wait <= -longestPauseMs) pauseMs = firstPauseMs;
    if (wait <= 0) listBySelf();
    else callOff = later(listBySelf, wait);
  };
  return {
    refresh,
    changed() {
      stale = true;
      listWhenDue();
    },
    close() {
      closed = true;
      callOff?.();
    },
  };
}
