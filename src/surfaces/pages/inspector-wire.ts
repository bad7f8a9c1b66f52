/** What the inspector's server and its page send to each other, as JSON. */
import type { JsonValue } from '../../values/json/value.ts';
import type { SentActor } from './approvals-wire.ts';
import type {
  QuotaLevelLine,
  QuotaLine,
  SessionLine,
  SessionStatus,
} from './inspector-session-wire.ts';

/** How far a call has got. */
export type CallPhase = 'gates' | 'approval' | 'running' | 'ended';

/** A decision of the gates. */
export type VerdictEffect = 'allow' | 'ask' | 'deny';

/** A call as the list shows it. */
export interface CallLine {
  /** Its position in the order of arrival, from 1. */
  readonly n: number;
  /** Epoch milliseconds of its arrival. */
  readonly at: number;
  readonly callId: string;
  /** 1, or 2 for a call that was suspended and resumed. */
  readonly attempt: number;
  readonly tool: string;
  readonly sessionId: string;
  /** `""` if it acts for no one. Likewise for a direct call. */
  readonly principal: string;
  readonly surface: string;
  /** Absent for a direct call of a session without labels. */
  readonly actor?: SentActor;
  /** The beginning of its arguments on one line, without secrets; `""` without arguments. */
  readonly preview: string;
  readonly parentCallId?: string;
  readonly phase: CallPhase;
  /** The decision of the gates, once there is one. */
  readonly effect?: VerdictEffect;
  /** The rule, policy or quota that decided. */
  readonly ruleId?: string;
  /** Whether `ruleId` is a quota. */
  readonly byQuota?: true;
  /** The layer that decided. */
  readonly layer?: string;
  /** How it ended. */
  readonly status?: string;
  readonly code?: string;
  readonly reason?: string;
  /** Milliseconds from its arrival to its end. */
  readonly durationMs?: number;
  /** A shadow rule would have decided differently. */
  readonly shadowed?: true;
}

/** A step of a call. */
export interface CallStage {
  readonly name: 'arrived' | 'judged' | 'asked' | 'answered' | 'started' | 'ended' | 'late';
  /** Milliseconds since the call arrived. */
  readonly ms: number;
  /** What happened, in words. */
  readonly note: string;
}

/** Where an argument came from. */
export interface CallOrigin {
  readonly path: string;
  readonly origin: string;
  readonly seen?: { readonly callId: string; readonly toolName: string };
  readonly approvedBy?: string;
}

/** A shadow rule that would have decided differently. */
export interface ShadowHit {
  readonly ruleId: string;
  readonly layer: string;
  readonly wouldBe: string;
  readonly was: string;
}

/** A call with everything that is kept about it. */
export interface CallDetail {
  readonly line: CallLine;
  /** Whether the page offers to take it back. */
  readonly undo?: true;
  /** Absent if the call is so old that only its line is kept. */
  readonly kept?: {
    readonly stages: readonly CallStage[];
    /** JSON, perhaps shortened. */
    readonly input: string;
    /** JSON, perhaps shortened; absent before the end, and if there is none. */
    readonly result?: string;
    /** The message of the error. */
    readonly message?: string;
    /** What a program has logged. */
    readonly logs?: readonly string[];
    readonly origins: readonly CallOrigin[];
    readonly shadow: readonly ShadowHit[];
    /** The reports of the handler, each as JSON. */
    readonly told: readonly { readonly ms: number; readonly name: string; readonly data: string }[];
    readonly toolSource?: string;
    /** Where the tool's calls run. */
    readonly executor?: string;
    readonly version?: string;
    readonly fingerprint?: string;
  };
}

/** Counts of one tool. */
export interface ToolLine {
  readonly name: string;
  readonly calls: number;
  readonly denied: number;
  readonly failed: number;
}

/** A rule and what it has matched. */
export interface RuleLine {
  readonly id: string;
  readonly layer: string;
  readonly effect: VerdictEffect;
  readonly shadow: boolean;
  readonly reason?: string;
  /** What it tests, such as `when {"path":{"glob":"/etc/*"}}`, cut; `""` if it tests nothing. */
  readonly conditions: string;
  /** Calls that it matched; rules of one id share the count. */
  readonly matched: number;
  /** Calls that it, as a shadow rule, would have changed. */
  readonly wouldChange: number;
  /** It has neither matched a call nor hidden a tool. */
  readonly unused: boolean;
  /** How many of the registry's tools it can apply to, and the first of them. */
  readonly tools: number;
  readonly toolNames: readonly string[];
}

