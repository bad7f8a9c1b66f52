/** Events, kept as they come. */
import type { AnyEvent, Emitter, EventType, ToolEvents } from '../index.ts';

/** What {@link recordEvents} keeps. Every member may be destructured. */
export interface EventLog {
  /** All events since the start or the last `clear`, in order. One array that grows. */
  readonly events: readonly AnyEvent[];
  /** Those of one type. */
  readonly of: <T extends EventType>(type: T) => readonly Extract<AnyEvent, { readonly type: T }>[];
  /** Forgets what was recorded, and goes on. */
  readonly clear: () => void;
  /** Records no more; what was recorded stays. */
  readonly stop: () => void;
}

/**
 * Records the events of a session, or of a registry: then those of all its sessions too.
 *
 * @example
 * ```ts
 * import { recordEvents } from 'host-tools/testing';
 *
 * const log = recordEvents(session);
 * await session.call(add, { a: 1, b: 2 });
 * console.log(log.of('tool:post').length); // 1
 * log.stop();
 * ```
 */
export function recordEvents(source: { readonly events: Emitter<ToolEvents> }): EventLog {
  const events: AnyEvent[] = [];
  const stop = source.events.on('*', (event) => void events.push(event));
  return Object.freeze({
    events,
    of: <T extends EventType>(type: T) =>
      events.filter(
        (event): event is Extract<AnyEvent, { readonly type: T }> => event.type === type,
      ),
    clear: () => {
      events.length = 0;
    },
    stop,
  });
}
