/** What is kept of suspended calls. */

import type { JsonObject } from '../values/json/index.ts';
import type { GivenAnswer } from './answers.ts';
import type { ApprovalRequest } from './approval.ts';
import type { Actor } from './delegation.ts';

/** A suspended call as a store keeps it. Plain JSON. */
export type SuspendedApproval = {
  /**
   * What a list shows of the record, in at most 16 000 bytes, signed. Absent if that is not
   * possible. It is the first member.
   */
  readonly head?: string;
  /** The id of the approval, a UUID. */
  readonly id: string;
  /** The id of the session that made the call. */
  readonly sessionId: string;
  /** The session's principal, for whom it acts. */
  readonly principal: string;
  /** The agents that made the call, and the session's labels; absent if there are none. */
  readonly actor?: Actor & JsonObject;
  /** The id of the session from which the chain of agents begins; absent without agents. */
  readonly rootSessionId?: string;
  /** Epoch milliseconds. */
  readonly expiresAt: number;
  /** The input that will run, in full: secrets are not hidden. */
  readonly input: JsonObject;
  /** Becomes `context.idempotencyKey` of the call when it is resumed. */
  readonly idempotencyKey: string;
  /** The question as an approver sees it; secret fields are hidden. */
  readonly request: ApprovalRequest & JsonObject;
  /**
   * What `session.approvals.resume` takes. It is a credential: keep it from models and logs. It
   * signs the other members, so that an edited record is refused.
   */
  readonly token: string;
  /** The id of the session's profile; absent if it had none. */
  readonly profile?: string;
  /** The session's facts; absent if it had none. */
  readonly facts?: JsonObject;
  /** The session's overrides; absent if it had none. */
  readonly overrides?: JsonObject;
  /** The name of the surface through which the call came; absent for a direct call. */
  readonly surface?: string;
  /**
   * The scopes of the request that made the call, by which it is judged again; absent if its
   * surface knows none.
   */
  readonly scopes?: string[];
  /** The place of the call in a trace, by W3C Trace Context; absent if nothing traces it. */
  readonly trace?: { readonly traceparent: string; readonly tracestate?: string };
  /** Who had allowed the call before it was suspended again; absent for nobody. */
  readonly answers?: (GivenAnswer & JsonObject)[];
  /**
   * Who has allowed it since then, where certain people have to: not signed by the token, but by
   * `seal`. Absent for nobody.
   */
  readonly counted?: { readonly answers: (GivenAnswer & JsonObject)[]; readonly seal: string };
};

export type Key = string | Uint8Array;
