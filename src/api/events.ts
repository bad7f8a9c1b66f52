/** The typed map of all events. */

import type { ToolError } from '../values/errors/index.ts';
import type { JsonValue } from '../values/json/index.ts';
import type { GivenAnswer } from './answers.ts';
import type { ApprovalRequest, ApprovalSettled } from './approval.ts';
import type { Actor } from './delegation.ts';
import type { OriginTold } from './origins.ts';
import type { Effect } from './policy.ts';

/** The members of every event of a session. */
export interface EventBase {
  /** The session in which it happened. */
  readonly sessionId: string;
  /** Who the session acts for; `""` if it acts for no one. */
  readonly principal: string;
  /** The same, with the agents through which it acts. All events of a session share one. */
  readonly actor: Actor;
  /**
   * The surface through which the call came, such as `mcp`. `""` for a direct call, and for events
   * that belong to no call.
   */
  readonly surface: string;
  /** Epoch milliseconds by the registry's `now`. */
  readonly at: number;
  /** Grows by one with each event of the session. */
  readonly seq: number;
}

/**
 * The cause of a changed listing: the registry's tools, a session's own tools, its profile or the
 * definition of that profile, its overrides, its facts, rules, or tools that `find_tools` found.
 */
export type ChangeReason =
  | 'registry'
  | 'session'
  | 'profile'
  | 'overrides'
  | 'facts'
  | 'rules'
  | 'discovered';

interface CallEvent extends EventBase {
  readonly toolName: string;
  readonly callId: string;
}

/**
 * Every event and its payload. Payloads are copies that can be written as JSON. If an event has
 * several listeners, its payload is deeply frozen, so that none can change what another reads.
 * Secrets are redacted.
 */
export interface ToolEvents {
  /** A call arrived. */
  'tool:pre': CallEvent & {
    /** The input as it was sent, with its secrets redacted; null if it is not valid JSON. */
    readonly input: JsonValue;
    /** 1, or 2 for a call that was suspended and resumed. */
    readonly attempt: number;
    /** The id of the call whose handler made this one. */
    readonly parentCallId?: string;
  };
  /** A call succeeded. */
  'tool:post': CallEvent & { readonly result: JsonValue; readonly durationMs: number };
  /** A call ended in any other way, including a suspension. */
  'tool:error': CallEvent & {
    /**
     * The input as it was when the call ended, with its secrets redacted: as it was sent, or as
     * repairs, defaults, hooks and people changed it since. Null if it is not valid JSON.
     */
    readonly input: JsonValue;
    /** Why the call ended. */
    readonly error: ToolError;
    /** The `metadata.status` of the call's result. */
    readonly status: string;
    /** What a program has logged, of code mode. Those of a success are in the result's metadata. */
    readonly logs?: readonly string[];
    /** Milliseconds since the call arrived. */
    readonly durationMs: number;
  };
  /** A handler reported progress, by `context.progress` or as a generator that yields it. */
  'tool:progress': CallEvent & {
    /** How much is done, in a unit of the tool's choice. */
    readonly done: number;
    /** How much there is in total, if the tool knows. */
    readonly total?: number;
    /** The tool's own description of its progress. */
    readonly message?: string;
  };
  /** A handler sent an event with `context.emit` or `context.log`, or yielded a value. */
  'tool:event': CallEvent & { readonly name: string; readonly data?: JsonValue };
  /** A handler settled after its call had ended. */
  'tool:late': CallEvent & { readonly settled: 'returned' | 'threw'; readonly afterMs: number };
  /** The gates reached a verdict. */
  'policy:check': CallEvent & {
    /** What the gates decided. */
    readonly effect: Effect;
    /** The rule or policy that decided. */
    readonly ruleId?: string;
    /** The layer that decided: `registry`, `profile:<id>`, `session`, `tool`, … */
    readonly source?: string;
    /** The stable reason of a denial. */
    readonly reason?: string;
    /** Where the arguments came from, at most 100. Absent if no rule asked about origins. */
    readonly origins?: readonly OriginTold[];
  };
  /** A call was denied; `tool:error` follows. */
  'policy:violation': CallEvent & {
    /** The stable reason of the denial. */
    readonly reason: string;
    /** The rule or policy that denied the call. */
    readonly ruleId?: string;
    /** The layer that denied the call. */
    readonly source?: string;
  };
  /**
   * A shadow rule would have changed the verdict. Sent once per call and rule, after `policy:check`
   * or when the call is judged again.
   */
  'policy:shadow': CallEvent & {
    /** The shadow rule. */
    readonly ruleId: string;
    /** The layer of the rule: `registry`, `profile:<id>`, `session`, … */
    readonly source: string;
    /** What the gates would have decided if this rule alone had been enforced. */
    readonly wouldBe: Effect;
    /** What they decided. */
    readonly was: Effect;
  };
  /** A person is asked, or the call is suspended until a person answers. */
  'approval:required': EventBase & { readonly request: ApprovalRequest };
  /** A person or a standing grant approved the call, which continues. */
  'approval:granted': CallEvent & {
    /** The id of the approval request, or of the grant. */
    readonly approvalId: string;
    /** Who answered. */
    readonly by?: string;
    /** All who answered, in order, where certain people had to. */
    readonly answers?: readonly GivenAnswer[];
  };
  /** The call was rejected, or no answer came in time; `tool:error` follows. */
  'approval:denied': CallEvent & {
    /** The id of the approval request; empty if the call was refused before one was made. */
    readonly approvalId: string;
    /** A stable word that names who or what rejected the call. */
    readonly reason: string;
    /** Who answered. */
    readonly by?: string;
    /** All who answered, in order, where certain people had to. */
    readonly answers?: readonly GivenAnswer[];
    /** The message of the answer, or the reason in words. */
    readonly message?: string;
  };
  /**
   * The call of a question ends, answered or not. Sent before its `tool:post` or `tool:error`. A
   * suspended call that expires sends none.
   */
  'approval:settled': CallEvent & ApprovalSettled;
  /** A session was created. Only the registry emits it: a new session has no listeners yet. */
  'session:start': EventBase & {
    /** The id of the session's profile; `""` if it has none. */
    readonly profile: string;
  };
  /** A session has closed; all of its calls have ended. */
  'session:end': EventBase;
  /** On the registry: its tools changed. On a session: the tools that it shows changed. */
  'tools:changed': {
    /** Epoch milliseconds by the registry's `now`. */
    readonly at: number;
    /** Names of new tools. */
    readonly added: readonly string[];
    /** Names of tools that are gone. */
    readonly removed: readonly string[];
    /** Names of tools with a new definition. */
    readonly modified: readonly string[];
    /** The cause of the change. */
    readonly reason: ChangeReason;
  };
}

/** The name of an event, without `*`. */
export type EventType = keyof ToolEvents;

/** Any event with its type, as a listener of `*` gets it. */
export type AnyEvent = { [K in EventType]: { readonly type: K } & ToolEvents[K] }[EventType];

/** Lets listeners subscribe. A listener that throws or rejects is logged and affects nothing. */
export interface Emitter<M> {
  /**
   * Adds a listener to events of one type, or to all with `*`. The returned function removes it.
   * @throws MisuseError `invalid_option` if the listener is not a function.
   * @example
   * ```ts
   * const stop = session.events.on('tool:error', ({ toolName, error }) => {
   *   console.warn(toolName, error.code);
   * });
   * ```
   */
  on<K extends keyof M>(type: K, listener: (event: M[K]) => void): () => void;
  on(
    type: '*',
    listener: (event: { [K in keyof M]: { readonly type: K } & M[K] }[keyof M]) => void,
  ): () => void;
}
