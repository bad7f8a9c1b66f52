/** What would happen to a call, and the permission for a call that other code runs. */

import type { ErrorCode } from '../values/errors/index.ts';
import type { JsonObject } from '../values/json/index.ts';
import type { Approvers } from './answers.ts';
import type { JudgedOrigin } from './origins.ts';
import type { Decision } from './policy.ts';
import type { QuotaLevel } from './quotas.ts';
import type { ToolResult } from './result.ts';
import type { Deprecation } from './tool.ts';

/** What would happen to a call, stage by stage. Frozen. Nothing was run, and nothing recorded. */
export interface Explanation {
  /** Whether the tool is listed for the model. */
  readonly visible: boolean;
  /** The drop code that hides the tool. */
  readonly hiddenBy?: string;
  /** The text that says the tool should no longer be used. */
  readonly deprecated?: Deprecation;
  /**
   * Where the tool's calls run: `inline` for a handler in this process, `external` if other code
   * runs the tool, or the name that its executor gives, such as `thread`. Absent for an unknown
   * tool.
   */
  readonly executor?: string;
  /** What happens to an output that is longer than its budget; absent if there is no budget. */
  readonly budget?: {
    /** The most characters of an output, by the tool, its profile and the session. */
    readonly maxOutputChars: number;
    /**
     * Which part is shown: the beginning, both ends, or the beginning with a handle to read the
     * rest. `refuse` for a tool with an output schema, whose data is never cut.
     */
    readonly strategy: 'head' | 'head_tail' | 'offload' | 'refuse';
    /**
     * Why outputs are cut although the tool offloads them: `no_offload` for a registry without the
     * option `offload`, or the drop code that hides `read_tool_output`, such as `not_in_profile`.
     */
    readonly notOffloaded?: string;
  };
  /** Effective tools that provide the facts that the tool waits for. */
  readonly unlockedBy?: readonly string[];
  /** What the gates decide; absent if the call would end before they are asked. */
  readonly decision?: Decision;
  /** The rule or policy that decides, if one does. */
  readonly ruleId?: string;
  /** The layer that decides: `registry`, `profile:<id>`, `session`, `tool`, … */
  readonly source?: string;
  /** Who may answer if a person would be asked, each of which is needed; absent for anyone. */
  readonly approvers?: readonly Approvers[];
  /**
   * The code that the call would end with before its handler runs; absent if the handler would run,
   * or if a person would be asked. It does not cover hooks, which are not run, and what only the
   * call itself brings or finds out: its idempotency key, its adapter's approver, and whether its
   * handler can be made or its sandbox started.
   */
  readonly code?: ErrorCode;
  /** Rules and quotas of the tool that can never match, and why; absent if there are none. */
  readonly ruleFaults?: readonly RuleFault[];
  /**
   * Where the targets of the input, and the identifiers in its texts, came from; absent without an
   * input, and in a session that remembers nothing.
   */
  readonly origins?: readonly JudgedOrigin[];
  /** The current use of the quotas that apply to the call; absent if there are none. */
  readonly quotas?: readonly QuotaLevel[];
  /**
   * What each stage and gate said, in order. A shadow rule that matches has a step with
   * `shadow: true` and `wouldBe`: what the gates would decide if it were enforced.
   */
  readonly steps: readonly JsonObject[];
}

/** A condition of a rule or quota, or a path of a quota, that cannot do what it says. */
export interface RuleFault {
  /** The id of the rule or quota. */
  readonly ruleId: string;
  /** The layer that it was written in: `registry`, `profile:<id>`, `session`, … */
  readonly source: string;
  /** What is wrong, and what was probably meant. */
  readonly message: string;
}

/** The result of a call that other code has run. */
export type ExternalOutcome =
  | {
      /** What the tool returned, as JSON. */
      readonly output?: unknown;
    }
  | {
      /** Why it failed, as a text for the model. */
      readonly error: string;
    };

/** The answer of `session.authorize`. */
export type Authorization =
  | {
      /** All gates have allowed the call. */
      readonly allowed: true;
      /** The call's id, in its events and its result. */
      readonly callId: string;
      /**
       * The input to run. Hooks, repairs and people may have changed the one that was requested.
       */
      readonly input: JsonObject;
      /**
       * Ends the call as a handler's return or throw would: after hooks, output schema and limits
       * apply. Resolves to the result. If the call has already ended, it resolves to the result
       * that the call ended with, and counts as late.
       * @throws MisuseError `invalid_option` for anything but `{ output }` and `{ error }`
       */
      settle(outcome: ExternalOutcome): Promise<ToolResult>;
    }
  | {
      /** The call was refused, or has ended while it waited. */
      readonly allowed: false;
      /** Why it was refused. */
      readonly result: ToolResult;
    };
