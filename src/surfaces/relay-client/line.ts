/** A line is one attempt to get events from the relay. A transport runs it. */
import type { JsonObject } from './json.ts';
import type { RelayTransport } from './options.ts';
import { type RelayClientError, relayClientError } from './relay-client-error.ts';
import type { Scope } from './scope.ts';

/** An event, from any transport. */
export interface LineEvent {
  /** Its position in the log; undefined for an event that is never replayed. */
  readonly id: string | undefined;
  readonly event: string;
  readonly data: JsonObject;
}

/** The input of a transport. */
export interface Line {
  /** Ends when the line is given up. Then the transport must stop. */
  readonly scope: Scope;
  /** The id of the last event that arrived, on any line. */
  readonly after: () => string | undefined;
  /** Identifies this running application. */
  readonly client: string;
  /** Milliseconds of silence after which the relay counts as gone. */
  readonly silenceMs: () => number;
  /** Something arrived, even if it is only a comment. */
  heard(): void;
  /** The line is up. The event `connected` has the same effect. */
  up(): void;
  /** An event arrived. */
  receive(event: LineEvent): void;
  /** Frames can be sent on this line. Called before `up`. */
  addDecision(send: (frame: string) => void): void;
  /** The relay says how long to wait before the next attempt. */
  retry(ms: number): void;
}

/** One way to get events from the relay. */
export interface Transport {
  readonly name: RelayTransport;
  /**
   * Receives events until the line breaks. Rejects with the reason, or resolves if the other end
   * closed without one.
   */
  run(line: Line): Promise<void>;
}

/** The error of a transport that does not work here, although another one may. */
export function transportUnavailable(message: string): RelayClientError {
  return relayClientError('transport_unavailable', message);
}

/** Path and query of a stream. */
export function streamPath(
  line: Pick<Line, 'client'>,
  more: Readonly<Record<string, string | undefined>> = {},
): string {
  const query = new URLSearchParams({ client: line.client });
  for (const [key, value] of Object.entries(more)) if (value !== undefined) query.set(key, value);
  return `/stream?${query}`;
}
