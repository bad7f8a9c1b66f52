/**
 * One attempt to get events from the relay: what a transport is given, and what each transport is.
 */
import type { JsonObject } from './json.ts';
import type { RelayTransport } from './options.ts';
import type { RelayClientError } from './relay-client-error.ts';
import { relayClientError } from './relay-client-error.ts';
import type { Scope } from './scope.ts';

/** An event, whatever carried it. */
export interface LineEvent {
  /** Its place in the log; undefined for what is not replayed. */
  readonly id: string | undefined;
  readonly event: string;
  readonly data: JsonObject;
}

/** What a transport works on. */
export interface Line {
  /** Ends when the line is given up; the transport then stops. */
  readonly scope: Scope;
  /** The id of the last event that came, on whatever line. */
  readonly after: () => string | undefined;
  /** Which running application this is. */
  readonly client: string;
  /** Longest silence of a relay that is there, in milliseconds. */
  readonly silenceMs: () => number;
  /** Something came, be it only a comment. */
  heard(): void;
  /** The line stands. `connected` says so too. */
  up(): void;
  /** An event came. */
  receive(event: LineEvent): void;
  /** Frames can be sent on this line. Before `up`. */
  speak(send: (frame: string) => void): void;
  /** The relay says how long to wait before the next attempt. */
  retry(ms: number): void;
}

/** One way to get events. */
export interface Transport {
  readonly name: RelayTransport;
  /**
   * Brings events until the line breaks: rejects with why, or resolves where the other end just
   * closed.
   */
  run(line: Line): Promise<void>;
}

/** For a transport that does not work here, where another may. */
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
