/** The question for a person, and the possible answers. */

import type { JsonObject } from '../values/json/index.ts';
import type { Approvers, GivenAnswer } from './answers.ts';
import type { Actor } from './delegation.ts';
import type { JudgedOrigin } from './origins.ts';
import type { QuotaLevel } from './quotas.ts';
import type { ToolSummary } from './tool.ts';

/** The texts that a tool gives for the question to a person. */
export interface ApprovalPrompt {
  /** The question in a few words. An empty one denies the call. */
  readonly title: string;
  /** More for the person: what will happen, and why approval is needed. */
  readonly message?: string;
  /** How much is at stake, for display to the approver. It decides nothing. @default none */
  readonly risk?: 'low' | 'medium' | 'high';
  /**
   * Who may answer. Needs the part `durableApprovals()`: the call waits until they do.
   * @default anyone who is asked
   */
  readonly approvers?: Approvers | undefined;
}

/** One question to a person. The input that is shown is the input that will run. */
export interface ApprovalRequest {
  /** The id of the request, for `session.approvals.answer` and in events. */
  readonly id: string;
  /** The session in which the call was made. */
  readonly sessionId: string;
  /** The principal of the session, if it has one. */
  readonly principal?: string;
  /** Who asks, and through which agents; absent for a direct call of a session without labels. */
  readonly actor?: Actor;
  /** The id of the call that waits. */
  readonly callId: string;
  /** The call whose handler made this one, if one did. */
  readonly parent?: { readonly callId: string; readonly tool: string };
  /** The tool, with the fingerprint to which an answer is bound. */
  readonly tool: ToolSummary;
  /**
   * The canonical input as it will run, without its secret fields, which `hiddenFields` names.
   * Texts are shown as they were written.
   */
  readonly input: JsonObject;
  /**
   * The question in a few words: the tool's, the rule's, or a default that names the tool. A call
   * is refused if this contains one of its secrets.
   */
  readonly title: string;
  /**
   * The call in one line, to tell calls apart: `send_mail to eve@evil.test · 2 recipients`. It is
   * made from `input`, without secret fields. Absent in records of earlier versions.
   */
  readonly summary?: string;
  /** More for the person. A call is refused if this contains one of its secrets. */
  readonly message?: string;
  /** How much is at stake, if the tool says so. */
  readonly risk?: 'low' | 'medium' | 'high';
  /** The rule or policy that asked, if one did. */
  readonly ruleId?: string;
  /** The layer that asked: `tool`, `registry`, `profile:<id>`, `session`, … */
  readonly source: string;
  /**
   * The quotas that the call would exceed, if that is why a person is asked. A call that a person
   * allows is counted, whatever the sum is.
   */
  readonly quotas?: readonly QuotaLevel[];
  /**
   * The origins of the call's targets and of the identifiers in its texts; absent if the session
   * remembers nothing. At most 100. `message` also names the values that are neither the user's nor
   * trusted.
   */
  readonly origins?: readonly JudgedOrigin[];
  /**
   * Who may answer, each of which is needed: whoever is asked belongs to at least one. Others
   * cannot see the request. Absent if anyone may answer.
   */
  readonly approvers?: readonly Approvers[];
  /**
   * The login of the principal that the call waits for, instead of an approval: one. To reject it
   * cancels the call. To allow it tries the call again, and approves nothing.
   */
  readonly login?: readonly AwaitedLogin[];
  /**
   * The program that makes the call, in code mode, and the line that does, from 1. The source is
   * left out if it may hold a secret: it names a tool whose input has one, or holds one that a call
   * of the program had. The line is 0 if it is not known.
   */
  readonly program?: { readonly source?: string; readonly line: number };
  /** Epoch milliseconds. */
  readonly requestedAt: number;
  /** Epoch milliseconds. From then on the call ends as `approval_timeout`. */
  readonly expiresAt: number;
  /** JSON pointers of the fields that are hidden from the approver. */
  readonly hiddenFields: readonly string[];
}

/** The login that a suspended call waits for. */
export interface AwaitedLogin {
  /** The name of the credential, as the tool has it. */
  readonly credential: string;
  /** Where the principal logs in. Nobody else should: the account would become the principal's. */
  readonly url: string;
  /** What the resolver knows the login by. */
  readonly state?: string;
  /** Who had approved the call before, if a person had to. `""` for someone without a name. */
  readonly approvedBy?: string;
}

/** A request that waits for an answer. */
export interface PendingApproval extends ApprovalRequest {
  /**
   * The token for `session.approvals.resume`, if the call was suspended. It is signed, can be used
   * once, and is bound to the principal and the definition. Keep it away from models and logs: it
   * is a credential.
   */
  readonly token?: string;
  /** Who has allowed the call so far, where more people have to; absent in lists. */
  readonly allowedBy?: readonly string[];
}

/**
 * `allow_once` and `reject_once` settle this request; the `_always` forms also leave a
 * {@link Grant} that settles later ones like it.
 */
export type ApprovalChoice = 'allow_once' | 'allow_always' | 'reject_once' | 'reject_always';

/**
 * An answer to an approval request. A plain `allow_always` covers this definition with this input
 * in this session; `grant` extends it to any input, or limits it. `input` replaces the arguments.
 * They are validated and judged again, and this answer also counts as their approval.
 */
export type ApprovalAnswer =
  | ApprovalChoice
  | {
      /** Whether to allow the call, and whether to keep the answer. */
      readonly decision: ApprovalChoice;
      /** Who answered; shown in events. */
      readonly by?: string;
      /**
       * The roles of whoever answers, which the host vouches for. They count where `approvers` name
       * roles. At most 100. @default none
       */
      readonly roles?: readonly string[] | undefined;
      /** Passed on to the model if the call is rejected. */
      readonly message?: string;
      /** Runs the call with these arguments instead. @default the input that was shown */
      readonly input?: JsonObject;
      /**
       * The scope of an `_always` answer. Ignored for the others.
       * @default match "input", any number of uses, as long as the session
       */
      readonly grant?: {
        /** What later calls must have in common: the same input, or only the same tool. */
        readonly match?: 'input' | 'tool';
        /** How many later calls the grant answers. An integer from 1. */
        readonly uses?: number;
        /** Milliseconds that the grant lasts, counted from the answer. Above 0. */
        readonly expiresInMs?: number;
      };
    };

/** A standing answer. `session.approvals.grants()` lists it, and `revoke` ends it. */
export interface Grant {
  /** The id for `session.approvals.revoke`. */
  readonly id: string;
  /** The tool's name. */
  readonly tool: string;
  /** Whether it approves or rejects the calls that it covers. */
  readonly effect: 'allow' | 'reject';
  /** Who gave it, if the answer said so. */
  readonly by?: string;
  /** How many more calls it answers; absent if there is no bound. */
  readonly usesLeft?: number;
  /** Epoch milliseconds; absent if it lasts as long as the session. */
  readonly expiresAt?: number;
}

/** What the event `approval:settled` contains about a question. */
export interface ApprovalSettled {
  /** The id of the approval request. */
  readonly id: string;
  /** Who answered, if the answer said so. */
  readonly by?: string;
  /** The answer; absent if there was none that counts. */
  readonly decision?: ApprovalChoice;
  /** All who answered, in order, where certain people had to. */
  readonly answers?: readonly GivenAnswer[];
  /** The `metadata.status` of the call's result. */
  readonly status: string;
}