/** A question to a person. It never has the token of a suspended call. */
export interface ApprovalLine {
  readonly id: string;
  readonly sessionId: string;
  readonly principal: string;
  readonly actor?: SentActor;
  readonly callId: string;
  /** The call whose handler made this one. */
  readonly parent?: { readonly callId: string; readonly tool: string };
  /** JSON: the program that makes the call, and the line; absent for other calls. */
  readonly program?: string;
  readonly tool: string;
  readonly title: string;
  /** The call in one line: the name of the tool, and what it is about. */
  readonly summary: string;
  /** Its last lines are `originWords`. */
  readonly message?: string;
  readonly risk?: string;
  readonly ruleId?: string;
  readonly layer: string;
  /** JSON, in full, because a person judges it. */
  readonly input: string;
  readonly hiddenFields: readonly string[];
  readonly originWords: readonly string[];
  readonly origins: readonly CallOrigin[];
  readonly quotas: readonly QuotaLevelLine[];
  readonly requestedAt: number;
  readonly expiresAt: number;
  /** Whether a changed input may be sent. */
  readonly editable: boolean;
}

/** What the page shows in addition to calls. */
export interface InspectorState {
  readonly totals: {
    readonly calls: number;
    readonly succeeded: number;
    readonly failed: number;
    readonly rejected: number;
    readonly cancelled: number;
    readonly pending: number;
    readonly denied: number;
  };
  readonly reasons: readonly { readonly reason: string; readonly count: number }[];
  readonly tools: readonly ToolLine[];
  readonly rules: readonly RuleLine[];
  readonly quotas: readonly QuotaLine[];
  readonly sessions: readonly SessionLine[];
  readonly approvals: readonly ApprovalLine[];
  /** The store of approvals cannot be read, so suspended calls are missing from the list. */
  readonly approvalsUnread: boolean;
  readonly profiles: readonly string[];
  /** How many more entries each list has. */
  readonly more: Readonly<Record<'tools' | 'rules' | 'quotas' | 'sessions' | 'approvals', number>>;
}

/** A line of the stream. */
export type FeedMessage =
  | {
      readonly type: 'hello';
      /** Names the inspector. Numbers of calls have a meaning only in one of them. */
      readonly run: string;
      readonly version: string;
      readonly allowCalls: boolean;
      /** Most calls that are kept. */
      readonly maxCalls: number;
    }
  | { readonly type: 'calls'; readonly calls: readonly CallLine[] }
  | { readonly type: 'state'; readonly state: InspectorState }
  /** Nothing new. Shows that the server is alive. */
  | { readonly type: 'beat' };

/** Whose tools are shown: those of a session, or of a profile. The profile `""` means none. */
export type Viewer = { readonly session: number } | { readonly profile: string };

/** How a tool was found with `find_tools`. */
export interface FoundView {
  readonly callId: string;
  /** The words of the query that the tool has; none if it was found by its meaning. */
  readonly words: readonly string[];
}

/** The tools of a {@link Viewer}. */
export interface ToolListing {
  /** Whether the session has ended. */
  readonly closed: boolean;
  /** Unless it is `open`, the list is that of the session's profile. */
  readonly status: SessionStatus;
  /** Names of the session's facts. */
  readonly facts: readonly string[];
  readonly shown: readonly {
    readonly name: string;
    readonly title?: string;
    /** Where its calls run. */
    readonly executor: string;
    readonly requiresApproval: boolean;
    readonly annotations: readonly string[];
    readonly deprecated: boolean;
    readonly found?: FoundView;
  }[];
  readonly hidden: readonly {
    readonly name: string;
    readonly code: string;
    /** Tools that provide the fact for which it waits. */
    readonly unlockedBy: readonly string[];
  }[];
}

/** Everything about a tool, for a {@link Viewer}. */
export interface ToolDetail {
  readonly name: string;
  readonly title?: string;
  readonly description: string;
  readonly source: string;
  /** Where its calls run. */
  readonly executor: string;
  readonly version?: string;
  readonly fingerprint: string;
  readonly tags: readonly string[];
  readonly annotations: readonly string[];
  readonly requiresApproval: boolean;
  readonly deprecated?: string;
  readonly inputSchema: JsonValue;
  readonly outputSchema?: JsonValue;
  /** The profile's settings, without secrets; absent if the tool has none. */
  readonly knobs?: JsonValue;
  readonly timeoutMs?: number;
  readonly maxOutputChars?: number;
  readonly hiddenBy?: string;
  readonly unlockedBy: readonly string[];
  readonly found?: FoundView;
  /** The decision of the gates without an input. */
  readonly verdict: VerdictView;
}

/** The decision of the gates. */
export interface VerdictView {
  readonly effect?: VerdictEffect;
  readonly code?: string;
  readonly ruleId?: string;
  readonly layer?: string;
  readonly reason?: string;
  readonly steps: readonly JsonValue[];
  readonly origins: readonly CallOrigin[];
}

/** A call that a person makes from the page. */
export interface CallRequest {
  readonly tool: string;
  readonly input: JsonValue;
  readonly profile: string;
  readonly principal: string;
}

/** The outcome of that call. */
export interface CallAnswer {
  readonly success: boolean;
  readonly status: string;
  readonly code?: string;
  readonly message?: string;
  /** JSON, perhaps shortened. */
  readonly output?: string;
  readonly durationMs: number;
}
