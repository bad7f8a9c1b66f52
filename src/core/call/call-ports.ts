/** The ports of a registry at which its parts do something for calls. */

import type { ApprovalRequest } from '../../api/approval.ts';
import type { DropNulls } from '../../api/context.ts';
import type { DelegateOptions } from '../../api/delegation.ts';
import type { ToolSession } from '../../api/session.ts';
import type { ToolError } from '../../values/errors/index.ts';
import type { JsonObject, JsonValue } from '../../values/json/index.ts';
import type { Binding } from './binding.ts';
import type { FoundCall } from './call.ts';
import type {
  Answers,
  CallNotes,
  Losses,
  Masking,
  Provenance,
  Publish,
  QuestionPart,
  Trials,
} from './ports.ts';
import type { Judge } from './tally.ts';

/** A port that is empty costs a call nothing. */
export class CallPorts {
  /** Judges of a tool in a session that are asked before all others. */
  readonly first: ((binding: Binding) => readonly Judge[])[] = [];
  /** What the host has said about values of the call's input. */
  attributesOf:
    | ((call: FoundCall) => ReadonlyMap<string, JsonValue | undefined> | undefined)
    | undefined;
  /** Reads JSON that the arguments contain as text, in sessions with `repair: "safe"`. */
  repair: ((call: FoundCall, schema: JsonObject) => ToolError | undefined) | undefined;
  /** Removes nulls that a strict dialect has made, for surfaces that do not do so themselves. */
  dropNulls: DropNulls | undefined;
  /** Tries rules that must not change a result. */
  trials: Trials | undefined;
  /**
   * The call is judged again. Forgets what was asked before.
   * @param isPass Nothing has changed, apart from what its gates waited for.
   */
  readonly again: ((call: FoundCall, isPass: boolean) => void)[] = [];
  /** Gives up what a call has reserved, since it goes back to an earlier step or has ended. */
  readonly release: ((call: FoundCall) => void)[] = [];
  /** A handler is about to call a tool. */
  readonly children: ((parent: FoundCall) => void)[] = [];
  /**
   * A call in one line, for questions. Without it, that is the name of the tool.
   * @param hidden JSON pointers of members that are left out.
   */
  summary: ((tool: string, input: JsonObject, hidden: readonly string[]) => string) | undefined;
  /** Adds to the questions that people are asked. */
  question: QuestionPart | undefined;
  answers: Answers | undefined;
  /** Where a call stands in a program, for those who are asked about it; nothing if in none. */
  programOf: ((call: FoundCall) => Pick<ApprovalRequest, 'program'>) | undefined;
  /** What publishes calls; undefined as long as nobody listens. */
  channel: (() => Publish | undefined) | undefined;
  /** Hides values of calls. Without it, texts and values are shown as they are. */
  masking: Masking | undefined;
  /** Hears of outputs that lose data. */
  losses: Losses | undefined;
  /** Adds to what listeners and observers are told about calls. */
  notes: CallNotes | undefined;
  /** Knows the texts of outputs. */
  provenance: Provenance | undefined;
  /** Makes the session of a sub-agent for a handler. */
  delegate: ((call: FoundCall, options: DelegateOptions) => ToolSession) | undefined;
}
