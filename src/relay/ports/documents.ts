/** What is kept of a session: documents by key, two logs, one lease. Values are JSON. */
import type { JsonObject, JsonValue, ToolResult } from '../../index.ts';

/** The two sides that a session joins. */
export type Side = 'application' | 'agent';

/** Keys and names in the store. */
export const keys = {
  session: 'session',
  tools: 'tools',
  request: (id: string): string => `request:${id}`,
  call: (id: string): string => `call:${id}`,
  ticket: (hash: string): string => `ticket:${hash}`,
  mcpSessions: 'mcp',
  mcpSession: (hash: string): string => `mcp:${hash}`,
  /** How far a side's log was delivered while anybody listened. */
  cursor: (side: Side): string => `cursor:${side}`,
  /** Held by the connection that gets the application's calls. */
  applicationLease: 'application',
} as const;

/** `session`: who may speak, until when. Read at every request. */
export interface SessionDocument {
  readonly code: string;
  /** Epoch milliseconds. */
  readonly createdAt: number;
  readonly expiresAt: number;
  /** Hashes of the tokens of a side: the first, and the one that pairing gave. */
  readonly tokens: Readonly<Record<Side, readonly string[]>>;
  /** Sides that have traded the code. */
  readonly paired: readonly Side[];
  /** The `revision` of `tools`; 0 before a registration. */
  readonly toolsRevision: number;
}

/** A definition as it was accepted: cleaned and checked. */
export interface RelayedDefinition {
  readonly name: string;
  readonly description: string;
  readonly parameters: JsonObject;
  readonly outputSchema?: JsonObject;
  readonly title?: string;
  readonly annotations?: JsonObject;
  /**
   * What the patterns of its schemas cost, in instructions; absent where there are none. All of a
   * session together are bounded.
   */
  readonly patternSize?: number;
}

/**
 * `tools`: what the application has registered. Its definitions are kept under a key of their own.
 */
export interface ToolsDocument {
  /** From 1; grows with each change. */
  readonly revision: number;
  readonly pluginType: string;
  readonly pluginVersion: string;
  readonly capabilities: readonly JsonValue[];
  readonly environment: JsonObject;
  readonly definitions: readonly RelayedDefinition[];
  /**
   * The last ones that were removed, for whoever is told only later that they were there; bounded.
   */
  readonly gone?: readonly RelayedDefinition[];
  /** Epoch milliseconds. */
  readonly registeredAt: number;
  readonly updatedAt: number;
  /** Hashes of the first definition of each name ever registered, where definitions are pinned. */
  readonly pins?: Readonly<Record<string, string>>;
}

/** `request:<id>`: a call that an agent asked for over REST. */
export interface RequestDocument {
  readonly tool: string;
  /** Until it is done. */
  readonly args?: JsonValue;
  /** Of tool and arguments: the id again with others is a conflict. */
  readonly hash: string;
  readonly status: 'queued' | 'running' | 'done';
  /** Epoch milliseconds. */
  readonly createdAt: number;
  /** How it ended; before it is done, that it waits for a person. */
  readonly result?: ToolResult;
  /** Epoch milliseconds until which a person may answer; only while one is waited for. */
  readonly waitsUntil?: number;
  /** A person has answered, and it runs since: it cannot be begun again. */
  readonly resumed?: true;
  /** How often nodes have taken it over. */
  readonly taken?: number;
}

/** `call:<id>`: a call on its way to the application, whoever asked for it. */
export interface CallDocument {
  readonly tool: string;
  /** Until it is answered. */
  readonly args?: JsonObject;
  /** Epoch milliseconds. */
  readonly deadline: number;
  /** It may run twice. */
  readonly idempotent: boolean;
  /** How often it was delivered. */
  readonly attempt: number;
  /** The epoch of the connection that it was delivered to last; 0 before. */
  readonly epoch: number;
  /** The application that it was delivered to, where that said who it is. */
  readonly client?: string;
  /** `lost`: delivered to an application that is gone, and must not run twice. */
  readonly state: 'open' | 'answered' | 'lost' | 'ended';
  readonly answer?: CallAnswer;
}

/** What the application answered. */
export type CallAnswer = { readonly result: JsonValue } | { readonly error: JsonValue };

/** Most entries that a side's log keeps. */
export const logKeep = 1_000;

/** An entry of a log: it names what happened, the documents hold it. */
export type LogRecord =
  /** Application: a call to deliver, the `attempt`th time at least. */
  | { readonly kind: 'call'; readonly id: string; readonly attempt: number }
  /** Application: a call that nobody waits for any more. */
  | { readonly kind: 'cancel'; readonly id: string; readonly reason: string }
  /** Agent: a request is done. */
  | { readonly kind: 'result'; readonly id: string }
  /** Agent: a person is to decide. */
  | {
      readonly kind: 'approval';
      readonly approvalId: string;
      readonly id: string;
      readonly title: string;
      readonly message?: string;
      readonly risk?: string;
    }
  /** Both: the tools changed. Definitions are looked up when it is delivered. */
  | ToolsRecord;

/** The names of a change of tools. */
export interface ToolsRecord {
  readonly kind: 'tools';
  readonly added: readonly string[];
  readonly removed: readonly string[];
  readonly modified: readonly string[];
  readonly reason: string;
  /** Epoch milliseconds. */
  readonly at: number;
  /** The names were too many to keep: everything is to be read again. */
  readonly all?: true;
}

/** What wakes a session's listeners, on the bus. The channel is the session's code. */
export type Wake =
  /** The side's log has grown. */
  | 'log:application'
  | 'log:agent'
  /** `tools` has changed. */
  | 'tools'
  /** Another connection has the application's lease. */
  | 'lease'
  /** The session was deleted. */
  | 'closed'
  /** A call was answered; a request is done. */
  | `call:${string}`
  | `request:${string}`;
