/** The calls of the log as records for a backtest. */

import { openSessions, type registryStateOf } from '../../core/registry/state-of.ts';
import { everyRule } from '../../core/rules/rule-use.ts';
import type { JsonObject, JsonValue } from '../../values/json/index.ts';
import type { BacktestRecord } from '../policy/index.ts';
import type { CallLog, KeptCall } from './call-log.ts';
import type { SessionList } from './session-list.ts';

/** The records, and what is counted while they are read. */
export interface RecordedCalls {
  readonly records: Iterable<BacktestRecord>;
  readonly counts: {
    /** Calls that cannot be judged, since their input is not kept whole. */
    cut: number;
    /** Records of sessions that are not open, so that facts that rules test are not known. */
    withoutFacts: number;
  };
}

/** Most characters of an id or a principal in a record. */
const longest = 1_024;

/**
 * Reads all calls, oldest first. A call that was suspended and resumed is one record.
 * @param signal Ends the reading: the next record throws its reason.
 */
export function recordedCalls(
  state: ReturnType<typeof registryStateOf>,
  log: CallLog,
  sessions: SessionList,
  signal: AbortSignal,
): RecordedCalls {
  const counts = { cut: 0, withoutFacts: 0 };
  const knownOf = knownSessions(state, sessions);
  const testsFacts = everyRule(state).some(({ conditions }) =>
    JSON.stringify(conditions).includes('"fact'),
  );
  function* read(): Generator<BacktestRecord> {
    for (const call of [...log.all()]) {
      signal.throwIfAborted();
      if (call.line.attempt > 1) continue;
      const input = inputOf(call);
      if (input === undefined) {
        counts.cut++;
        continue;
      }
      const { n, at, tool, principal, sessionId, surface } = call.line;
      const { facts, profile } = knownOf(sessionId);
      if (facts === undefined && testsFacts) counts.withoutFacts++;
      yield {
        callId: String(n),
        toolName: tool,
        input: input.value,
        at,
        principal,
        surface,
        sessionId,
        ...(facts === undefined ? {} : { facts }),
        ...(profile === undefined ? {} : { profile }),
      };
    }
  }
  return { records: read(), counts };
}

/** What is known of a session. */
export interface KnownSession {
  /** Undefined unless the session is open. */
  readonly facts?: JsonObject;
  readonly profile?: string;
}

/** Looks up the facts and the profile of the newest session with an id. */
export function knownSessions(
  state: ReturnType<typeof registryStateOf>,
  sessions: SessionList,
): (sessionId: string) => KnownSession {
  const known = new Map<string, KnownSession>();
  const withProfile = (id: string | undefined): KnownSession =>
    id !== undefined && state.profiles.has(id) ? { profile: id } : {};
  // The newest session of an id comes first in the list, and last among the open ones.
  for (const { sessionId, profile } of sessions.lines())
    if (!known.has(sessionId)) known.set(sessionId, withProfile(profile));
  for (const { state: one } of openSessions(state))
    known.set(one.sessionId, { facts: one.facts, ...withProfile(one.profileId) });
  return (sessionId) => known.get(sessionId) ?? {};
}

/** Undefined if the call is not known completely. */
function inputOf({ line, kept, isWhole }: KeptCall): { readonly value: JsonValue } | undefined {
  const { principal, sessionId, surface } = line;
  const isLong = [principal, sessionId, surface].some((text) => text.length > longest);
  if (kept === undefined || !isWhole || isLong || sessionId === '') return undefined;
  return { value: JSON.parse(kept.input) as JsonValue };
}
