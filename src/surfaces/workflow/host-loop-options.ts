/** The options and the result of a host loop. */

import type { ToolCall } from '../../api/batch.ts';
import type { ToolSpec } from '../../core/toolset/tool-spec.ts';
import type { ToolSession } from '../../core.ts';
import { describe, MisuseError } from '../../values/errors/index.ts';
import { copyJson, frozenJson, isJsonObject } from '../../values/json/index.ts';
import { readMembers } from '../../values/options/index.ts';
import { eventLimits } from './shape.ts';
import type { CallOutcome, WorkflowEvent } from './workflow-events.ts';
import type { WorkflowState } from './workflow-state.ts';

/** Options of `runHostLoop`. */
export interface HostLoopOptions {
  /** Decides which tools are listed, and plans calls. Its tool names are those of the session. */
  readonly workflow: WorkflowState;
  /**
   * Runs the calls, through every gate. Before each turn, its facts are copied to the workflow. At
   * the start, facts that it lacks are set from the workflow, except those that it has lost since
   * the last loop over it ended.
   */
  readonly session: ToolSession;
  /** The model. */
  readonly generate: Generate;
  /** The conversation so far. A string is one message of the user. */
  readonly input: string | readonly Message[];
  /** Ends the loop at once. Open calls end as `cancelled`. */
  readonly signal?: AbortSignal | undefined;
  /** The most requests to the model. From 1. @default 16 */
  readonly maxTurns?: number | undefined;
  /**
   * The id of the run, and its profile or the provider whose profile it uses. @default the profile
   * of the workflow
   */
  readonly run?:
    | {
        /** The id of the run. @default a new one */
        readonly runId?: string | undefined;
        /** The id of the profile. */
        readonly profile?: string | undefined;
        /** The provider whose profile is used. */
        readonly provider?: string | undefined;
      }
    | undefined;
  /**
   * Receives each applied event with the state after it, for example to store a log during the run.
   * The loop waits for its promise before it continues, so that a log is never behind. If it throws
   * or rejects, the loop stops as `failed`.
   */
  readonly onEvent?: ((event: WorkflowEvent, state: WorkflowState) => unknown) | undefined;
}

/** The result of a host loop. */
export interface HostLoopResult {
  /**
   * The workflow afterwards, without an active run. If it already had one, it is unchanged
   * (`run_already_active`).
   */
  readonly state: WorkflowState;
  /** The whole conversation, including the input. */
  readonly messages: readonly Message[];
  /** Every call in observed order, including refused ones. */
  readonly results: readonly CallOutcome[];
  /**
   * Every applied event in order: `replay(workflow, events)` gives `state`, and
   * `writeTrace(workflow, events)` gives a log. They contain arguments and results unredacted,
   * including secrets.
   */
  readonly events: readonly WorkflowEvent[];
  /** `completed`: the model made no further calls. `max_turns`: it still wanted to. */
  readonly stopped: 'completed' | 'max_turns' | 'cancelled' | 'failed';
  /**
   * Why it failed: the code of a refused event, `session_closed`, `generate_failed`, or
   * `loop_failed` if the session or `onEvent` threw.
   */
  readonly error?: { readonly code: string; readonly message: string };
}

/** The checked options of a host loop. */
export interface LoopStart
  extends Pick<HostLoopOptions, 'session' | 'generate' | 'signal' | 'onEvent' | 'run'> {
  readonly workflow: WorkflowState;
  readonly messages: Message[];
  readonly maxTurns: number;
}

// The conversation between a host loop and a model, independent of any provider's format.

/** One entry of the conversation. */
export interface Message {
  /** The author. `tool` answers a call. */
  readonly role: 'system' | 'user' | 'assistant' | 'tool';
  /** The text. For a tool, the model-visible text of its result. */
  readonly content: string;
  /** The calls that an assistant made. */
  readonly toolCalls?: readonly ToolCall[] | undefined;
  /** The id of the call that a tool message answers. */
  readonly toolCallId?: string | undefined;
}

/** The request to a model for one turn. */
export interface GenerateRequest {
  /** The conversation so far. The array is a copy, its entries are frozen. */
  readonly messages: readonly Message[];
  /** The tools that the model may call in this turn, in effective order. Frozen. */
  readonly tools: readonly ToolSpec[];
  /** Their names, in the same order. Frozen. `toProviderNames` adapts them to a provider. */
  readonly toolNames: readonly string[];
  /** The id of the run, the same for all its turns. */
  readonly runId: string;
  /** Aborted when the answer is no longer needed. */
  readonly signal: AbortSignal;
}

/** The answer of a model. Without tool calls, the run is over. */
export interface GenerateAnswer {
  /** The text. @default none */
  readonly text?: string | undefined;
  /**
   * The calls. Their ids must be distinct within the answer; a later turn may reuse them.
   * @default none
   */
  readonly toolCalls?: readonly ToolCall[] | undefined;
}

/** A function that asks a model: through a provider's client, a gateway or a script. */
export type Generate = (request: GenerateRequest) => GenerateAnswer | Promise<GenerateAnswer>;

/** The initial conversation as frozen copies. @throws MisuseError `invalid_option` */
export function readInput(input: string | readonly Message[]): Message[] {
  if (typeof input === 'string') return [Object.freeze({ role: 'user', content: input })];
  if (!Array.isArray(input)) throw wrongInput('input', 'a string or an array of messages', input);
  // A hole is a message that is undefined; `map` of the array itself would skip it.
  return Array.from(input as readonly unknown[], (message, index): Message => {
    const copy = copyJson(message, eventLimits);
    if (!copy.ok)
      throw wrongInput(
        `input[${index}]${copy.path.replaceAll('/', '.')}`,
        'JSON',
        copy.message,
        true,
      );
    const { value } = copy;
    if (!isJsonObject(value)) throw wrongInput(`input[${index}]`, 'a message', value);
    if (!roles.has(value.role))
      throw wrongInput(`input[${index}].role`, 'one of system, user, assistant, tool', value.role);
    if (typeof value.content !== 'string')
      throw wrongInput(`input[${index}].content`, 'a string', value.content);
    return frozenJson(value) as unknown as Message;
  });
}

const roles: ReadonlySet<unknown> = new Set<Message['role']>([
  'system',
  'user',
  'assistant',
  'tool',
]);

function wrongInput(field: string, expected: string, got: unknown, said = false): MisuseError {
  return new MisuseError(
    'invalid_option',
    `runHostLoop: expected \`${field}\` to be ${expected}, got ` +
      `${said ? String(got) : describe(got)}.`,
  );
}

/**
 * Reads the answer of a model.
 * @throws TypeError for an invalid answer, MisuseError for an unknown field
 */
export function readAnswer(answer: unknown): GenerateAnswer {
  if (typeof answer !== 'object' || answer === null)
    throw new TypeError(`expected { text?, toolCalls? }, got ${describe(answer)}`);
  // A misspelt `toolCalls` must not end the run as if the model had made no calls.
  const { text, toolCalls } = readMembers<{ text?: unknown; toolCalls?: unknown }>(
    'its answer',
    answer,
    ['text', 'toolCalls'],
    { noun: 'field' },
  );
  if (text !== undefined && text !== null && typeof text !== 'string')
    throw new TypeError(`expected \`text\` to be a string, got ${describe(text)}`);
  if (toolCalls !== undefined && toolCalls !== null && !Array.isArray(toolCalls))
    throw new TypeError(`expected \`toolCalls\` to be an array, got ${describe(toolCalls)}`);
  return {
    text: text ?? '',
    toolCalls: (toolCalls as readonly ToolCall[] | null | undefined) ?? [],
  };
}
