/** What a connection to a session is given: events in order, whatever carries them. */
import type { JsonObject } from '../../index.ts';
import type { Side } from '../ports/documents.ts';

/** An event as every transport shows it. */
export interface StreamEvent {
  /**
   * Its place in the side's log; absent for what is not replayed (`connected`, `heartbeat`,
   * `goodbye`).
   */
  readonly id?: number;
  readonly event: string;
  readonly data: JsonObject;
}

/** Where events go. */
export interface EventSink {
  /**
   * Takes an event. False when it can take no more, since its client reads too slowly: the stream
   * is then over, and `end` is not called.
   */
  send(event: StreamEvent): boolean;
  /**
   * Undefined while there is room for more; else resolves once there is, or after five seconds
   * without. Whoever has much to send at once waits for it between events, so that a client which
   * reads is not taken for one that does not. Never rejects.
   */
  ready?(): Promise<void> | undefined;
  /**
   * Nothing more will come; a `goodbye` that says why may have been sent before. Called once, not
   * after `close`.
   */
  end(): void;
}

/** Who wants events. */
export interface StreamRequest {
  readonly code: string;
  readonly side: Side;
  /** Epoch milliseconds when the session ends. */
  readonly expiresAt: number;
  /**
   * The last event that the client has, from `Last-Event-ID` or `after`: a whole number from 0.
   * Absent: what nobody was given yet.
   */
  readonly after?: number;
  /**
   * Which running application this is. Calls that must not run twice are not given to another one.
   */
  readonly client?: string;
}

/** A stream that was opened. */
export interface OpenStream {
  /** The client went away. Idempotent. */
  close(): void;
}

/** Opens streams of events. */
export interface EventStreams {
  /** Sends `connected`, what the client has missed, and then what comes, with heartbeats. */
  open(request: StreamRequest, sink: EventSink): Promise<OpenStream>;
  /**
   * What there is after `request.after`, or what comes first within `waitMs`; empty after that, or
   * when `signal` aborts.
   */
  poll(
    request: StreamRequest,
    waitMs: number,
    signal: AbortSignal,
  ): Promise<readonly StreamEvent[]>;
  /** How many streams are open on this node. */
  readonly count: number;
  /** Says goodbye to all: clients are to reconnect, elsewhere or later. Idempotent. */
  close(): void;
}
