/**
 * The hook registry of the Node binding as a {@link HooksPort}: objects instead of JSON text,
 * unregistering, and the data of an emission.
 */
import type { HookHandler, HookResult, HooksPort } from '../../index.ts';
import type { FaultListener } from './coordinator-faults.ts';
import type { NodeHooks } from './node-binding-port.ts';
import { answerJson, continueJson, denyJson, readNodeResult } from './node-hook-result.ts';

type EventData = Readonly<Record<string, unknown>>;

/** Hooks over the Node binding. */
export interface NodeHooksPort extends HooksPort {
  /**
   * Gives back a function that silences the handler: the binding cannot take it away, so it stays
   * listed and answers `continue`.
   */
  register(event: string, handler: HookHandler, priority?: number, name?: string): () => void;
  /**
   * Never rejects; what the binding cannot do becomes a deny. `data` is there when the emission
   * continues and could be told from others of the same event that were under way (by their
   * `tool_call_id`); else it is absent, never another emission's.
   */
  emit(event: string, data?: EventData): Promise<HookResult>;
  /** Fields that lie under the data of every emission from now on. */
  setDefaultFields(fields: EventData): void;
}

/** How handlers that answer with a promise are met. */
export type AsyncHandlers = 'deny' | 'pass';

interface Emission {
  readonly callId: unknown;
  seen?: EventData | undefined;
  /** More than one emission could have been meant. */
  unclear?: boolean;
}

/**
 * The latest place in the order that the binding knows; the library's own capture handler stands
 * there, everyone else before it.
 */
const lastPriority = 2 ** 31 - 1;

export function wrapNodeHooks(
  hooks: NodeHooks,
  onFault: FaultListener,
  asyncHandlers: AsyncHandlers,
): NodeHooksPort {
  const registered = new Map<string, { live: number; dead: number }>();
  const underWay = new Map<string, Set<Emission>>();
  const captured = new Set<string>();
  let nextId = 0;

  const capture = (event: string): void => {
    if (captured.has(event)) return;
    captured.add(event);
    hooks.register(
      event,
      (_, dataJson) => {
        const emissions = underWay.get(event);
        if (emissions !== undefined) attribute(emissions, dataJson);
        return continueJson;
      },
      lastPriority,
      'host-tools:capture',
    );
  };

  /**
   * Whether anybody but the capture handler and silenced ones listens: only then does the runtime
   * touch the data.
   */
  const heard = (event: string): boolean => {
    const own = registered.get(event) ?? { live: 0, dead: 0 };
    if (own.live > 0) return true;
    const listed = hooks.listHandlers?.()[event]?.length ?? 0;
    return listed > own.dead + (captured.has(event) ? 1 : 0);
  };

  return {
    register(event, handler, priority = 0, name) {
      nextId += 1;
      const label = name ?? `handler-${nextId}`;
      let current: HookHandler | undefined = handler;
      const counts = registered.get(event) ?? { live: 0, dead: 0 };
      registered.set(event, counts);
      const bridge = (emitted: string, dataJson: string): string | Promise<string> => {
        if (current === undefined) return continueJson;
        const failed = (error: unknown): string => {
          onFault({ where: 'hook', name: label, error });
          return continueJson;
        };
        // Nothing may be thrown from here: for the binding that is fatal.
        try {
          const answer = current(emitted, JSON.parse(dataJson) as EventData);
          if (!isThenable(answer)) return answerJson(answer);
          const settled = Promise.resolve(answer).then(answerJson, failed);
          if (asyncHandlers === 'pass') return settled;
          return denyJson(
            `Hook handler ${label} answered with a promise, which this binding does not wait for`,
          );
        } catch (error) {
          return failed(error);
        }
      };
      hooks.register(event, bridge, clampPriority(priority), label);
      counts.live += 1;
      return () => {
        if (current === undefined) return;
        current = undefined;
        counts.live -= 1;
        counts.dead += 1;
      };
    },

    async emit(event, data = {}) {
      const emission: Emission = { callId: data.tool_call_id };
      const emissions = underWay.get(event) ?? new Set();
      try {
        const dataJson = JSON.stringify(data);
        const listened = heard(event);
        if (listened) capture(event);
        underWay.set(event, emissions.add(emission));
        const result = await hooks.emit(event, dataJson);
        return readNodeResult(
          result,
          listened ? emission.seen : (JSON.parse(dataJson) as EventData),
        );
      } catch (error) {
        // An emission may be a gate: when it cannot be asked, the answer is no.
        onFault({ where: 'binding', name: event, error });
        return { action: 'deny', reason: 'The event could not be emitted' };
      } finally {
        emissions.delete(emission);
        if (emissions.size === 0) underWay.delete(event);
      }
    },

    setDefaultFields(fields) {
      hooks.setDefaultFields?.(JSON.stringify(fields));
    },
  };
}

/** Gives the data that went through the pipeline to the one emission it must belong to. */
function attribute(emissions: ReadonlySet<Emission>, dataJson: string): void {
  const data = JSON.parse(dataJson) as EventData;
  const meant = [...emissions].filter(({ callId }) => callId === data.tool_call_id);
  const [only] = meant;
  if (meant.length === 1 && only !== undefined && only.unclear !== true && only.seen === undefined)
    only.seen = data;
  else
    for (const emission of meant) {
      emission.unclear = true;
      emission.seen = undefined;
    }
}

/** The binding takes 32-bit integers; the last place is taken. */
function clampPriority(priority: number): number {
  const whole = Math.trunc(priority);
  return Number.isNaN(whole) ? 0 : Math.max(-lastPriority, Math.min(whole, lastPriority - 1));
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return (
    typeof value === 'object' &&
    value !== null &&
    typeof (value as { then?: unknown }).then === 'function'
  );
}
