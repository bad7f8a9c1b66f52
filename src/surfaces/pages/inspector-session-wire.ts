/** What the inspector's page is sent about sessions, their questions and their quotas. */
import type { JsonObject, JsonValue } from '../../values/json/value.ts';

/**
 * What is known of a session. `dropped`: the host has let go of its object without closing it.
 * `unseen`: it began before the inspector, which sees only its events.
 */
export type SessionStatus = 'open' | 'closed' | 'dropped' | 'unseen';

/** A session. */
export interface SessionLine {
  readonly key: number;
  readonly sessionId: string;
  readonly principal: string;
  /** `""` if it has none. */
  readonly profile: string;
  /** Epoch milliseconds; absent if it began before the inspector. */
  readonly startedAt?: number;
  /** Whether it may still make calls. */
  readonly open: boolean;
  readonly status: SessionStatus;
  readonly calls: number;
  readonly denied: number;
}

// What the inspector's server and its page send about the answers to questions, as JSON.

/** A quota that a call would exceed. */
export interface QuotaLevelLine {
  readonly quota: string;
  readonly max: number;
  readonly used: number;
  readonly amount: number;
}

/** What a form needs to edit the input of a question. */
export interface QuestionSchema {
  /** A JSON schema as JSON; absent if the tool is unknown here, has changed, or is long. */
  readonly schema?: string;
}

/** An answer to a question. */
export interface AnswerRequest {
  readonly id: string;
  readonly decision: 'allow_once' | 'reject_once';
  readonly by: string;
  readonly message?: string;
  /** Runs the call with these arguments instead. */
  readonly input?: JsonObject;
}

/** Why a request was refused. */
export interface Refusal {
  readonly error: string;
  /** The question no longer waits for an answer. */
  readonly over?: true;
  /** What is wrong with a changed input, by dotted path. */
  readonly issues?: JsonValue;
}

/** A quota. Its use depends on the call, so explaining a call shows it. */
export interface QuotaLine {
  readonly id: string;
  readonly layer: string;
  readonly max: number;
  /** `day`, `session`, `1500 ms`, … */
  readonly per: string;
  /** What it counts for: `each principal`, `each session and value of payee`, `all calls`. */
  readonly by: string;
  /** The path of the summed number; absent if calls are counted. */
  readonly sum?: string;
  /** What happens to a call that would exceed it. */
  readonly over: 'deny' | 'ask';
  /** How many of the registry's tools it applies to, and the first of them. */
  readonly tools: number;
  readonly toolNames: readonly string[];
}
