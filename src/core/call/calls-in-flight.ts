/** The calls in flight: their list, and their ids. */

import type { Call } from './call.ts';
import type { CallSession } from './session-port.ts';

/** Puts a call on the registry's list of calls in flight. */
export function link(call: Call): void {
  const { session } = call;
  const { registry } = session;
  const head = registry.calls;
  call.next = head;
  if (head !== undefined) head.previous = call;
  registry.calls = call;
  for (let at: CallSession | undefined = session; at !== undefined; at = at.outer)
    at.calls.inFlight++;
}

/** Removes a call from the list, and its id from the session's ids. */
export function unlink(call: Call): void {
  const { session, previous, next } = call;
  const { registry } = session;
  if (previous === undefined) registry.calls = next;
  else previous.next = next;
  if (next !== undefined) next.previous = previous;
  call.previous = undefined;
  call.next = undefined;
  session.calls.ids?.delete(call.callId);
  for (let at: CallSession | undefined = session; at !== undefined; at = at.outer) {
    at.calls.inFlight--;
    at.calls.idled?.();
  }
}

/**
 * The ids of a session's calls in flight. A session keeps them only from the moment a caller passes
 * an id of its own, so the ids that were generated before then are collected from the list.
 */
export function idsInFlight(session: CallSession): Map<string, Call | undefined> {
  const ids = new Map<string, Call | undefined>();
  if (session.calls.inFlight > 0)
    for (let call = session.registry.calls; call !== undefined; call = call.next)
      if (call.session === session) ids.set(call.callId, call);
  return ids;
}

/** An id for a call that came without one. */
export function newId(session: CallSession): string {
  try {
    const id: unknown = session.registry.newId();
    if (typeof id === 'string' && id !== '') return id;
  } catch {
    // If the host's `newId` throws, the call must not fail.
  }
  return `${session.sessionId}-${++session.calls.fallbackIds}`;
}

/**
 * The default `newId`. Its ids are cheap, ordered, and unlikely to equal those of another process.
 */
export function createIds(): () => string {
  const random = Math.trunc(Math.random() * 2 ** 40).toString(36);
  const prefix = `call_${random}${Date.now().toString(36)}_`;
  let block = prefix;
  let blocks = 0;
  let count = 0;
  return () => {
    if (count === idsPerBlock) {
      count = 0;
      block = `${prefix}${++blocks}_`;
    }
    if (count === numbers.length) numbers.push(String(count + 1));
    return block + numbers[count++];
  };
}

/** So few that their texts stay in the processor's nearest cache. */
const idsPerBlock = 100;
/**
 * The numbers from 1 on as texts. Converting a number costs more than the rest of an id, so each is
 * converted once, at its first use.
 */
const numbers: string[] = [];
