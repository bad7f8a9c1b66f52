/** Runs the calls that an OpenAI model makes. */

import { MisuseError, type ToolSession } from '../../core.ts';
import { describe } from '../../values/errors/index.ts';
import { abortSignal, readOptions, type TableOf } from '../../values/options/index.ts';
import { type AnsweredCall, dispatchCalls, type ObservedCall } from '../shared/dispatch.ts';
import { listingOf } from '../shared/listing.ts';
import { commonImages, shownMedia } from '../shared/outcome.ts';
import { freshCallId, idOf, listOf, member, textOf } from '../shared/payload.ts';
import type {
  OpenAIChatCall,
  OpenAIChatMessage,
  OpenAIFunctionCallOutput,
  OpenAIOutputPart,
  OpenAIResponseItem,
  OpenAIToolMessage,
  OpenAIToolSearchOutput,
} from './api-shapes.ts';
import { definitionsIn, finderOf, openaiSurface, plainDialect } from './dialects.ts';

/** Options of a dispatch. */
export interface OpenAIDispatchOptions {
  /** Cancels every call when it aborts. @default none */
  readonly signal?: AbortSignal | undefined;
}

const acceptedMedia = [...commonImages, 'application/pdf'];

/** A call of a payload, and the form of its answer. */
interface ReadCall extends ObservedCall {
  /** The id in the answer. */
  readonly callId: string;
  readonly api: 'chat' | 'responses' | 'search';
}

const optionTable = {
  signal: abortSignal,
} satisfies TableOf<OpenAIDispatchOptions>;

/**
 * Runs the calls of a model, by the session's plan. It takes a chat completion message or its
 * `tool_calls`, or a response or its `output`. Resolves to the messages or items to send back: one
 * for every call, in the order of the calls. A failed call has an answer like any other. Calls to
 * custom tools and to the provider's own tools are skipped.
 * @throws MisuseError `invalid_option` (as a rejection) for any other payload and for unknown
 * options.
 *
 * @example
 * ```ts
 * import { dispatchOpenAI, type OpenAIChatMessage } from 'host-tools/openai';
 *
 * declare const message: OpenAIChatMessage; // `completion.choices[0].message`
 * const answers = await dispatchOpenAI(session, message);
 * // Send `[...messages, message, ...answers]` with the next request.
 * ```
 */
export function dispatchOpenAI(
  session: ToolSession,
  message: OpenAIChatMessage | readonly OpenAIChatCall[],
  options?: OpenAIDispatchOptions,
): Promise<OpenAIToolMessage[]>;
export function dispatchOpenAI(
  session: ToolSession,
  calls: readonly (OpenAIResponseItem & { readonly type: 'function_call' })[],
  options?: OpenAIDispatchOptions,
): Promise<OpenAIFunctionCallOutput[]>;
export function dispatchOpenAI(
  session: ToolSession,
  output: readonly OpenAIResponseItem[] | { readonly output: readonly OpenAIResponseItem[] },
  options?: OpenAIDispatchOptions,
): Promise<(OpenAIFunctionCallOutput | OpenAIToolSearchOutput)[]>;
export async function dispatchOpenAI(
  session: ToolSession,
  payload: unknown,
  options?: OpenAIDispatchOptions,
): Promise<(OpenAIToolMessage | OpenAIFunctionCallOutput | OpenAIToolSearchOutput)[]> {
  const { signal } = readOptions('dispatchOpenAI', options, optionTable);
  if (typeof payload !== 'object' || payload === null)
    throw new MisuseError(
      'invalid_option',
      'dispatchOpenAI: expected a chat completion message, its tool calls, or the output of a ' +
        `response, got ${describe(payload)}.`,
    );
  if (
    !Array.isArray(payload) &&
    !['tool_calls', 'output', 'role', 'content'].some((key) => key in payload)
  )
    throw new MisuseError(
      'invalid_option',
      'dispatchOpenAI: expected a chat completion message, its tool calls, or the output of a ' +
        'response, got an object with neither.' +
        ('choices' in payload ? ' Pass `completion.choices[0].message`.' : ''),
    );
  const items = Array.isArray(payload)
    ? payload
    : [...listOf(member(payload, 'tool_calls')), ...listOf(member(payload, 'output'))];
  const calls = (items as readonly unknown[]).flatMap((item) => readCall(session, item) ?? []);
  const answers = await dispatchCalls(
    session,
    listingOf(session, plainDialect),
    calls,
    openaiSurface,
    signal,
  );
  return answers.map((answer) => answerOf(session, answer));
}

function readCall(session: ToolSession, item: unknown): ReadCall | undefined {
  const type = member(item, 'type');
  if (type === 'function_call')
    return observed(session, 'responses', member(item, 'call_id'), item);
  // The provider's own searches have been answered by it.
  if (type === 'tool_search_call')
    return member(item, 'execution') === 'client'
      ? {
          ...observed(session, 'search', member(item, 'call_id'), item),
          name: finderOf(session),
        }
      : undefined;
  // In Chat Completions a call without a valid type still needs an answer.
  const called = member(item, 'function');
  if (type === 'function' || called !== undefined)
    return observed(session, 'chat', member(item, 'id'), called);
  return undefined;
}

function observed(
  session: ToolSession,
  api: ReadCall['api'],
  given: unknown,
  call: unknown,
): ReadCall {
  const callId = idOf(given);
  return {
    api,
    callId,
    id: callId === '' ? freshCallId(session) : callId,
    name: textOf(member(call, 'name')),
    input: member(call, 'arguments'),
  };
}

function answerOf(
  session: ToolSession,
  answer: AnsweredCall,
): OpenAIToolMessage | OpenAIFunctionCallOutput | OpenAIToolSearchOutput {
  const { text, parts } = answer.outcome;
  const { api, callId } = answer.call as ReadCall;
  if (api === 'search')
    return {
      type: 'tool_search_output',
      call_id: callId,
      execution: 'client',
      status: 'completed',
      tools: definitionsIn(session, answer),
    };
  if (api === 'chat') return { role: 'tool', tool_call_id: callId, content: text };
  const media = parts === undefined ? [] : shownMedia(parts, acceptedMedia);
  if (media.every(({ kind }) => kind === 'text'))
    return { type: 'function_call_output', call_id: callId, output: text };
  const output = media.map((one): OpenAIOutputPart => {
    if (one.kind === 'text') return { type: 'input_text', text: one.text };
    const url = `data:${one.mimeType};base64,${one.data}`;
    return commonImages.includes(one.mimeType)
      ? { type: 'input_image', image_url: url, detail: 'auto' }
      : { type: 'input_file', filename: one.name ?? 'file.pdf', file_data: url };
  });
  return { type: 'function_call_output', call_id: callId, output };
}
