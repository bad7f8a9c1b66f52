/**
 * The calls that this application runs. Each runs once, many run at a time, and a call is stopped
 * when no caller waits for it any longer.
 */
import {
  type Answer,
  type AnswerCache,
  createAnswerCache,
  errorAnswer,
  resultAnswer,
  thrownAnswer,
} from './answer.ts';
import { isJsonObject, type JsonObject, numberIn, stringIn } from './json.ts';
import type { ProgressReports } from './progress.ts';
import { relayClientError } from './relay-client-error.ts';
import type { Scope } from './scope.ts';
import type { RelayTool } from './tool.ts';

/** Runs calls. */
export interface Calls {
  /** A `tool-request` arrived, for the first time or again. */
  request(data: JsonObject): void;
  /** A `tool-cancel` arrived: no caller waits for this call any longer. */
  cancel(data: JsonObject): void;
  /** Answers have reached the relay, so calls that wait may begin. */
  resume(): void;
  /** The number of calls that run or wait for their turn. */
  readonly size: number;
}

/** What calls need. */
export interface CallsWorld {
  readonly life: Scope;
  readonly clock: RelayClock;
  /** The current handler of a tool. */
  handler(tool: string): RelayTool['handler'] | undefined;
  /** Delivers an answer to the relay. */
  answer(answer: Answer, forMs: number): void;
  /** Reports progress. @default nothing is reported */
  readonly progress?: ProgressReports;
  /**
   * True while so many answers are in transit that no call should begin.
   * @default never
   */
  isFull?(): boolean;
  readonly cache?: AnswerCache;
}

/** Most handlers at a time. */
const maxRunning = 64;
/** Most calls that wait for their turn. */
const maxWaiting = 1_000;
/** Most characters of the arguments of all calls that wait, as JSON. */
const maxWaitingChars = 64 * 1_048_576;
/** Most characters of the id of a call. Ids are remembered, and a relay's are shorter. */
const maxIdChars = 1_024;

interface Call {
  readonly requestId: string;
  readonly tool: string;
  readonly args: JsonObject;
  readonly attempt: number;
  /** Characters of its arguments while it waits. */
  readonly chars: number;
  /** Epoch milliseconds, by the local clock. */
  readonly deadline: number;
  /** When it ends, the call is over, whatever its handler still does. */
  readonly scope: Scope;
  readonly remainingMs: () => number;
}

interface State {
  readonly world: CallsWorld;
  readonly cache: AnswerCache;
  /** The calls that run or wait, by id. */
  readonly open: Map<string, Call>;
  readonly waiting: Set<Call>;
  /** Characters of the arguments of these. */
  waitingChars: number;
  running: number;
  /** Calls are being started. */
  starting: boolean;
}

export function createCalls(world: CallsWorld): Calls {
  const state: State = {
    world,
    cache: world.cache ?? createAnswerCache(),
    open: new Map(),
    waiting: new Set(),
    waitingChars: 0,
    running: 0,
    starting: false,
  };
  return {
    request: (data) => takeRequest(state, data),
    cancel: (data) => cancel(state, data),
    resume: () => startWaiting(state),
    get size() {
      return state.open.size;
    },
  };
}

function takeRequest(state: State, data: JsonObject): void {
  const { world, cache, open } = state;
  const requestId = idIn(data);
  const tool = stringIn(data, 'tool');
  if (world.life.ended || requestId === undefined || tool === undefined || open.has(requestId))
    return;
  if (!cache.has(requestId)) {
    // The relay delivers a call again that is not answered. Refusing it would need another answer.
    if (state.waiting.size >= maxWaiting && isFull(state)) return;
    return begin(state, requestId, tool, data);
  }
  const given = cache.get(requestId);
  if (given !== undefined) world.answer(given, world.clock.remainingMs(data.deadline));
}

function idIn(data: JsonObject): string | undefined {
  const requestId = stringIn(data, 'requestId');
  return requestId === undefined || requestId.length > maxIdChars ? undefined : requestId;
}

function isFull({ world }: State): boolean {
  return world.isFull?.() === true;
}

function cancel({ open, cache }: State, data: JsonObject): void {
  const requestId = idIn(data);
  if (requestId === undefined) return;
  const call = open.get(requestId);
  if (call !== undefined)
    call.scope.end(
      relayClientError(
        'cancelled',
        `The call was cancelled: ${stringIn(data, 'reason') ?? 'no caller waits for it'}.`,
      ),
    );
  // A call that is cancelled before it arrives must not run when it does.
  else if (!cache.has(requestId)) cache.add(requestId);
}

