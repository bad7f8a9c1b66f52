/**
 * The calls that this application runs: each once, many at a time, stopped when nobody waits for
 * them any more.
 */
import { type Answer, errorAnswer, resultAnswer, thrownAnswer } from './answer.ts';
import { type AnswerCache, createAnswerCache } from './answer-cache.ts';
import { isJsonObject, type JsonObject, numberIn, stringIn } from './json.ts';
import { relayClientError } from './relay-client-error.ts';
import type { RelayClock } from './relay-clock.ts';
import type { Scope } from './scope.ts';
import type { RelayTool } from './tool.ts';

/** Runs calls. */
export interface Calls {
  /** A `tool-request` came, for the first time or again. */
  request(data: JsonObject): void;
  /** A `tool-cancel` came: nobody waits for this call any more. */
  cancel(data: JsonObject): void;
  /** Calls that run or wait for their turn. */
  readonly size: number;
}

/** What calls need. */
export interface CallsWorld {
  readonly life: Scope;
  readonly clock: RelayClock;
  /** The handler of a tool, as things are now. */
  handler(tool: string): RelayTool['handler'] | undefined;
  /** Takes an answer to the relay. */
  answer(answer: Answer, forMs: number): void;
  readonly cache?: AnswerCache;
}

/** Most handlers at a time. */
export const maxRunning = 64;
/** Most calls that wait for their turn. */
export const maxWaiting = 1_000;

interface Call {
  readonly requestId: string;
  readonly tool: string;
  readonly args: JsonObject;
  readonly attempt: number;
  /** Epoch milliseconds, by our clock. */
  readonly deadline: number;
  /** When it ends, the call is over, whatever its handler still does. */
  readonly scope: Scope;
  readonly remainingMs: () => number;
}

export function createCalls({
  life,
  clock,
  handler,
  answer,
  cache = createAnswerCache(),
}: CallsWorld): Calls {
  const open = new Map<string, Call>();
  const waiting = new Set<Call>();
  let running = 0;
  let starting = false;

  const settle = (call: Call, given: Answer): void => {
    // Cancelled, out of time, or closed.
    if (call.scope.ended) return;
    cache.add(call.requestId, given);
    answer(given, call.remainingMs());
    call.scope.end(undefined);
  };
  const run = async (call: Call): Promise<void> => {
    const { requestId, tool, args, attempt, deadline, scope } = call;
    const handle = handler(tool);
    if (handle === undefined)
      return settle(
        call,
        errorAnswer(requestId, `This application has no tool called ${JSON.stringify(tool)} now.`),
      );
    const controller = new AbortController();
    const forget = scope.onEnd((reason) => controller.abort(reason));
    try {
      const result = await handle(
        args,
        Object.freeze({ requestId, signal: controller.signal, deadline, attempt }),
      );
      forget();
      settle(call, resultAnswer(requestId, tool, result));
    } catch (thrown) {
      forget();
      settle(call, thrownAnswer(requestId, thrown));
    }
  };
  const next = (): void => {
    // A call that is over at once comes back here: the loop goes on instead.
    if (starting || life.ended) return;
    starting = true;
    for (const call of waiting) {
      if (running >= maxRunning) break;
      waiting.delete(call);
      running += 1;
      call.scope.onEnd(() => {
        running -= 1;
        next();
      });
      run(call).catch(() => {});
    }
    starting = false;
  };
  const begin = (requestId: string, tool: string, data: JsonObject): void => {
    const forMs = clock.remainingMs(data.deadline);
    const scope = life.child();
    const until = performance.now() + forMs;
    const call: Call = {
      requestId,
      tool,
      args: isJsonObject(data.args) ? data.args : {},
      attempt: numberIn(data, 'attempt') ?? 1,
      deadline: Date.now() + Math.round(forMs),
      scope,
      remainingMs: () => until - performance.now(),
    };
    open.set(requestId, call);
    scope.onEnd(() => {
      open.delete(requestId);
      waiting.delete(call);
      if (!cache.has(requestId)) cache.add(requestId);
    });
    scope.after(forMs, () =>
      scope.end(relayClientError('timeout', 'The deadline of the call has passed.')),
    );
    if (waiting.size >= maxWaiting)
      return settle(
        call,
        errorAnswer(
          requestId,
          `This application has ${maxWaiting} calls waiting and takes no more now.`,
        ),
      );
    waiting.add(call);
    next();
  };

  return {
    request(data) {
      const requestId = stringIn(data, 'requestId');
      const tool = stringIn(data, 'tool');
      if (life.ended || requestId === undefined || tool === undefined || open.has(requestId))
        return;
      if (!cache.has(requestId)) return begin(requestId, tool, data);
      const given = cache.get(requestId);
      if (given !== undefined) answer(given, clock.remainingMs(data.deadline));
    },
    cancel(data) {
      const requestId = stringIn(data, 'requestId');
      if (requestId === undefined) return;
      const call = open.get(requestId);
      if (call !== undefined)
        call.scope.end(
          relayClientError(
            'cancelled',
            `The call was cancelled: ${stringIn(data, 'reason') ?? 'nobody waits for it'}.`,
          ),
        );
      // One that was cancelled before it came does not run when it comes.
      else if (!cache.has(requestId)) cache.add(requestId);
    },
    get size() {
      return open.size;
    },
  };
}
