/**
 * The data of emissions. The binding returns the answers of handlers, but not the event's final
 * data. Our own handler at the end of the order reads the data, and must assign it to the right
 * emission.
 */

import type { NodeHooks } from './node-binding-port.ts';
import { continueJson } from './node-hook-result.ts';

export type EventData = Readonly<Record<string, unknown>>;

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
export const lastPriority = 2 ** 31 - 1;

export function createEmissions(hooks: NodeHooks): Emissions {
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
