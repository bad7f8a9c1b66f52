/**
 * The data that the store keeps for a session: documents by key, three logs and one lease. The
 * values of documents are JSON.
 */
import type { JsonObject, JsonValue, ToolResult } from '../../../core.ts';

/** The two sides that a session connects. */
export type Side = 'application' | 'agent';

/** Keys and names in the store. */
export const keys = {
  session: 'session',
  tools: 'tools',
  request: (id: string): string => `request:${id}`,
  call: (id: string): string => `call:${id}`,
  ticket: (hash: string): string => `ticket:${hash}`,
  /** The log of the hashes of a session's tickets. */
  ticketLog: 'tickets',
  mcpSessions: 'mcp',
  mcpSession: (hash: string): string => `mcp:${hash}`,
  /** How far a side has read its log. */
  cursor: (side: Side): string => `cursor:${side}`,
  /** The lease of the connection that gets the application's calls. */
  applicationLease: 'application',
  /** The name of a node's own session. The node holds a lease in it while it is alive. */
  node: (node: string): string => `node:${node}`,
  nodeLease: 'node',
  /** How many times each tool was called. */
  usage: 'usage',
  /** The list of the large results that are kept, with their sizes. */
  keptResults: 'kept-results',
} as const;

/** `session`: the tokens and the expiry. Every request reads it. */
export interface SessionDocument {
  readonly code: string;
  /** Epoch milliseconds. */
  readonly createdAt: number;
  readonly expiresAt: number;
  /** Hashes of each side's tokens: the first one, and the one from pairing. */
  readonly tokens: Readonly<Record<Side, readonly string[]>>;
  /** Sides that have exchanged the code for a token. */
  readonly paired: readonly Side[];
  /** The `revision` of `tools`; 0 before the first registration. */
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
  /**
   * The limits of the tool, as its application describes them. They are shown, but not enforced.
   */
  readonly constraints?: JsonObject;
  /**
   * The cost of the regular expressions in its schemas, in instructions; absent if there are none.
   * The sum over all tools of a session is limited.
   */
  readonly patternSize?: number;
}

/** `tools`: the application's registration. Its definitions are stored under a key of their own. */
export interface ToolsDocument {
  /** Starts at 1 and grows with each change. */
  readonly revision: number;
  readonly pluginType: string;
  readonly pluginVersion: string;
  readonly capabilities: readonly JsonValue[];
  readonly environment: JsonObject;
  /**
   * The application's limits, as it describes them. They are shown, but not enforced. Absent if it
   * describes none.
   */
  readonly constraints?: JsonObject;
  readonly definitions: readonly RelayedDefinition[];
  /**
   * The definitions that were removed last. Clients that read older changes later still need them.
   * Limited in size.
   */
  readonly gone?: readonly RelayedDefinition[];
  /** Epoch milliseconds. */
  readonly registeredAt: number;
  readonly updatedAt: number;
  /**
   * When each tool was added or changed, if that was after the registration. All other tools are as
   * old as the registration.
   */
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
  /**
   * The node that runs it. Absent while no node runs it, and in documents that an earlier version
   * of the relay has stored.
   */
  readonly node?: string;
  /** The result of the call. While the call waits for approval, this is the result that says so. */
  readonly result?: ToolResult;
  /**
   * While the call waits for approval, the time until which the approval can be answered, in epoch
   * milliseconds.
   */
  readonly waitsUntil?: number;
  /** Set once the approval was answered and the call runs. The call must not be started again. */
  readonly resumed?: true;
  /** Set once the agent has cancelled the request. An answer to its approval must not run it. */
  readonly cancelled?: true;
  /** How many times the request was taken over. */
  readonly taken?: number;
}

/** `call:<id>`: a call to the application. */
export interface CallDocument {
  readonly tool: string;
  /** Absent once the call is answered. */
  readonly args?: JsonObject;
  /** Epoch milliseconds. */
  readonly deadline: number;
  /** Whether the call may run twice. */
  readonly idempotent: boolean;
  /** How many times it was delivered. */
  readonly attempt: number;
  /** The epoch of the connection that received it last; 0 before the first delivery. */
  readonly epoch: number;
  /** The application that received it last, if it has given a name. */
  readonly client?: string;
  /**
   * `lost` means that the call was delivered to an application that is gone, and that it must not
   * run twice.
   */
  readonly state: 'open' | 'answered' | 'lost' | 'ended';
  readonly answer?: CallAnswer;
}

/** An application's answer to a call. */
export type CallAnswer = { readonly result: JsonValue } | { readonly error: JsonValue };

/** The progress of a call, as its application reports it. */
export interface CallProgress {
  /** Starts at 0, in a unit that the tool chooses. */
  readonly done: number;
  readonly total?: number;
  /** One line. */
  readonly message?: string;
}

/** The most entries that a side's log keeps. */
export const logKeep = 1_000;

/** An entry of a log. It names what happened; the documents hold the data. */
export type LogRecord =
  /** For the application: a call to deliver, at least for the `attempt`th time. */
  | { readonly kind: 'call'; readonly id: string; readonly attempt: number }
  /** For the application: a call that no caller waits for any more. */
  | { readonly kind: 'cancel'; readonly id: string; readonly reason: string }
  /** For the agent: a request is done. */
  | { readonly kind: 'result'; readonly id: string }
  /** For the agent: a call waits for approval. */
  | {
      readonly kind: 'approval';
      readonly approvalId: string;
      readonly id: string;
      readonly title: string;
      readonly message?: string;
      readonly risk?: string;
    }
  /** For both sides: the tools changed. Definitions are looked up when the entry is delivered. */
  | ToolsRecord;

/** A change of tools, by their names. */
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
  /**
   * The application's log has grown by a new call. The message carries the call and its version.
   */
  | `log:application ${string}`
  | 'log:agent'
  /** `tools` has changed. */
  | 'tools'
  /** The holder of the application's lease has changed. */
  | 'lease'
  /** The session was deleted. */
  | 'closed'
  /** A call has ended or was answered. The message may carry its document and version. */
  | `call:${string}`
  /** A request is done, or its call waits for approval. */
  | `request:${string}`
  /** The agent has cancelled a request. */
  | `cancel:${string}`
  /**
   * Sent to a node, on the channel of the node's own session: it should look after one of its
   * requests.
   */
  | `look:${string}`
  /** For the node that runs a call: the application has reported its progress. */
  | `report:${string}`
  /** For agents that listen: a call has made progress. */
  | `progress:${string}`;
