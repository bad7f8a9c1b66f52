/**
 * Admission: turns the input into bounded JSON, announces the call, and enforces the rate limit.
 */

import type { ToolEvents } from '../../../api/events.ts';
import { describe, type ToolError, toolError } from '../../../values/errors/index.ts';
import { type CopyOutcome, copyJson, isJsonObject } from '../../../values/json/index.ts';
import type { Call } from '../call.ts';
import { idsInFlight } from '../calls-in-flight.ts';
import { isDeniedAnyway } from '../constant-denial.ts';
import { countEnd } from '../counters.ts';
import { copyFor, deliver } from '../deliver.ts';
import { admitRate, rateWait, sessionsOf } from '../session-limits.ts';
import type { CallSession } from '../session-port.ts';
import { shownInput } from '../shown.ts';
import type { Outcome } from '../step.ts';

/** Deepest nesting of an input. */
const maxDepth = 64;
/** Most values of an input, containers included. */
const maxValues = 50_000;
/** Most UTF-8 bytes of an input as JSON, unless the limits set another bound. */
const defaultMaxBytes = 1_048_576;
const defaultLimits = { maxDepth, maxValues, maxChars: defaultMaxBytes };

/**
 * Deepest nesting of calls that host code makes inside the gates of other calls. Beyond it, the
 * stack could overflow in the middle of the library's own code.
 */
const maxNested = 64;

/**
 * Claims the call's id. A call that is refused here emits no event. A closed session emits none,
 * and events with an id that is in flight belong to the call that has it.
 */
export function enter(call: Call, namedByCaller: boolean): ToolError | undefined {
  const { session, callId } = call;
  if (session.closed || session.registry.closed)
    return toolError('session_closed', 'The session is closed. Create another.');
  if (!namedByCaller && session.calls.ids === undefined) return undefined;
  if (typeof callId !== 'string' || callId === '' || callId.length > 1_024)
    return toolError(
      'invalid_input',
      'Expected the call id to be a string of 1 to 1024 characters.',
      { reason: 'invalid_call_id' },
    );
  session.calls.ids ??= idsInFlight(session);
  if (session.calls.ids.has(callId)) {
    countEnd(session.counters().others, 'rejected', 0);
    return toolError(
      'duplicate_call_id',
      `A call with the id \`${callId}\` is in flight. Use a new id for a new call.`,
    );
  }
  session.calls.ids.set(callId, call);
  return undefined;
}

/** @param nesting How many calls are being started at the moment, including this one. */
export function nestingProblem(nesting: number): ToolError | undefined {
  if (nesting <= maxNested) return undefined;
  return toolError(
    'tool_cycle',
    `Calls were made inside the gates of other calls, more than ${maxNested} deep. A hook, ` +
      'policy or listener calls itself.',
    { reason: 'too_deep' },
  );
}

/** Lets the caller's signal end the call. */
export function watchSignal(call: Call): void {
  const signal = call.options?.signal;
  if (signal !== undefined && !signal.aborted)
    call.session.registry.waiting.aborts.add(signal, call);
}

/**
 * Reads the input, announces the call, and counts it against the rate limit.
 * @param copy The input, if it has been read.
 */
export function admit(call: Call, copy?: CopyOutcome): Outcome {
  const { session } = call;
  const fault = readInput(call, copy);
  // Reading the input may have ended the call. A call that has ended is not announced.
  if (call.ended) return undefined;
  announce(call);
  if (fault !== undefined && !isDeniedAnyway(call)) return fault;
  if (call.options?.signal?.aborted === true)
    return toolError('cancelled', 'The call was cancelled before it started.');
  // A resumed call was counted before it was suspended.
  if (call.resumed !== undefined) return undefined;
  for (let one: CallSession | undefined = session; one !== undefined; one = one.outer) {
    const {
      limits,
      registry,
      calls: { rate },
    } = one;
    if (limits.callsPerMinute === undefined && rate === undefined && !registry.sessions.limitsRate)
      continue;
    const wait = admitRate(one, call.startedAt);
    if (wait !== undefined) return tooFast(one, wait);
  }
  return undefined;
}

/** The rate limit that a call would meet now, for `explain`. */
export function rateProblem({ session }: Call): ToolError | undefined {
  for (const one of sessionsOf(session)) {
    const wait = rateWait(one, one.registry.monotonic());
    if (wait !== undefined) return tooFast(one, wait);
  }
  return undefined;
}

