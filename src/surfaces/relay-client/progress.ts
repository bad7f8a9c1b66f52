/**
 * Reports the progress of calls to the relay: the newest report of each call, one request at a
 * time.
 */
import type { RelayHttp } from './http.ts';
import type { JsonObject } from './json.ts';
import { asRelayClientError, isPassing } from './relay-client-error.ts';
import type { Scope } from './scope.ts';

/** Reports progress. */
export interface ProgressReports {
  /**
   * Replaces the report of the same call that was not sent yet. Values that do not fit are ignored.
   */
  report(requestId: string, done: unknown, total: unknown, message: unknown): void;
  /** Drops the report of a call that has ended. */
  forget(requestId: string): void;
}

/** What reports need. */
export interface ProgressWorld {
  readonly http: RelayHttp;
  readonly life: Scope;
}

/** Milliseconds between two requests. */
const pauseMs = 250;
/** Most characters of a message. The relay cuts it further. */
const maxMessageChars = 256;

interface State {
  readonly world: ProgressWorld;
  /** By call; the oldest report first. */
  readonly waiting: Map<string, JsonObject>;
  working: boolean;
  /** The relay does not accept reports. */
  off: boolean;
}

export function createProgressReports(world: ProgressWorld): ProgressReports {
  const state: State = { world, waiting: new Map(), working: false, off: false };
  return {
    report(requestId, done, total, message) {
      if (state.off || world.life.ended || !isAmount(done)) return;
      state.waiting.set(requestId, {
        requestId,
        done,
        ...(isAmount(total) ? { total } : {}),
        ...(typeof message === 'string' ? { message: message.slice(0, maxMessageChars) } : {}),
      });
      // This rejects only when the life ends.
      if (!state.working) work(state).catch(() => {});
    },
    forget: (requestId) => void state.waiting.delete(requestId),
  };
}

async function work(state: State): Promise<void> {
  const { waiting, world } = state;
  state.working = true;
  for (;;) {
    const [next] = waiting;
    if (next === undefined || world.life.ended) break;
    waiting.delete(next[0]);
    await world.life.sleep(Math.max(pauseMs, await send(state, next[1])));
  }
  state.working = false;
}

/** @returns the milliseconds that the relay wants to wait */
async function send(state: State, report: JsonObject): Promise<number> {
  const { http, life } = state.world;
  try {
    await http.call(life, 'POST', '/progress', { body: JSON.stringify(report) });
  } catch (thrown) {
    const error = asRelayClientError(thrown);
    if (isPassing(error)) return error.retryAfterMs ?? 1_000;
    // The call may be over. Any other refusal would be repeated for every report.
    if (error.code !== 'request_not_found' && error.status !== 400) {
      state.off = true;
      state.waiting.clear();
    }
  }
  return 0;
}

function isAmount(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0;
}
