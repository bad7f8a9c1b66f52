/** Profiles: named, ordered sets of tools with their knobs, rules and limits. */

import type { JsonObject } from '../values/json/index.ts';
import type { Approvers } from './answers.ts';
import type { OutputOrigin, Role } from './origins.ts';
import type { Effect } from './policy.ts';
import type { Quota } from './quotas.ts';
import type { Rule } from './rule.ts';

/** A named, ordered set of tools with their knobs, rules and limits. Plain data. */
export interface Profile {
  /**
   * The name by which sessions choose the profile. Non-blank, without white space at its ends, at
   * most 256 characters. Defining an id again replaces the profile.
   */
  readonly id: string;
  /** Profiles that this one extends, in order. */
  readonly extends?: string | readonly string[] | undefined;
  /**
   * The tools, in the order in which a session lists them. `git@^2` is the newest version of `git`
   * that fits the range; `git` is the newest one that is not a pre-release.
   */
  readonly tools: readonly (
    | string
    | {
        /** The registered name of the tool. It may end in a range of versions: `git@^2`. */
        readonly name: string;
        /** Leaves the tool out if it is not registered, instead of refusing. @default false */
        readonly optional?: boolean | undefined;
        /** Settings for the tool's own policy. Merged key by key over those of a parent. */
        readonly knobs?: JsonObject | undefined;
        /** Requires approval. A profile cannot remove an approval that is required elsewhere. */
        readonly requiresApproval?: true | undefined;
        /**
         * Calls over MCP must be tasks: clients that do not know tasks cannot call the tool. A
         * profile cannot remove the `task` of a tool.
         */
        readonly task?: 'required' | undefined;
        /** Milliseconds. Above 0 and at most 2^31-1. */
        readonly timeoutMs?: number | undefined;
        /** Characters. From 1. */
        readonly maxOutputChars?: number | undefined;
        /**
         * Whether the text of fields of the output can be trusted, by path (`"a.b"`; `*` means any
         * element or member). Overrides the tool's own labels. Merged path by path over those of a
         * parent.
         */
        readonly origins?: Readonly<Record<string, OutputOrigin>> | undefined;
        /**
         * The roles of fields of the input, by path. Overrides the tool's own roles. Merged path by
         * path over those of a parent.
         */
        readonly roles?: Readonly<Record<string, Role>> | undefined;
        /** Scopes that callers must have, besides the tool's own. Those of a parent are kept. */
        readonly scopes?: readonly string[] | undefined;
        /** Who may answer questions about the tool, besides those whom others name. */
        readonly approvers?: Approvers | undefined;
      }
  )[];
  /**
   * Rules that are judged after the registry's and before the session's. Those of parents are kept.
   * @default none
   */
  readonly rules?: readonly Rule[] | undefined;
  /**
   * Quotas of the profile's sessions, in addition to those of the registry. Those of parents are
   * kept.
   * @default none
   */
  readonly quotas?: readonly Quota[] | undefined;
  /**
   * Limits of the profile's sessions. If a session sets the same limit, the tighter one applies.
   * @default the parents' tightest
   */
  readonly limits?: Limits | undefined;
  /**
   * Who may answer whatever question is asked in the profile's sessions. Those whom rules, tools
   * and parents name are needed too. It asks no question by itself. Needs the part
   * `durableApprovals()`.
   * @default anyone who is asked
   */
  readonly approvers?: Approvers | undefined;
  /**
   * The decision when no rule or policy matched. The stricter of the registry's and the profile's
   * applies.
   */
  readonly default?: Effect | undefined;
}

/** Limits of one session. An absent limit has its default. */
export interface Limits {
  /** Calls admitted per minute. From 1. @default no limit */
  readonly callsPerMinute?: number | undefined;
  /** Handlers that run at the same time. From 1. @default no limit */
  readonly maxConcurrentCalls?: number | undefined;
  /** Calls that wait for a slot. From 0, which lets no call wait. @default 1000 */
  readonly maxQueuedCalls?: number | undefined;
  /** Milliseconds that a call waits for a slot. From 1 to 2^31-1. @default 30_000 */
  readonly queueTimeoutMs?: number | undefined;
  /**
   * Approvals that are open at the same time. From 0, which refuses every call that needs one.
   * @default 20
   */
  readonly maxPendingApprovals?: number | undefined;
  /**
   * Identical calls in a row that are allowed. From 1; false turns the guard off.
   * @default false
   */
  readonly loopGuard?: number | false | undefined;
  /** Bytes of the JSON of one input. From 1. @default 1_048_576 */
  readonly maxInputBytes?: number | undefined;
  /** Characters of one result that the model sees. From 1. @default no limit */
  readonly maxOutputChars?: number | undefined;
}
