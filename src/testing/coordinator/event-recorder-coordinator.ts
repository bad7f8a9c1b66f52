/** Records what a coordinator's hooks emit. */
import type { HookResult } from '../../index.ts';

/** One emission: name and data, as emitted. */
export type RecordedEvent = readonly [name: string, data: Readonly<Record<string, unknown>>];

/**
 * Keeps events as `[name, data]`. `record` is a hook handler too:
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

  /** Keeps an event and lets it continue. Bound, so that it can be passed on. */
  readonly record = (name: string, data: Readonly<Record<string, unknown>> = {}): HookResult => {
    this.#events.push([name, data]);
    return { action: 'continue' };
  };

  /** The same, for code that expects to emit. */
  readonly emit = async (
    name: string,
    data: Readonly<Record<string, unknown>> = {},
  ): Promise<HookResult> => this.record(name, data);

  /** A copy of what was recorded, in order; with a name only the events of that name. */
  getEvents(name?: string): RecordedEvent[] {
    return name === undefined
      ? [...this.#events]
      : this.#events.filter(([recorded]) => recorded === name);
  }

  /** Forgets everything. */
  clear(): void {
    this.#events = [];
  }
}
