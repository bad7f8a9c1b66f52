/** The interfaces of event streams. They are the same for every transport. */
import type { JsonObject } from '../../../core.ts';
import type { Side } from '../ports/documents.ts';

/** An event in the form that every transport carries. */
export interface StreamEvent {
  /**
   * Its place in the side's log. Absent for events that are not replayed, such as `connected`,
   * `heartbeat` and `goodbye`.
   */
  readonly id?: number;
  readonly event: string;
  readonly data: JsonObject;
}

/** Takes events. */
export interface EventSink {
  /**
   * Takes an event. Returns false when the sink is full because its client reads too slowly. The
   * stream is then over, and `end` is not called.
   */
  send(event: StreamEvent): boolean;
  /**
   * Returns undefined while there is room for more. Otherwise resolves once there is room, or after
   * five seconds. A sender with many events waits for it between them, so that a client that reads
   * is not dropped. Never rejects.
   */
  ready?(): Promise<void> | undefined;
  /**
   * Ends the sink after the last event. A `goodbye` with the reason may have been sent before. It
   * is called once, and not after `close`.
   */
  end(): void;
}

/** A client that wants events. */
export interface StreamRequest {
  readonly code: string;
  readonly side: Side;
  /** Epoch milliseconds when the session ends. */
  readonly expiresAt: number;
  /**
   * The last event that the client has, from `Last-Event-ID` or `after`: a whole number from 0. If
   * absent, the stream starts with the events that the side has not read yet.
   */
  readonly after?: number;
  /**
   * Identifies the running application. A call that must not run twice is not delivered to another
   * one.
   */
  readonly client?: string;
  /**
   * True for a poll that continues the last poll of its client. If another application has
   * connected in between, the poll does not take over its calls but ends as replaced.
   */
  readonly continues?: boolean;
}

/** An open stream. */
export interface OpenStream {
  /** Closes the stream when the client has gone away. Idempotent. */
  close(): void;
}

/** Opens streams of events. */
export interface EventStreams {
  /**
   * Opens a stream. It sends `connected`, the events that the client has missed, and then new ones,
   * with heartbeats.
   */
  open(request: StreamRequest, sink: EventSink): Promise<OpenStream>;
  /**
   * Gets the events after `request.after`, or else the first ones that arrive within `waitMs`
   * milliseconds. The list is empty if none arrive or `signal` aborts.
   */
  poll(
    request: StreamRequest,
    waitMs: number,
    signal: AbortSignal,
  ): Promise<readonly StreamEvent[]>;
  /** How many streams are open on this node. */
  readonly count: number;
  /**
   * Ends all streams with a `goodbye`, so that clients reconnect later or to another node.
   * Idempotent.
   */
  close(): void;
}
