/** Records events as they come. */
import type { AnyEvent, Emitter, EventType, ToolEvents } from '../../core.ts';

/** The result of {@link recordEvents}. Its members can be destructured. */
export interface EventLog {
  /**
   * All events since the start or the last `clear`, in order. It is always the same array, which
   * grows.
   */
  readonly events: readonly AnyEvent[];
  /** Returns the recorded events of one type. */
  readonly of: <T extends EventType>(type: T) => readonly Extract<AnyEvent, { readonly type: T }>[];
  /** Forgets the recorded events and continues to record. */
  readonly clear: () => void;
  /** Stops recording. The recorded events are kept. */
  readonly stop: () => void;
}

/**
 * Records the events of a session, or of a registry and all its sessions.
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
