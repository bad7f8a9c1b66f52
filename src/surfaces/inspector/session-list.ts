/** The sessions that the inspector has seen: open ones, and the last ones that have ended. */

import { type OpenSession, openSessions, registryStateOf } from '../../core/registry/state-of.ts';
import type { HostToolRegistry } from '../../core.ts';
import type { SessionLine } from '../pages/inspector-session-wire.ts';

/** Most sessions that are remembered. */
const maxSessions = 500;

type Line = { -readonly [K in keyof SessionLine]: SessionLine[K] };

/** The sessions of one inspector. */
export interface SessionList {
  /** Newest first, as they are now. */
  lines(): readonly SessionLine[];
  /** The line of a session. */
  get(key: number): SessionLine | undefined;
  /** The session of a line, if it is still open. */
  open(line: SessionLine): OpenSession | undefined;
  stop(): void;
}

/** Longer than 60 lines, since its short functions share the lines of the list. */
export function listSessions(registry: HostToolRegistry<never>): SessionList {
  const state = registryStateOf(registry);
  const lines = new Map<number, Line>();
  const byId = new Map<string, Line>();
  let last = 0;

  const add = (
    sessionId: string,
    principal: string,
    profile: string,
    more: Pick<Line, 'startedAt' | 'status'> = { status: 'open' },
  ): Line => {
    const line: Line = {
      key: ++last,
      sessionId,
      principal,
      profile,
      open: true,
      ...more,
      calls: 0,
      denied: 0,
    };
    lines.set(line.key, line);
    byId.set(sessionId, line);
    if (lines.size > maxSessions) forgetOne();
    return line;
  };
  /** The oldest session that has ended, or the oldest one if none has. */
  const forgetOne = (): void => {
    let victim: Line | undefined;
    for (const line of lines.values()) {
      victim ??= line;
      if (!line.open) {
        victim = line;
        break;
      }
    }
    if (victim === undefined) return;
    lines.delete(victim.key);
    if (byId.get(victim.sessionId) === victim) byId.delete(victim.sessionId);
  };
  const end = (line: Line, status: 'closed' | 'dropped'): void => {
    line.open = false;
    line.status = status;
  };
  for (const { state: one } of openSessions(state))
    if (lines.size < maxSessions) add(one.sessionId, one.actor.principal, one.profileId ?? '');
  const stops = [
    registry.events.on('session:start', ({ sessionId, principal, profile, at }) => {
      add(sessionId, principal, profile, { startedAt: at, status: 'open' });
    }),
    registry.events.on('session:end', ({ sessionId }) => {
      for (const line of lines.values())
        if (line.open && line.sessionId === sessionId) return end(line, 'closed');
    }),
    registry.events.on('tool:pre', ({ sessionId, principal }) => {
      const known = byId.get(sessionId);
      const line =
        known?.open === true ? known : add(sessionId, principal, '', { status: 'unseen' });
      line.calls++;
    }),
    registry.events.on('policy:violation', ({ sessionId }) => {
      const line = byId.get(sessionId);
      if (line !== undefined) line.denied++;
    }),
  ];
  /**
   * Brings the lines up to date with the sessions that there are, and finds the session of each
   * line. No event tells that an object was dropped. Of several sessions with one id, the newest
   * ones are there.
   */
  const pair = (): ReadonlyMap<Line, OpenSession> => {
    const found = new Map<string, OpenSession[]>();
    for (const one of openSessions(state)) {
      const twins = found.get(one.state.sessionId);
      if (twins === undefined) found.set(one.state.sessionId, [one]);
      else twins.push(one);
    }
    const pairs = new Map<Line, OpenSession>();
    for (const line of [...lines.values()].reverse()) {
      if (!line.open) continue;
      const session = found.get(line.sessionId)?.pop();
      if (session !== undefined) {
        line.status = 'open';
        pairs.set(line, session);
      } else if (line.status === 'open') end(line, 'dropped');
    }
    return pairs;
  };
  return {
    lines() {
      pair();
      return [...lines.values()].reverse();
    },
    get: (key) => lines.get(key),
    open: (line) => pair().get(line as Line),
    stop() {
      for (const stop of stops) stop();
    },
  };
}
