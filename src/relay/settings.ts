/** A relay's options after they were read: complete and checked. */
import type { RelayBus } from './ports/bus.ts';
import type { RelayStore } from './ports/store.ts';

/** Counts of a session, over all nodes; those a minute start with the first use. */
export interface RelayLimits {
  /** Tools that a session may have. @default 1_000 */
  readonly toolsPerSession: number;
  /** Registrations and updates together. @default 10 */
  readonly updatesPerMinute: number;
  /** Calls that the agents of a session make. @default 60 */
  readonly requestsPerMinute: number;
  /** Results that the application of a session sends. @default 60 */
  readonly responsesPerMinute: number;
  /** New sessions from one address. @default 30 */
  readonly sessionsPerMinute: number;
  /**
   * Readings of the metadata, of each side of a session, those answered by 304 among them. @default
   * 300
   */
  readonly metadataPerMinute: number;
  /** Polls, and readings of what became of a request, of each side of a session. @default 600 */
  readonly readsPerMinute: number;
  /** Streams and WebSockets that are opened, of each side of a session. @default 60 */
  readonly streamsPerMinute: number;
  /**
   * Messages of the Model Context Protocol that a session's agents send, tool calls among them.
   * @default 600
   */
  readonly mcpMessagesPerMinute: number;
}

/** A pino-shaped sink for structured lines. */
export interface RelayLogger {
  /** What happened, such as a request. */
  info(data: object, message?: string): void;
  /** What was survived. */
  warn(data: object, message?: string): void;
  /** What failed. */
  error(data: object, message?: string): void;
}

/** What every part of a relay works with. */
export interface RelaySettings {
  /** Rejects with a relay error `store_unavailable`, and with nothing else. */
  readonly store: RelayStore;
  readonly bus: RelayBus;
  readonly ttlMs: number;
  readonly requestTimeoutMs: number;
  readonly heartbeatMs: number;
  readonly leaseMs: number;
  readonly limits: RelayLimits;
  readonly pairing: boolean;
  readonly pinDefinitions: boolean;
  /** Epoch milliseconds. */
  readonly now: () => number;
  readonly logger: RelayLogger;
  /** This node, among those that share the store. */
  readonly node: string;
}
