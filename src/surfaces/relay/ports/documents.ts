/**
 * What the store keeps for a session: documents by key, two logs and one lease. Values are JSON.
 */
import type { JsonObject, JsonValue, ToolResult } from '../../../index.ts';

/** The two sides that a session connects. */
export type Side = 'application' | 'agent';

/** Keys and names in the store. */
export const keys = {
  session: 'session',
  tools: 'tools',
  request: (id: string): string => `request:${id}`,
  call: (id: string): string => `call:${id}`,
  ticket: (hash: string): string => `ticket:${hash}`,
  tickets: 'tickets',
  mcpSessions: 'mcp',
  mcpSession: (hash: string): string => `mcp:${hash}`,
  /** How far a side has read its log. */
  cursor: (side: Side): string => `cursor:${side}`,
  /** Held by the connection that gets the application's calls. */
  applicationLease: 'application',
  /** A session of its own for each node, with a lease that it holds while it is alive. */
  node: (node: string): string => `node:${node}`,
  nodeLease: 'node',
  /** How often each tool has been called. */
  usage: 'usage',
  /** The large results that are kept, and their sizes. */
  keptResults: 'kept-results',
} as const;

/** `session`: the tokens and the expiry. Read at every request. */
export interface SessionDocument {
  readonly code: string;
  /** Epoch milliseconds. */
  readonly createdAt: number;
  readonly expiresAt: number;
  /** Hashes of each side's tokens: the first one, and the one from pairing. */
  readonly tokens: Readonly<Record<Side, readonly string[]>>;
  /** Sides that have exchanged the code for a token. */
  readonly paired: readonly Side[];
  /** The `revision` of `tools`; 0 before a registration. */
  readonly toolsRevision: number;
}

/** An accepted definition, cleaned and checked. */
export interface RelayedDefinition {
  readonly name: string;
  readonly description: string;
  readonly parameters: JsonObject;
  readonly outputSchema?: JsonObject;
  readonly title?: string;
  readonly annotations?: JsonObject;
  /** What the application says of the limits of its tool. Only shown. */
  readonly constraints?: JsonObject;
  /**
   * The cost of the patterns of its schemas, in instructions; absent if there are none. The sum of
   * a session is limited.
   */
  readonly patternSize?: number;
}

/**
 * `tools`: what the application has registered. The definitions are stored under their own key.
 */
export interface ToolsDocument {
  /** From 1; grows with each change. */
  readonly revision: number;
  readonly pluginType: string;
  readonly pluginVersion: string;
  readonly capabilities: readonly JsonValue[];
  readonly environment: JsonObject;
  /** What the application says of its limits. Only shown; absent if it says nothing. */
  readonly constraints?: JsonObject;
  readonly definitions: readonly RelayedDefinition[];
  /**
   * The definitions that were removed last, for clients that read older changes later. Limited in
   * size.
   */
  readonly gone?: readonly RelayedDefinition[];
  /** Epoch milliseconds. */
  readonly registeredAt: number;
  readonly updatedAt: number;
  /** When tools were added or changed since the registration. Others are as old as it. */
  readonly changedAt?: Readonly<Record<string, number>>;
  /** If definitions are pinned: the hash of the first definition of each name. */
  readonly pins?: Readonly<Record<string, string>>;
}

/** `request:<id>`: a call that an agent asked for over REST. */
export interface RequestDocument {
  readonly tool: string;
  /** Absent once the request is done. */
  readonly args?: JsonValue;
  /** The hash of tool and arguments. The same id with another hash is a conflict. */
  readonly hash: string;
  readonly status: 'queued' | 'running' | 'done';
  /** Epoch milliseconds. */
  readonly createdAt: number;
  /** The node that runs it; absent if an earlier version has stored it. */
  readonly node?: string;
  /**
   * The result of the call. Before the request is done: the result that says that it waits for
   * approval.
   */
  readonly result?: ToolResult;
  /** While the call waits for approval: until when it can be answered, in epoch milliseconds. */
  readonly waitsUntil?: number;
  /** The approval was answered and the call runs. It must not be started again. */
  readonly resumed?: true;
  /** The agent has cancelled the request, which is done. Its approval must not run it. */
  readonly cancelled?: true;
  /** How often the request was taken over. */
  readonly taken?: number;
}

/** `call:<id>`: a call to the application. */
export interface CallDocument {
  readonly tool: string;
  /** Absent once the call is answered. */
  readonly args?: JsonObject;
  /** Epoch milliseconds. */
  readonly deadline: number;
  /** The call may run twice. */
  readonly idempotent: boolean;
  /** How often it was delivered. */
  readonly attempt: number;
  /** The epoch of the connection that received it last; 0 before the first delivery. */
  readonly epoch: number;
  /** The application that received it last, if it has given a name. */
  readonly client?: string;
  /** `lost`: it was delivered to an application that is gone, and must not run twice. */
  readonly state: 'open' | 'answered' | 'lost' | 'ended';
  readonly answer?: CallAnswer;
}

/** What the application answered. */
export type CallAnswer = { readonly result: JsonValue } | { readonly error: JsonValue };

/** How far a call has got, as its application says. */
export interface CallProgress {
  /** From 0, in a unit of the tool's choice. */
  readonly done: number;
  readonly total?: number;
  /** One line. */
  readonly message?: string;
}

/** Most entries that a side's log keeps. */
export const logKeep = 1_000;

/** An entry of a log. It names what happened; the documents hold the data. */
export type LogRecord =
  /** Application: a call to deliver, at least for the `attempt`th time. */
  | { readonly kind: 'call'; readonly id: string; readonly attempt: number }
  /** Application: a call that has no waiting caller. */
  | { readonly kind: 'cancel'; readonly id: string; readonly reason: string }
  /** Agent: a request is done. */
  | { readonly kind: 'result'; readonly id: string }
  /** Agent: a call waits for approval. */
  | {
      readonly kind: 'approval';
      readonly approvalId: string;
      readonly id: string;
      readonly title: string;
      readonly message?: string;
      readonly risk?: string;
    }
  /** Both: the tools changed. Definitions are looked up when the entry is delivered. */
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
  /** There were too many names to keep, so clients have to read all tools again. */
  readonly all?: true;
}

/** A message on the bus that wakes a session's listeners. The channel is the session's code. */
export type Wake =
  /** The side's log has grown. */
  | 'log:application'
  /** The application's log has grown by a new call: the call, and its version. */
  | `log:application ${string}`
  | 'log:agent'
  /** `tools` has changed. */
  | 'tools'
  /** Another connection has the application's lease. */
  | 'lease'
  /** The session was deleted. */
  | 'closed'
  /** A call has ended or was answered, perhaps with its document and version, or a request is done. */
  | `call:${string}`
  | `request:${string}`
  /** The agent has cancelled a request. */
  | `cancel:${string}`
  /** To a node, whose channel has the name of its session: look after one of its requests. */
  | `look:${string}`
  /** The application has reported the progress of a call, for the node that runs it. */
  | `report:${string}`
  /** A call has made progress, for those who listen. */
  | `progress:${string}`;
