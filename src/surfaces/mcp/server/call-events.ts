/**
 * Passes what running calls report to the requests that they came with. There is one subscription
 * for each session, and none while no call is followed.
 */
import type { LogLevel, ToolSession } from '../../../core.ts';

/** What a request receives from its call. */
export interface CallFollower {
  /** Progress of the call itself, not of its child calls. */
  progress?(done: number, total: number | undefined, message: string | undefined): void;
  /** Log messages of the call and of its child calls. */
  log?(level: LogLevel, data: unknown, toolName: string): void;
}

interface Hub {
  readonly followers: Map<string, CallFollower>;
  stop: (() => void) | undefined;
}

const hubs = new WeakMap<ToolSession, Hub>();
const levels: ReadonlySet<unknown> = new Set<LogLevel>([
  'debug',
  'info',
  'notice',
  'warning',
  'error',
]);

/** Follows one call until the returned function is called. */
export function followCall(
  session: ToolSession,
  callId: string,
  follower: CallFollower,
): () => void {
  const hub = hubs.get(session) ?? { followers: new Map<string, CallFollower>(), stop: undefined };
  hubs.set(session, hub);
  hub.followers.set(callId, follower);
  hub.stop ??= subscribe(session, hub.followers);
  return () => {
    if (hub.followers.get(callId) === follower) hub.followers.delete(callId);
    if (hub.followers.size > 0) return;
    hub.stop?.();
    hub.stop = undefined;
  };
}

function subscribe(session: ToolSession, followers: ReadonlyMap<string, CallFollower>): () => void {
  const stops = [
    session.events.on('tool:progress', ({ callId, done, total, message }) =>
      followers.get(callId)?.progress?.(done, total, message),
    ),
    session.events.on('tool:event', ({ callId, toolName, name, data }) => {
      if (name !== 'log' || typeof data !== 'object' || data === null) return;
      const { level, data: said } = data as { level?: unknown; data?: unknown };
      if (levels.has(level))
        followerOf(followers, callId)?.log?.(level as LogLevel, said ?? null, toolName);
    }),
  ];
  return () => {
    for (const stop of stops) stop();
  };
}

/** The follower of a call or of its nearest followed parent. Ids of child calls are `parent/1`. */
function followerOf(
  followers: ReadonlyMap<string, CallFollower>,
  callId: string,
): CallFollower | undefined {
  for (let id = callId; ; id = id.slice(0, id.lastIndexOf('/'))) {
    const follower = followers.get(id);
    if (follower !== undefined || !id.includes('/')) return follower;
  }
}