function begin(state: State, requestId: string, tool: string, data: JsonObject): void {
  const { world, cache, open, waiting } = state;
  const forMs = world.clock.remainingMs(data.deadline);
  const scope = world.life.child();
  const until = performance.now() + forMs;
  const args = isJsonObject(data.args) ? data.args : {};
  const mustWait = state.running >= maxRunning || isFull(state);
  const call: Call = {
    requestId,
    tool,
    args,
    chars: mustWait ? charsOf(args) : 0,
    attempt: numberIn(data, 'attempt') ?? 1,
    deadline: Date.now() + Math.round(forMs),
    scope,
    remainingMs: () => until - performance.now(),
  };
  open.set(requestId, call);
  scope.onEnd(() => {
    open.delete(requestId);
    takeOut(state, call);
    world.progress?.forget(requestId);
    if (!cache.has(requestId)) cache.add(requestId);
  });
  scope.after(forMs, () =>
    scope.end(relayClientError('timeout', 'The deadline of the call has passed.')),
  );
  const why = whyRefused(state, call);
  if (why !== undefined)
    return settle(
      state,
      call,
      errorAnswer(requestId, `This application ${why} and cannot take another one now.`),
    );
  waiting.add(call);
  state.waitingChars += call.chars;
  startWaiting(state);
}

/** Why a call may not wait; undefined if it may. */
function whyRefused({ waiting, waitingChars }: State, { chars }: Call): string | undefined {
  if (waiting.size >= maxWaiting) return `already has ${maxWaiting} calls waiting`;
  return waitingChars + chars > maxWaitingChars
    ? 'already has calls with large arguments waiting'
    : undefined;
}

/** Removes a call from those that wait. */
function takeOut(state: State, call: Call): void {
  if (state.waiting.delete(call)) state.waitingChars -= call.chars;
}

function charsOf(args: JsonObject): number {
  try {
    return JSON.stringify(args).length;
  } catch {
    // It is nested too deeply to be written.
    return Number.POSITIVE_INFINITY;
  }
}

function startWaiting(state: State): void {
  const { waiting, world } = state;
  // A call that ends at once leads back here. The loop below continues instead.
  if (state.starting || world.life.ended) return;
  state.starting = true;
  for (const call of waiting) {
    if (state.running >= maxRunning || isFull(state)) break;
    takeOut(state, call);
    state.running += 1;
    call.scope.onEnd(() => {
      state.running -= 1;
      startWaiting(state);
    });
    run(state, call).catch(() => {});
  }
  state.starting = false;
}

async function run(state: State, call: Call): Promise<void> {
  const { requestId, tool, args, attempt, deadline, scope } = call;
  const handle = state.world.handler(tool);
  if (handle === undefined)
    return settle(
      state,
      call,
      errorAnswer(requestId, `This application has no tool called ${JSON.stringify(tool)} now.`),
    );
  const controller = new AbortController();
  const forget = scope.onEnd((reason) => controller.abort(reason));
  try {
    const result = await handle(
      args,
      Object.freeze({
        requestId,
        signal: controller.signal,
        deadline,
        attempt,
        progress(done: number, total?: number, message?: string) {
          if (!scope.ended) state.world.progress?.report(requestId, done, total, message);
        },
      }),
    );
    forget();
    settle(state, call, resultAnswer(requestId, tool, result));
  } catch (thrown) {
    forget();
    settle(state, call, thrownAnswer(requestId, thrown));
  }
}

function settle({ world, cache }: State, call: Call, given: Answer): void {
  // The call was cancelled, ran out of time, or was closed.
  if (call.scope.ended) return;
  cache.add(call.requestId, given);
  world.answer(given, call.remainingMs());
  call.scope.end(undefined);
}

// The relay's clock. Deadlines come from the relay, and no two clocks agree.

/** Computes how much time a deadline leaves. */
export interface RelayClock {
  /**
   * Takes the current time of the relay. @param timestamp ISO 8601; anything else is ignored
   */
  heard(timestamp: unknown): void;
  /**
   * Milliseconds until a deadline of the relay, rather too many than too few.
   * @param deadline epoch milliseconds; anything else counts as no deadline and gives the default
   */
  remainingMs(deadline: unknown): number;
}

/** Milliseconds for a call without a deadline; also the least if the relay's clock is unknown. */
const defaultCallMs = 30_000;
/** Milliseconds added to each deadline, because the estimate may be slightly wrong. */
const graceMs = 1_000;

/** Estimates the relay's clock. @param now milliseconds of a clock that never jumps */
export function createRelayClock(now: () => number = () => performance.now()): RelayClock {
  /** The relay's epoch milliseconds when the local clock was at 0. */
  let origin: number | undefined;
  return {
    heard(timestamp) {
      const at = typeof timestamp === 'string' ? Date.parse(timestamp) : Number.NaN;
      if (Number.isFinite(at)) origin = at - now();
    },
    remainingMs(deadline) {
      if (typeof deadline !== 'number' || !Number.isFinite(deadline)) return defaultCallMs;
      if (origin === undefined) return Math.max(defaultCallMs, deadline - Date.now());
      return Math.max(0, deadline - origin - now()) + graceMs;
    },
  };
}
