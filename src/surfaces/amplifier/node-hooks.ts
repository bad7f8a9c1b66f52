/**
 * The hook registry of the Node binding as a {@link HooksPort}. It uses objects instead of JSON
 * text, and adds what the binding lacks: removing a handler, and the data of an emission.
 */
import type { HookHandler, HookResult, HooksPort } from '../../core.ts';
import { wireText } from '../../values/json/index.ts';
import type { FaultListener } from './coordinator-state.ts';
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

// The data of emissions. The binding returns the answers of handlers, but not the event's final
// data. Our own handler at the end of the order reads the data, and must assign it to the right
// emission.

type EventData = Readonly<Record<string, unknown>>;

/** One emission that has not ended. */
export interface Emission {
  readonly callId: unknown;
  /** The data that went through all handlers, once it is known. */
  seen?: EventData | undefined;
  /** The data could belong to more than one emission. */
  unclear?: boolean;
}

export interface Emissions {
  /** Records an emission. */
  begin(event: string, data: EventData): Emission;
  /** Forgets an emission that has ended. */
  end(event: string, emission: Emission): void;
  /** Registers the handler that reads the data of an event, once. */
  capture(event: string): void;
  /** Whether the handler that reads the data of an event is registered. */
  captures(event: string): boolean;
}

/**
 * The last place in the binding's order. The handler that reads the data is there, and all others
 * run before it.
 */
const lastPriority = 2 ** 31 - 1;

function createEmissions(hooks: NodeHooks): Emissions {
  const underWay = new Map<string, Set<Emission>>();
  const captured = new Set<string>();
  return {
    begin(event, data) {
      const emission: Emission = { callId: data.tool_call_id };
      const emissions = underWay.get(event) ?? new Set();
      underWay.set(event, emissions.add(emission));
      return emission;
    },
    end(event, emission) {
      const emissions = underWay.get(event);
      emissions?.delete(emission);
      if (emissions?.size === 0) underWay.delete(event);
    },
    capture(event) {
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
    },
    captures: (event) => captured.has(event),
  };
}

/** Gives the data to its emission, or to none if there are several candidates. */
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
