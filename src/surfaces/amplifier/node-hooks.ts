/**
 * The hook registry of the Node binding as a {@link HooksPort}. It uses objects instead of JSON
 * text, and adds what the binding lacks: removing a handler, and the data of an emission.
 */
import type { HookHandler, HookResult, HooksPort } from '../../core.ts';
import { wireText } from '../../values/json/index.ts';
import type { FaultListener } from './coordinator-faults.ts';
import { createEmissions, type EventData, lastPriority } from './emissions.ts';
import type { NodeHooks } from './node-binding-port.ts';
import { answerJson, continueJson, denyJson, readNodeResult } from './node-hook-result.ts';

/** The hooks of a Node binding. */
export interface NodeHooksPort extends HooksPort {
  /**
   * Registers a handler. Returns a function that silences it: the binding cannot remove a handler,
   * so it stays listed and answers `continue`.
   */
  register(event: string, handler: HookHandler, priority?: number, name?: string): () => void;
  /**
   * Emits an event. Never rejects: if the binding fails, the result is a deny. The result has
   * `data` if the emission continues and the data is certain to be this emission's. If several
   * emissions of one event run at once, `tool_call_id` distinguishes them.
   */
  emit(event: string, data?: EventData): Promise<HookResult>;
  /** Sets fields that are added to the data of every later emission. */
  setDefaultFields(fields: EventData): void;
}

/** What happens if a hook handler returns a promise. */
export type AsyncHandlers = 'deny' | 'pass';

/** Handlers that were registered here for one event. */
interface Counts {
  live: number;
  silenced: number;
}

export function wrapNodeHooks(
  hooks: NodeHooks,
  onFault: FaultListener,
  asyncHandlers: AsyncHandlers,
): NodeHooksPort {
  const registered = new Map<string, Counts>();
  const emissions = createEmissions(hooks);
  let nextId = 0;

  /** Whether any handler besides ours listens. Only then can the data change. */
  const isHeard = (event: string): boolean => {
    const own = registered.get(event) ?? { live: 0, silenced: 0 };
    if (own.live > 0) return true;
    const listed = hooks.listHandlers?.()[event]?.length ?? 0;
    return listed > own.silenced + (emissions.captures(event) ? 1 : 0);
  };

  return {
    register(event, handler, priority = 0, name) {
      nextId += 1;
      const bridge = createBridge(handler, name ?? `handler-${nextId}`, onFault, asyncHandlers);
      const counts = registered.get(event) ?? { live: 0, silenced: 0 };
      registered.set(event, counts);
      hooks.register(event, bridge.call, clampPriority(priority), bridge.name);
      counts.live += 1;
      return () => {
        if (!bridge.silence()) return;
        counts.live -= 1;
        counts.silenced += 1;
      };
    },

    async emit(event, data = {}) {
      const emission = emissions.begin(event, data);
      try {
        const dataJson = wireText(data);
        const heard = isHeard(event);
        if (heard) emissions.capture(event);
        const result = await hooks.emit(event, dataJson);
        return readNodeResult(result, heard ? emission.seen : (JSON.parse(dataJson) as EventData));
      } catch (error) {
        // An emission may be a check. If it cannot run, the answer is no.
        onFault({ where: 'binding', name: event, error });
        return { action: 'deny', reason: 'The event could not be emitted' };
      } finally {
        emissions.end(event, emission);
      }
    },

    setDefaultFields(fields) {
      hooks.setDefaultFields?.(wireText(fields));
    },
  };
}

/** A handler as the binding calls it. */
interface Bridge {
  readonly name: string;
  readonly call: (event: string, dataJson: string) => string | Promise<string>;
  /** From now on the handler is not called. False if it had been silenced before. */
  silence(): boolean;
}

function createBridge(
  handler: HookHandler,
  name: string,
  onFault: FaultListener,
  asyncHandlers: AsyncHandlers,
): Bridge {
  let current: HookHandler | undefined = handler;
  const failed = (error: unknown): string => {
    onFault({ where: 'hook', name, error });
    return continueJson;
  };
  return {
    name,
    call(event, dataJson) {
      if (current === undefined) return continueJson;
      // An exception from here would crash the binding.
      try {
        const answer = current(event, JSON.parse(dataJson) as EventData);
        if (!isThenable(answer)) return answerJson(answer);
        const settled = Promise.resolve(answer).then(answerJson, failed);
        if (asyncHandlers === 'pass') return settled;
        return denyJson(
          `Hook handler ${name} returned a promise, and this binding does not wait for promises`,
        );
      } catch (error) {
        return failed(error);
      }
    },
    silence() {
      if (current === undefined) return false;
      current = undefined;
      return true;
    },
  };
}

/** The binding takes 32-bit integers, and the last place is reserved for our own handler. */
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
