/** The sessions that the inspector has seen: open ones, and the last ones that have ended. */
import type { HostToolRegistry } from '../../index.ts';
import { type OpenSession, openSessions, registryStateOf } from '../../surface-port.ts';
import type { SessionLine } from '../pages/inspector-wire.ts';

/** Most sessions that are remembered. */
const mostSessions = 500;

type Line = { -readonly [K in keyof SessionLine]: SessionLine[K] };

/** The sessions of one inspector. */
export interface SessionList {
  /** Newest first. */
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

  const add = (sessionId: string, principal: string, profile: string, startedAt?: number): Line => {
    const line: Line = {
      key: ++last,
      sessionId,
      principal,
      profile,
      ...(startedAt === undefined ? {} : { startedAt }),
      open: true,
      calls: 0,
      denied: 0,
    };
    lines.set(line.key, line);
    byId.set(sessionId, line);
    if (lines.size > mostSessions) forgetOne();
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
  for (const { state: one } of openSessions(state))
    if (lines.size < mostSessions) add(one.sessionId, one.actor, one.profileId ?? '');
  const stops = [
    registry.events.on('session:start', ({ sessionId, principal, profile, at }) => {
      add(sessionId, principal, profile, at);
    }),
    registry.events.on('session:end', ({ sessionId }) => {
      for (const line of lines.values())
        if (line.open && line.sessionId === sessionId) {
          line.open = false;
          return;
        }
    }),
    registry.events.on('tool:pre', ({ sessionId, principal }) => {
      const line = byId.get(sessionId) ?? add(sessionId, principal, '');
      line.calls++;
    }),
    registry.events.on('policy:violation', ({ sessionId }) => {
      const line = byId.get(sessionId);
      if (line !== undefined) line.denied++;
    }),
  ];
  return {
    lines: () => [...lines.values()].reverse(),
    get: (key) => lines.get(key),
    open(line) {
      if (!line.open) return undefined;
      // Sessions with the same id are distinguished by their order.
      const twins = [...lines.values()].filter(
        ({ open, sessionId }) => open && sessionId === line.sessionId,
      );
      const found = openSessions(state).filter((one) => one.state.sessionId === line.sessionId);
      return found[twins.indexOf(line as Line)];
    },
    stop() {
      for (const stop of stops) stop();
    },
  };
}
