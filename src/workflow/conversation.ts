/** The conversation between a host loop and a model, in no provider's format. */
import { describe, MisuseError } from '../errors.ts';
import { copyJson, frozenJson, isJsonObject } from '../json.ts';
import { readOptions } from '../options.ts';
import type { ToolCall } from '../toolset/batch-plan.ts';
import { eventLimits } from '../toolset/shape.ts';
import type { ToolSpec } from '../toolset/tool-spec.ts';

/** One entry of the conversation. */
export interface Message {
  /** Who speaks; `tool` answers a call. */
  readonly role: 'system' | 'user' | 'assistant' | 'tool';
  /** The text; of a tool the model-visible text of its result. */
  readonly content: string;
  /** Of an assistant: the calls that it made. */
  readonly toolCalls?: readonly ToolCall[] | undefined;
  /** Of a tool: the id of the call that it answers. */
  readonly toolCallId?: string | undefined;
}

/** What a model is asked with, once a turn. */
export interface GenerateRequest {
  /** The conversation so far. The array is a copy, its entries are frozen. */
  readonly messages: readonly Message[];
  /** The tools that the model may call in this turn, in effective order. Frozen. */
  readonly tools: readonly ToolSpec[];
  /** Their names, in the same order. Frozen. `toProviderNames` makes them fit a provider. */
  readonly toolNames: readonly string[];
  /** The same for all turns of one run. */
  readonly runId: string;
  /** Aborted when the answer is not needed any more. */
  readonly signal: AbortSignal;
}

/** What a model answers. Without tool calls the run is over. */
export interface GenerateAnswer {
  /** What it says. @default none */
  readonly text?: string | undefined;
  /**
   * What it calls; names are tool ids. Each has an id of its own among these: a later turn may use
   * the id again. @default none
   */
  readonly toolCalls?: readonly ToolCall[] | undefined;
}

/** Any model: a provider's client, a gateway, a script. */
export type Generate = (request: GenerateRequest) => GenerateAnswer | Promise<GenerateAnswer>;

/** The conversation to begin with, as frozen copies. @throws MisuseError `invalid_option` */
export function readInput(input: string | readonly Message[]): Message[] {
  if (typeof input === 'string') return [Object.freeze({ role: 'user', content: input })];
  if (!Array.isArray(input)) throw wrongInput('input', 'a string or an array of messages', input);
  return input.map((message: unknown, index): Message => {
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
 * What a model's turn came to, or the fault in it. @throws TypeError, and MisuseError for a field
 * that an answer does not have.
 */
export function readAnswer(answer: unknown): GenerateAnswer {
  if (typeof answer !== 'object' || answer === null)
    throw new TypeError(`expected { text?, toolCalls? }, got ${describe(answer)}`);
  // A misspelt `toolCalls` would end the run as if the model had called nothing.
  const { text, toolCalls } = readOptions<{ text?: unknown; toolCalls?: unknown }>(
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
