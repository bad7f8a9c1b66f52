/** The events of a connection to a session, in order, over any transport. */
import type { JsonObject } from '../../index.ts';
import type { Side } from '../ports/documents.ts';

/** An event, as every transport carries it. */
export interface StreamEvent {
  /**
   * Its place in the side's log; absent for events that are not replayed (`connected`, `heartbeat`,
   * `goodbye`).
   */
  readonly id?: number;
  readonly event: string;
  readonly data: JsonObject;
}

/** Takes events. */
export interface EventSink {
  /**
   * Takes an event. False when it can take no more because its client reads too slowly. The stream
   * is then over, and `end` is not called.
   */
  send(event: StreamEvent): boolean;
  /**
   * Undefined while there is room for more. Else resolves once there is, or after five seconds. A
   * sender with many events waits for it between them, so that a client that reads is not dropped.
   * Never rejects.
   */
  ready?(): Promise<void> | undefined;
  /**
   * No more events come. A `goodbye` with the reason may have been sent before. Called once, and not
   * after `close`.
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
   * The last event that the client has, from `Last-Event-ID` or `after`: a whole number from 0.
   * Absent: begin with the events that the side has not read yet.
   */
  readonly after?: number;
  /**
   * Identifies the running application. A call that must not run twice is not delivered to another
   * one.
   */
  readonly client?: string;
}

/** A stream that was opened. */
export interface OpenStream {
  /** Closes the stream when the client has gone away. Idempotent. */
  close(): void;
}

/** Opens streams of events. */
export interface EventStreams {
  /** Sends `connected`, the events that the client has missed, then new ones, with heartbeats. */
  open(request: StreamRequest, sink: EventSink): Promise<OpenStream>;
  /**
   * The events after `request.after`, or the first ones that come within `waitMs` milliseconds.
   * Empty after that, or when `signal` aborts.
   */
  poll(
    request: StreamRequest,
    waitMs: number,
    signal: AbortSignal,
  ): Promise<readonly StreamEvent[]>;
  /** How many streams are open on this node. */
  readonly count: number;
  /** Says goodbye to all, so that clients reconnect to another node or later. Idempotent. */
  close(): void;
}
