/** What the inspector's server and its page send about the answers to questions, as JSON. */
import type { JsonObject, JsonValue } from '../../values/json/value.ts';

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
