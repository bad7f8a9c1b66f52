/** What parts do for calls. A call asks for nothing that no part does. */

import type { Approvers } from '../../api/answers.ts';
import type { ApprovalRequest, PendingApproval } from '../../api/approval.ts';
import type { ToolResult } from '../../api/result.ts';
import type { Store } from '../../api/store.ts';
import type { ToolError } from '../../values/errors/index.ts';
import type { JsonObject, JsonValue } from '../../values/json/index.ts';
import type { Conditioned } from '../rules/conditioned.ts';
import type { CompiledRule } from '../rules/rule.ts';
import type { Details, Verdict } from '../rules/verdict.ts';
import type { ToolEntry } from '../tool/tool-entry.ts';
import type { Call, FoundCall } from './call.ts';
import type { RuleCount } from './counters.ts';
import type { Shaped, Shown } from './output-snapshot.ts';
import type { CallSession } from './session-port.ts';
import type { Step } from './step.ts';
import type { StoreGate } from './store-step.ts';
import type { Judge, Tally } from './tally.ts';

/**
 * Runs last, before the handler. A call that waits here is judged again, and comes back.
 */
export type StartGate = (call: FoundCall) => Step;

/**
 * What a part does in a store before the handler starts, and `storeGates`, which asks several such
 * gates as few times as their stores allow. A part brings it along, so that a bundle without such
 * parts leaves it out.
 */
export interface KeepGate {
  readonly ask: StoreGate;
  readonly all: (gates: readonly StoreGate[]) => StartGate;
}

/** Runs when the handler begins. */
export type BeginGate = (call: FoundCall) => void;

/** What a part adds to the calls of one tool, in all sessions that see the same tools. */
export interface ToolGates {
  /** They are asked after all other gates that decide. */
  readonly judges?: readonly Judge[];
  /** The attributes that the gates read, as tools declare them. */
  readonly attributes?: readonly string[];
  readonly start?: StartGate;
  /** Runs before every {@link start}: what the part does in a store before the handler starts. */
  readonly keep?: KeepGate;
  /** Looks at what a handler has returned, before the output schema and the budget. */
  readonly output?: (call: FoundCall, shaped: Shaped) => Shaped | Promise<Shaped>;
  /** What {@link start} or {@link keep} would say, for `explain`. Changes nothing. */
  readonly tryStart?: (call: FoundCall) => Promise<TriedStart>;
  readonly begins?: BeginGate;
  readonly overBudget?: OverBudget;
  /** What other processes do not share with this one, if they may resume the call. */
  readonly unshared?: ((call: FoundCall) => Unshared | undefined) | undefined;
  /** What a review looks at. */
  readonly conditioned?: readonly Conditioned[];
  /** The tool was bound in a session, for the first time or after a change. */
  readonly bound?: (session: CallSession) => void;
}

/** What happens to outputs that are over their budget, instead of a cut. */
export interface OverBudget {
  /**
   * What the model is shown.
   * @param output The whole output.
   * @param cut What it would be shown otherwise.
   * @param fitParts An output of content parts, cut so that it fits and has this text in place of
   * the rest.
   */
  show(
    call: FoundCall,
    output: unknown,
    cut: Shown,
    fitParts: (mark: string) => unknown,
  ): Shaped | Promise<Shaped>;
  /** Why a session shows the cut; undefined if it does not. */
  cutReason(session: CallSession): string | undefined;
}

export interface TriedStart {
  /** The name of the step that an error gets. */
  readonly stage: string;
  readonly error: ToolError | undefined;
  /** Further members of the explanation. */
  readonly shown: object;
}

/** Tries shadow rules. */
export interface Trials {
  /** Matches the shadow rules of a layer, each of which counts at its index. */
  attempt(
    call: FoundCall,
    tally: Tally,
    rules: readonly CompiledRule[],
    counts: (RuleCount | undefined)[],
  ): void;
  /** Compares the verdict with what each of them alone would have caused. */
  compare(call: FoundCall, tally: Tally, verdict: Verdict): void;
  /** Tells listeners of differences, once. */
  tell(call: Call): void;
}

