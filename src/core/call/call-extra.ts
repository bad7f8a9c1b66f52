/** The part of a call's record that only some calls need. */

import type { Credential } from '../../api/credentials.ts';
import type { ToolResult } from '../../api/result.ts';
import type { ToolError } from '../../values/errors/index.ts';
import type { JsonObject } from '../../values/json/index.ts';
import type { Deadline } from '../../values/limits/deadlines.ts';
import type { Semaphore } from '../../values/limits/semaphore.ts';
import type { Standing } from '../approval/grants.ts';
import type { ReadAnswer } from '../approval/request.ts';
import type { Details } from '../rules/verdict.ts';
import type { Slot } from '../slot.ts';
import type { Call, Resumed } from './call.ts';
import type { ApprovalTold } from './call-observers.ts';
import type { CallTraces } from './call-tracers.ts';
import type { Place } from './executor-places.ts';
import type { SentAlongside } from './output-snapshot.ts';
import type { Cleaning } from './ports.ts';

/** What only calls have about which a person or a grant was asked. */
class CallApproval {
  /** Who approved the call, until parts were told of it. */
  approvedBy: string | undefined;
  /** A person has changed the input earlier; the defaults were already filled in by then. */
  wasEdited = false;
  /** The grant that let the call through; it can still be revoked. */
  grant: Standing | undefined;
  /** An `_always` answer that is kept back until the call's input is final. */
  standing: { readonly approvalId: string; readonly answer: ReadAnswer } | undefined;
  /** What a person was shown besides the call, and has agreed to. */
  agreed: Details | undefined;
  /** The answer that a resumed call brought has been used. */
  answered = false;
  /** Told when a call below it begins to wait for a person, and when it no longer does. */
  asking: ((isAsking: boolean) => void) | undefined;
}

/** What only calls have that ended early, or whose result is not just what the handler returned. */
class CallOutcome {
  /** What the tool sent in addition to its output. */
  alongside: SentAlongside | undefined;
  /** Takes values out of what the call returns. */
  cleaning: Cleaning | undefined;
  /** The handler has returned, and a gate keeps its output back. */
  withheld = false;
  /** Monotonic milliseconds; set when the call ended early. */
  endedAt = 0;
  aborted = false;
  abortReason: unknown;
  repaired: { readonly path: string; readonly rule: string }[] | undefined;
  /** What parts add to the result's metadata. */
  metadata: Readonly<Record<string, string | number | boolean | readonly string[]>> | undefined;
  /** The caller must not learn that the tool exists. */
  hidden = false;
  /** The original error, if the model sees a masked one. */
  unmasked: ToolError | undefined;
  /** Gives back the slots of a handler that outlives its call. */
  grace: Deadline | undefined;
}

/** The rarely used part of a call, with its fields grouped by the phase that first sets them. */
export class CallExtra {
  /** What parts keep. */
  slots: Map<Slot<unknown>, unknown> | undefined;

  // Arrival.
  resumed: Resumed | undefined;
  idempotencyKey: string | undefined;

  // Admission.
  /** The whole input as text, where `repair` may read an object from it. */
  text: string | undefined;

  // Validation.
  /** How many texts `repair` has tried to read as JSON without success. */
  unreadable = 0;

  // Gates.
  /**
   * The answers of gates that had to be waited for, by gate, until the others were asked once more.
   */
  kept: Map<unknown, unknown> | undefined;
  /** The loop guard has counted the call. */
  guarded = false;
  holds: Semaphore[] | undefined;
  /** The canonical input with which the start of the call was recorded. */
  recorded: JsonObject | undefined;
  /** It has waited until the logs had room for its lines. */
  hadRoom = false;
  /** The place at its executor where it can begin at once. */
  place: Place | undefined;
  /** Milliseconds that the handler may still take, if the call has waited for it to begin. */
  leftMs: number | undefined;
  /** How often the call was judged again. */
  rounds = 0;
  /** How often its gates were asked once more since then, because some had to be waited for. */
  passes = 0;

  // Handler.
  /** What `context.credentials` has. */
  credentials: Readonly<Record<string, Credential>> | undefined;
  controller: AbortController | undefined;
  idle: Deadline | undefined;
  eventCount = 0;
  children: Set<Call> | undefined;
  childCount = 0;

  // All phases.
  cleanups: Set<(result: ToolResult) => void> | undefined;
  /** The tracers that follow the call, until it ends. */
  traces: CallTraces | undefined;

  /** The last question that a person or a grant was asked about the call, with the answer. */
  question: ApprovalTold | undefined;
  approval: CallApproval | undefined;
  outcome: CallOutcome | undefined;

  ensureApproval(): CallApproval {
    this.approval ??= new CallApproval();
    return this.approval;
  }

  ensureOutcome(): CallOutcome {
    this.outcome ??= new CallOutcome();
    return this.outcome;
  }
}
