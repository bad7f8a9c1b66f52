/** Both versions of the AI SDK behind one face, with models that say what a test scripts. */
import * as six from 'ai';
import { MockLanguageModelV3 } from 'ai/test';
import * as seven from 'ai7';
import { MockLanguageModelV4 } from 'ai7/test';
import type { AiSdkOutput, AiSdkResult, AiSdkTools } from '../../../src/surfaces/ai-sdk/index.ts';

/** One call as a model makes it; `input` is text, as providers send it. */
export interface ModelCall {
  id: string;
  name: string;
  input: string;
}

/** What a model says in one step: calls, or text. */
export type Turn = string | ModelCall[];

/** A part of a message or a step, read loosely. */
export interface Part {
  type: string;
  toolCallId?: string;
  toolName?: string;
  approvalId?: string;
  input?: unknown;
  output?: AiSdkOutput & AiSdkResult & { reason?: string };
  error?: unknown;
  toolMetadata?: unknown;
  signature?: string;
  preliminary?: boolean;
}

export interface Message {
  role: string;
  content: string | Part[];
}

export interface Asked {
  tools: { name: string; description?: string; inputSchema: unknown }[];
  prompt: { role: string; content: Part[] }[];
}

export interface Run {
  text: string;
  content: Part[];
  steps: { content: Part[] }[];
  response: { messages: Message[] };
}

export interface RunOptions {
  tools: { readonly [name: string]: unknown };
  prompt?: string;
  messages?: Message[];
  abortSignal?: AbortSignal;
  repairToolCall?: AiSdkTools['repairToolCall'];
  secret?: string;
  prepareStep?: AiSdkTools['prepareStep'];
}

/**
 * A version: runs a scripted model to its end, streaming or not, and tells what the model was
 * asked.
 */
export interface Sdk {
  name: string;
  generate(turns: Turn[], options: RunOptions): Promise<Run & { asked: Asked[] }>;
  /** `parts`: what streamed, in order. */
  stream(turns: Turn[], options: RunOptions): Promise<Run & { asked: Asked[]; parts: Part[] }>;
  /** `chunks`: what a page gets, in order. */
  page(
    turns: Turn[],
    options: RunOptions,
    onError?: (error: unknown) => string,
  ): Promise<{ chunks: PageChunk[]; asked: Asked[] }>;
}

/** A piece of what a page gets, read loosely. */
export interface PageChunk {
  type: string;
  toolCallId?: string;
  output?: AiSdkResult;
  errorText?: string;
}

interface Module {
  generateText(options: object): Promise<Run>;
  streamText(options: object): {
    fullStream: AsyncIterable<Part>;
    toUIMessageStream(options: object): AsyncIterable<PageChunk>;
    text: PromiseLike<string>;
    steps: PromiseLike<Run['steps']>;
    content: PromiseLike<Part[]>;
    response: PromiseLike<Run['response']>;
  };
  stepCountIs(count: number): unknown;
}
type Mock = new (options: object) => { doGenerateCalls: Asked[]; doStreamCalls: Asked[] };

const usage = { inputTokens: { total: 1, noCache: 1 }, outputTokens: { total: 1, text: 1 } };
const finish = (turn: Turn) => ({
  unified: typeof turn === 'string' ? 'stop' : 'tool-calls',
  raw: undefined,
});
const toContent = (turn: Turn): object[] =>
  typeof turn === 'string'
    ? [{ type: 'text', text: turn }]
    : turn.map(({ id, name, input }) => ({
        type: 'tool-call',
        toolCallId: id,
        toolName: name,
        input,
      }));
const toChunks = (turn: Turn): object[] => [
  { type: 'stream-start', warnings: [] },
  ...(typeof turn === 'string'
    ? [
        { type: 'text-start', id: 't' },
        { type: 'text-delta', id: 't', delta: turn },
        { type: 'text-end', id: 't' },
      ]
    : toContent(turn)),
  { type: 'finish', finishReason: finish(turn), usage },
];

function version(name: string, sdk: Module, Model: Mock): Sdk {
  const settings = ({ repairToolCall, secret, ...options }: RunOptions, model: object) => ({
    model,
    stopWhen: sdk.stepCountIs(8),
    ...(options.messages === undefined ? { prompt: 'Go.' } : {}),
    ...options,
    ...(repairToolCall === undefined ? {} : { experimental_repairToolCall: repairToolCall }),
    ...(secret === undefined ? {} : { experimental_toolApprovalSecret: secret }),
  });
  const streaming = (turns: Turn[], options: RunOptions) => {
    const model = new Model({
      doStream: turns.map((turn) => ({
        stream: new ReadableStream({
          start(controller) {
            for (const chunk of toChunks(turn)) controller.enqueue(chunk);
            controller.close();
          },
        }),
      })),
    });
    return { model, result: sdk.streamText({ ...settings(options, model), onError: () => {} }) };
  };
  return {
    name,
    async generate(turns, options) {
      const model = new Model({
        doGenerate: turns.map((turn) => ({
          content: toContent(turn),
          finishReason: finish(turn),
          usage,
          warnings: [],
        })),
      });
      const { text, content, steps, response } = await sdk.generateText(settings(options, model));
      return { text, content, steps, response, asked: model.doGenerateCalls };
    },
    async stream(turns, options) {
      const { model, result } = streaming(turns, options);
      const parts: Part[] = [];
      for await (const part of result.fullStream) parts.push(part);
      return {
        parts,
        text: await result.text,
        content: await result.content,
        steps: await result.steps,
        response: await result.response,
        asked: model.doStreamCalls,
      };
    },
    async page(turns, options, onError) {
      const { model, result } = streaming(turns, options);
      const chunks: PageChunk[] = [];
      for await (const chunk of result.toUIMessageStream(onError === undefined ? {} : { onError }))
        chunks.push(chunk);
      return { chunks, asked: model.doStreamCalls };
    },
  };
}

/** Both, newest last. */
export const versions: readonly Sdk[] = [
  version('AI SDK 6', six as unknown as Module, MockLanguageModelV3 as unknown as Mock),
  version('AI SDK 7', seven as unknown as Module, MockLanguageModelV4 as unknown as Mock),
];

/** What the model of the last step was shown of each call. */
export function answersTo({
  asked,
}: {
  asked: Asked[];
}): [string | undefined, AiSdkOutput | undefined][] {
  const prompt = asked.at(-1)?.prompt ?? [];
  return prompt
    .filter(({ role }) => role === 'tool')
    .flatMap(({ content }) =>
      content
        .filter(({ type }) => type === 'tool-result')
        .map(
          ({ toolCallId, output }) =>
            [toolCallId, output] as [string | undefined, AiSdkOutput | undefined],
        ),
    );
}
