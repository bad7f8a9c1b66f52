/** The conversation between a host loop and a model, independent of any provider's format. */

import type { ToolCall } from '../../api/batch.ts';
import { eventLimits } from '../../core/toolset/shape.ts';
import type { ToolSpec } from '../../core/toolset/tool-spec.ts';
import { describe, MisuseError } from '../../values/errors/index.ts';
import { copyJson, frozenJson, isJsonObject } from '../../values/json/index.ts';
import { readMembers } from '../../values/options/index.ts';

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
