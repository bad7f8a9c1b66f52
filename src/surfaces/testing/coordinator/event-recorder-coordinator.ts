/** Records what a coordinator's hooks emit. */
import type { HookResult } from '../../../core.ts';

/** One emission: name and data, as emitted. */
export type RecordedEvent = readonly [name: string, data: Readonly<Record<string, unknown>>];

/**
 * Records events as `[name, data]`. `record` can be used as a hook handler:
 * `hooks.register('tool:pre', recorder.record)`.
 *
 * @example
 * ```ts
 * import { EventRecorder, TestCoordinator } from 'host-tools/testing';
 *
 * const coordinator = new TestCoordinator();
 * const recorder = new EventRecorder();
 * coordinator.hooks.register('tool:pre', recorder.record);
 * ```
 */
export class EventRecorder {
  #events: RecordedEvent[] = [];

  /** Records an event and returns `continue`. It is bound, so it can be passed on. */
  readonly record = (name: string, data: Readonly<Record<string, unknown>> = {}): HookResult => {
    this.#events.push([name, data]);
    return { action: 'continue' };
  };

  /** Does the same as `record`, for code that expects an `emit`. */
  readonly emit = async (
    name: string,
    data: Readonly<Record<string, unknown>> = {},
  ): Promise<HookResult> => this.record(name, data);

  /** Returns a copy of the recorded events, in order. With a name, only the events of that name. */
  getEvents(name?: string): RecordedEvent[] {
    return name === undefined
      ? [...this.#events]
      : this.#events.filter(([recorded]) => recorded === name);
  }

  /** Forgets the recorded events. */
  clear(): void {
    this.#events = [];
  }
}