/** Takes values out of what a call returns, before anyone reads it. */
export interface Cleaning {
  output(call: FoundCall, shaped: Shaped): Shaped;
  json<T extends JsonValue | undefined>(value: T): T;
  error(call: Call, error: ToolError): ToolError;
}

/** Hides values of calls, such as passwords, from all but the handler and the caller. */
export interface Masking {
  /** Whether calls of the tool may have values to hide. */
  concerns(entry: ToolEntry): boolean;
  /** The name that a caller gave, without values to hide. */
  name(session: CallSession, name: string, input: unknown, parent: Call | undefined): string;
  /** The id that a caller gave, or a new one if it holds a value to hide. */
  id(
    session: CallSession,
    id: string,
    name: string,
    input: unknown,
    parent: Call | undefined,
  ): string;
  begin(call: Call): void;
  /** A text is secret from now on, in the call and in all that it belongs to. */
  hide(call: Call, text: string): void;
  /** Whether there are texts to hide in whatever a call says, with or without marks. */
  hidesTexts(): boolean;
  /** Finds the values in the input and the knobs. */
  collectInput(call: FoundCall): void;
  /** Finds the values of a call that an earlier run of a program has made. */
  collectEarlier(program: Call, tool: string, input: JsonValue, output: JsonValue): void;
  /** Whether others may not read the source of a program, of which the call is one or has one. */
  hidesProgram(call: Call, source: string): boolean;
  /** Finds the values that validation added. */
  collectParse(call: FoundCall): void;
  /** Finds the values in an output, and in what was sent in addition to it. */
  collectOutput(call: FoundCall, output: unknown): void;
  /** The output may hold parts of values that are not known, so it is hidden as a whole. */
  hideOutput(call: Call): void;
  /** Whether the call has values to hide. */
  hides(call: Call): boolean;
  /** A text without the values. */
  text(call: Call, text: string): string;
  /** JSON without the values. It may share parts with the JSON. */
  json(call: Call, value: JsonValue): JsonValue;
  /** The input as it is now, without the values; null if it is not JSON. */
  input(call: Call): JsonValue;
  /** An error without the values; undefined if the call has none to hide. */
  error(call: Call, error: ToolError): ToolError | undefined;
  /** What was thrown during the call, for the logger. */
  logged(call: Call, thrown: unknown): unknown;
  /** The input for the person who is asked. Undefined if it cannot be shown without the values. */
  forApprover(call: FoundCall): ShownInput | undefined;
  /**
   * The same, or why nobody is asked. Title and message are never changed.
   * @param title Undefined for the usual one.
   */
  question(
    call: FoundCall,
    title: string | undefined,
    message: string | undefined,
  ): ShownInput | Unaskable;
  /** The input of a question for those who hear of it. */
  forListeners(call: FoundCall): ShownInput;
  /** A part of the output, without the values. @param isCut Not all of it is there. */
  output(call: FoundCall, value: JsonValue, isCut: boolean): JsonValue;
}

/** An input as a question shows it. */
export interface ShownInput {
  readonly value: JsonValue;
  /** The JSON pointers of what is hidden; `""` is the whole input. */
  readonly fields: readonly string[];
  /** Whether a text holds a value that is hidden. */
  holds(text: string): boolean;
}

/** Why the call is refused, and nobody asked. */
export interface Unaskable {
  readonly askable: false;
  readonly reason: 'secret_in_prompt' | 'input_not_shown';
  readonly message: string;
}

