/** The client's own types go in without a cast, and the answer is of the API that was called. */
import type OpenAI from 'openai';
import type { ToolSession } from '../../src/index.ts';
import { dispatchOpenAI } from '../../src/surfaces/openai/index.ts';
import { given } from './proof.ts';

const session = given<ToolSession>();
const message = given<OpenAI.ChatCompletionMessage>();
export const byMessage: Promise<OpenAI.ChatCompletionMessageParam[]> = dispatchOpenAI(
  session,
  message,
);
export const byCalls: Promise<OpenAI.ChatCompletionMessageParam[]> = dispatchOpenAI(
  session,
  message.tool_calls ?? [],
);
export const byResponse: Promise<OpenAI.Responses.ResponseInputItem[]> = dispatchOpenAI(
  session,
  given<OpenAI.Responses.Response>(),
);
export const byOutput: Promise<OpenAI.Responses.ResponseInputItem[]> = dispatchOpenAI(
  session,
  given<OpenAI.Responses.Response>().output,
);
/** Calls to functions alone have answers that all have an `output`. */
export const byFunctionCalls: Promise<{ readonly output: unknown }[]> = dispatchOpenAI(
  session,
  given<readonly OpenAI.Responses.ResponseFunctionToolCall[]>(),
);
