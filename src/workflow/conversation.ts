/** The conversation between a host loop and a model, in no provider's format. */
import type { ToolSpec } from './effective.ts';
import type { ToolCall } from './plan.ts';

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
  /** The conversation so far; a copy. */
  readonly messages: readonly Message[];
  /** The tools that the model may call in this turn, in effective order. */
  readonly tools: readonly ToolSpec[];
  /** Their names, in the same order. `toProviderNames` makes them fit a provider. */
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
  /** What it calls, each with an id of its own; names are tool ids. @default none */
  readonly toolCalls?: readonly ToolCall[] | undefined;
}

/** Any model: a provider's client, a gateway, a script. */
export type Generate = (request: GenerateRequest) => GenerateAnswer | Promise<GenerateAnswer>;
