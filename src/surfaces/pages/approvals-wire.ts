/** What the approvals handler sends to its page, as JSON. */
import type { JsonObject, JsonValue } from '../../values/json/value.ts';

/** Who makes a call: a person, and the agents through which that person acts. */
export interface SentActor {
  readonly principal: string;
  readonly chain: readonly { readonly agent: string; readonly sessionId: string }[];
  readonly labels?: Readonly<Record<string, string>>;
}

/** An approval that waits. It never has a token. */
export interface WaitingApproval {
  readonly id: string;
  readonly sessionId: string;
  readonly principal?: string;
  /** Absent if no agent asks, and the session has no labels. */
  readonly actor?: SentActor;
  readonly callId: string;
  /** The call whose handler made this one. */
  readonly parent?: { readonly callId: string; readonly tool: string };
  /** In code mode. The source is left out if it may hold a secret; the line may be 0, unknown. */
  readonly program?: { readonly source?: string; readonly line: number };
  readonly tool: { readonly name: string };
  readonly title: string;
  /** The call in one line: the name of the tool, and what it is about. */
  readonly summary: string;
  /** Its last lines are `originWords`. */
  readonly message?: string;
  readonly risk?: string;
  readonly ruleId?: string;
  readonly source: string;
  /** Absent in a list if it is long. */
  readonly input?: JsonObject;
  /** What a list lacks, because it is long. The approval itself has it. */
  readonly leftOut?: readonly string[];
  /** JSON pointers. */
  readonly hiddenFields: readonly string[];
  /** Sentences about values that are neither the user's nor trusted. */
  readonly originWords: readonly string[];
  readonly origins?: readonly {
    readonly path: string;
    readonly value?: JsonValue;
    readonly origin: string;
    readonly seen?: { readonly callId: string; readonly toolName: string };
    readonly approvedBy?: string;
  }[];
  readonly quotas?: readonly {
    readonly quota: string;
    readonly max: number;
    readonly used: number;
    readonly amount: number;
  }[];
  /** Who has to answer, all of these; absent if anyone may. */
  readonly approvers?: readonly {
    readonly any: readonly string[];
    readonly count?: number | undefined;
    readonly notPrincipal?: true | undefined;
  }[];
  /** Who has allowed the call so far; absent in a list. */
  readonly allowedBy?: readonly string[];
  /** Epoch milliseconds. */
  readonly requestedAt: number;
  /** Epoch milliseconds. */
  readonly expiresAt: number;
  /**
   * Whether a changed input may be sent. An input with hidden fields cannot be edited, because they
   * would be lost.
   */
  readonly editable: boolean;
  /**
   * The JSON schema of the tool's input. Absent in lists, and if the input is not editable, the
   * tool is unknown here or has changed, or the schema is long.
   */
  readonly schema?: JsonValue;
}

/** A list of approvals. Those that expire first come first. */
export interface WaitingList {
  /** The name under which an answer of this person counts. */
  readonly by: string;
  readonly approvals: readonly WaitingApproval[];
  /** The `after` of the next page. */
  readonly next?: string;
}

/** An answer to send. */
export interface SentDecision {
  readonly decision: 'allow_once' | 'reject_once';
  readonly message?: string;
  readonly input?: JsonObject;
}

/** The outcome of an answer. */
export interface DecisionOutcome {
  readonly id: string;
  readonly decision: string;
  /** How the call ended, or `running`. */
  readonly status: string;
  readonly code?: string;
  readonly reason?: string;
  /** Whether the call can be taken back. */
  readonly undo?: true;
}

/** What has become of a call that somebody wanted to take back. */
export interface UndoOutcome {
  /** How that ended, or `running`. */
  readonly status: string;
  readonly code?: string;
  readonly reason?: string;
  /** Of the error. */
  readonly message?: string;
  /** How many of its own calls were taken back; absent for a call that was taken back itself. */
  readonly reverted?: number;
  /** The calls that stay, at most 100 of them. */
  readonly left?: readonly {
    readonly callId: string;
    readonly toolName: string;
    readonly reason: string;
  }[];
}