function tooFast({ limits }: CallSession, wait: number): ToolError {
  // At most a minute.
  const seconds = Math.max(1, Math.ceil(wait / 1_000));
  return toolError(
    'rate_limited',
    `The limit of ${limits.callsPerMinute} calls per minute is reached. Try again in ` +
      `${seconds > 59 ? '1 minute' : `${seconds} second${seconds > 1 ? 's' : ''}`}.`,
    { reason: 'calls_per_minute', details: { retryAfterMs: Math.ceil(wait) } },
  );
}

/** Copies an input within its bounds. Getters and proxies of it are read once. */
export function copyInput({ limits }: CallSession, input: unknown): CopyOutcome {
  if (input === undefined) return { ok: true, value: {}, size: 2, overflow: false, unsafe: false };
  const maxBytes = limits.maxInputBytes ?? defaultMaxBytes;
  if (typeof input === 'string' && input.length > maxBytes)
    return { ok: true, value: null, size: input.length, overflow: true, unsafe: false };
  return copyJson(
    input,
    maxBytes === defaultMaxBytes ? defaultLimits : { maxDepth, maxValues, maxChars: maxBytes },
  );
}

/** Whether a copy has more bytes than the limits of its session allow. */
export function isTooLarge({ limits }: CallSession, copy: CopyOutcome & { ok: true }): boolean {
  const maxBytes = limits.maxInputBytes ?? defaultMaxBytes;
  // `size` is a lower bound: an escape or a fraction takes up to twelve bytes where `size` counts
  // one. Most inputs need no exact count.
  return (
    copy.overflow ||
    (copy.size * 12 > maxBytes && Buffer.byteLength(JSON.stringify(copy.value)) > maxBytes)
  );
}

/** Turns the input into bounded JSON. */
export function readInput(
  call: Call,
  copy = copyInput(call.session, call.input),
): ToolError | undefined {
  if (!copy.ok) {
    const place = copy.path === '' ? 'The arguments are' : `The argument at ${copy.path} is`;
    return toolError(
      'invalid_input',
      copy.fault === 'too_deep' || copy.fault === 'too_large'
        ? `The arguments are ${copy.message}. Send less.`
        : `${place} not JSON: ${copy.message}.`,
      { reason: copy.fault },
    );
  }
  if (isTooLarge(call.session, copy)) return tooLarge(call.session);
  const { value } = copy;
  if (isJsonObject(value)) {
    call.canonical = value;
    call.unsafe = copy.unsafe;
    return undefined;
  }
  // The string may contain the object; validation tries to read it.
  if (typeof value === 'string' && call.session.setup.repair === 'safe') {
    call.more.text = value;
    return undefined;
  }
  return toolError(
    'invalid_input',
    'Expected the arguments to be a JSON object, got ' +
      `${typeof value === 'string' ? 'a string' : describe(value)}. Send an object with the ` +
      `tool's parameters as its members.`,
    { reason: 'not_an_object' },
  );
}

function tooLarge({ limits: { maxInputBytes = defaultMaxBytes } }: CallSession): ToolError {
  return toolError(
    'invalid_input',
    `The arguments are larger than ${maxInputBytes} bytes. Send less.`,
    { reason: 'too_large' },
  );
}

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

function announce(call: Call): void {
  const { session } = call;
  if (!session.hasListener('tool:pre')) {
    call.announced = true;
    return;
  }
  const { toolName, callId, attempt, caller } = call;
  const { sessionId, registry } = session;
  const at = registry.now();
  const input = copyFor(session, 'tool:pre', shownInput(call));
  const event: Mutable<{ type: string } & ToolEvents['tool:pre']> = {
    type: 'tool:pre',
    sessionId,
    principal: session.actor.principal,
    actor: session.actor,
    surface: call.surfaceName,
    at,
    seq: ++session.events.seq,
    toolName,
    callId,
    attempt,
    input,
  };
  if (caller !== undefined) event.parentCallId = caller.callId;
  if (call.ended) return;
  call.announced = true;
  session.events.lastAnnounced = call;
  session.events.lastAnnouncedAt = event.at;
  deliver(session, 'tool:pre', event);
}
