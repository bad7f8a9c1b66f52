/** The checked options of a relay, with their defaults. */
import type { KeptStore } from './ports/kept-store.ts';

/**
 * Limits per session, or per address where a limit says so, shared by all nodes. The minute of a
 * limit starts with the first use.
 */
export interface RelayLimits {
  /** Tools that a session may have. @default 1_000 */
  readonly toolsPerSession: number;
  /**
   * Bytes of the results that a session keeps for agents that come back, as JSON. Above this limit,
   * the oldest are removed, but the newest is always kept. Results under 16 KB do not count.
   * @default 33_554_432
   */
  readonly resultBytesPerSession: number;
  /** Registrations and updates together. @default 10 */
  readonly updatesPerMinute: number;
  /** Calls that the agents of a session make. @default 60 */
  readonly requestsPerMinute: number;
  /** Results that the application of a session sends. @default 60 */
  readonly responsesPerMinute: number;
  /** Reports of progress that the application of a session sends. @default 600 */
  readonly progressPerMinute: number;
  /** New sessions from one address. @default 30 */
  readonly sessionsPerMinute: number;
  /**
   * Requests for the metadata, for each side of a session, including those answered with 304.
   * @default 300
   */
  readonly metadataPerMinute: number;
  /**
   * Polls, requests for the status of a call, and cancellations, for each side of a session.
   * @default 600
   */
  readonly readsPerMinute: number;
  /** Streams and WebSockets that are opened, for each side of a session. @default 60 */
  readonly streamsPerMinute: number;
  /**
   * Messages of the Model Context Protocol from a session's agents, including tool calls.
   * @default 600
   */
  readonly mcpMessagesPerMinute: number;
}

/** A logger with the methods of pino. */
export interface RelayLogger {
  /** Ordinary events, such as a request. */
  info(data: object, message?: string): void;
  /** Problems that the relay has dealt with. */
  warn(data: object, message?: string): void;
  /** Failures. */
  error(data: object, message?: string): void;
}

/** The settings that every part of a relay uses. */
export interface RelaySettings {
  readonly store: KeptStore;
  readonly ttlMs: number;
  /** The most milliseconds that a session may live from its creation. */
  readonly maxTtlMs: number;
  readonly requestTimeoutMs: number;
  readonly heartbeatMs: number;
  readonly leaseMs: number;
  readonly limits: RelayLimits;
  readonly pairing: boolean;
  readonly pinDefinitions: boolean;
  /** Epoch milliseconds. */
  readonly now: () => number;
  readonly logger: RelayLogger;
  /** Identifies this node among those that share the store. */
  readonly node: string;
}