/** Answers of people that outlive a call, and who may answer. */
export interface Answers {
  /** Where suspended calls are kept. */
  store(): Store;
  /** Ends a call that asks, in a session with `approvalMode: "suspend"`. It can be resumed. */
  suspend(call: FoundCall): Step;
  /** Reads further members of a prompt; undefined for wrong ones. */
  details(members: Readonly<Record<string, unknown>>): Details | undefined;
  /** Only certain people may answer the question about a call. */
  isReserved(call: FoundCall): boolean;
  /** Too few of them have allowed the call, as far as its verdict asks now. */
  lacks(call: FoundCall): boolean;
  /** Who may answer the question about a call, for `explain`; empty for anyone. */
  approvers(call: FoundCall): readonly Approvers[];
  /** Whether a call can be suspended for a login, also in a session that asks at once. */
  maySuspend(call: FoundCall): boolean;
  /** Why no further call can be suspended, for `explain`. Never rejects. */
  crowded(call: FoundCall): Promise<ToolError | undefined>;
  /** The suspended calls of a session. Rejects if they cannot be read. */
  pending(session: CallSession): Promise<readonly PendingApproval[]>;
  /** Nobody can answer a suspended call any more. Rejects if the store fails. */
  withdraw(id: string): Promise<void>;
  /** The tool of a resumed call was found. Why its answer does not count any more. */
  found(call: FoundCall): ToolError | undefined;
  /** Runs when a call uses the answer with which it was resumed. */
  resumed(call: FoundCall): void;
  /** Why an answer of this person does not count; undefined if it does. */
  refusal(session: CallSession, by: string | undefined): AnswerRefusal | undefined;
}

/** Runs a call, and publishes what has become of it. */
export type Publish = (
  session: CallSession,
  toolName: string,
  run: () => Promise<ToolResult>,
) => Promise<ToolResult>;

/** Hears of outputs whose objects have content that is not in a copy of their own members. */
export interface Losses {
  /** Whether an object of a class is one. */
  losesData(value: object): boolean;
  /** An output was copied. @param lost The first such object in it. */
  copied(call: Call, value: unknown, lost: object | undefined): void;
}

interface AnswerRefusal {
  readonly reason: string;
  /** Who must answer, in words for people and models. */
  readonly message: string;
  /** The option that says so. */
  readonly option: string;
}

/** What a part keeps in the memory of one process. */
export interface Unshared {
  readonly kind: string;
  readonly data: object;
  /** Continues "approvals are kept in a store that processes can share, and …". */
  readonly text: string;
}

/** A range of characters. */
export interface TextRange {
  readonly start: number;
  readonly end: number;
}

/** What a part knows about the texts of outputs, for parts that keep outputs. */
export interface Provenance {
  /** Whether the outcome may repeat what child calls have returned, as far as others wrote it. */
  isMixed(call: FoundCall): boolean;
  /** The call repeats an outcome of which that is so. */
  mix(call: FoundCall): void;
  /** What is kept beside an output. */
  about(call: FoundCall): JsonObject;
  /**
   * The call reads back an output of a tool. Returns what must be told which ranges it shows.
   * @param about What was kept beside the output. A store may have changed it.
   */
  readBack(
    call: FoundCall,
    tool: string,
    about: Readonly<Record<string, unknown>>,
  ): (text: string, ranges: readonly TextRange[]) => void;
}

/** What a part has to do with the questions that people are asked. */
export interface QuestionPart {
  /**
   * Members to add to a request, and lines to add to its message.
   * @param hidden The fields that are not shown, as JSON pointers.
   */
  ask(
    call: FoundCall,
    hidden: readonly string[],
    isSecret: (text: string) => boolean,
  ): { readonly members: object; readonly lines: string | undefined } | undefined;
  /** The same members, and the whole message, for an event that hides more. */
  announce(
    request: ApprovalRequest,
    hidden: readonly string[],
    isSecret: (text: string) => boolean,
  ): { readonly members: object; readonly message: string | undefined } | undefined;
  /** A person has allowed the call, whose input is final now. */
  allowed(call: FoundCall, by: string): void;
}

/** What a part tells listeners and observers about a call. */
export interface CallNotes {
  /** Its verdict will be told. What a part finds out later must not be taken for its reason. */
  settle(call: Call): void;
  /** Members of `policy:check` and of the records of observers. */
  of(call: Call): object | undefined;
}
