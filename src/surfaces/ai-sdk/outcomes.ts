/** The results of suspended calls, put into the messages of a chat once a person has answered. */
import type { JsonObject, JsonValue, ToolFailure, ToolResult, ToolSession } from '../../core.ts';
import { inspectSession, inspectTool } from '../../extend.ts';
import { markContent } from '../../values/content.ts';
import { contentParts } from '../../values/content-parts.ts';
import { isJsonObject, wellFormedJson } from '../../values/json/index.ts';
import {
  commonImages,
  type ShownMedia,
  type ShownText,
  shownMedia,
  shownOutcome,
} from '../shared/outcome.ts';
import type { AiSdkJson, AiSdkOutput, AiSdkPart, AiSdkPreliminary, AiSdkResult } from './tool.ts';

/** A message of the SDK's UI, as far as it is read here. */
export interface AiSdkMessage {
  /** Its texts, calls and so on. */
  readonly parts: readonly unknown[];
}

/** Most approvals that are looked up for one list of messages, which may come from a client. */
const maxLookups = 200;

/** Returns the messages with the results of suspended calls that have ended. See `AiSdkTools`. */
export async function withOutcomes<M extends AiSdkMessage>(
  session: ToolSession,
  messages: readonly M[],
): Promise<M[]> {
  const waiting = messages.flatMap((message) => partsOf(message).filter(isWaiting));
  const ended = new Map<unknown, object>();
  await Promise.all(
    waiting.slice(-maxLookups).map(async (part) => {
      const output = await endOf(session, part);
      if (output !== undefined) ended.set(part, { ...part, output });
    }),
  );
  return messages.map((message) =>
    partsOf(message).some((part) => ended.has(part))
      ? { ...message, parts: partsOf(message).map((part) => ended.get(part) ?? part) }
      : message,
  );
}

function partsOf(message: unknown): readonly unknown[] {
  return isJsonObject(message) && Array.isArray(message.parts) ? message.parts : [];
}

/** A call that was suspended, in a message of the SDK's UI. */
interface WaitingPart {
  readonly toolCallId?: unknown;
  readonly output: ToolFailure & { readonly approvalId: string };
}

function isWaiting(part: unknown): part is JsonObject & WaitingPart {
  if (!isJsonObject(part) || part.state !== 'output-available') return false;
  const { output } = part;
  return (
    isJsonObject(output) &&
    output.success === false &&
    // Another tool of the chat may have approvals of its own.
    isJsonObject(output.error) &&
    output.error.code === 'approval_pending' &&
    typeof output.approvalId === 'string' &&
    output.approvalId.length <= 512
  );
}

/** How the call has ended; undefined while it has not. */
async function endOf(
  session: ToolSession,
  { toolCallId, output: { approvalId, ...pending } }: WaitingPart,
): Promise<AiSdkResult | undefined> {
  const { status, result } = await session.approvals.outcome(approvalId);
  if (status === 'pending' || (status === 'settled' && result === undefined)) return undefined;
  // The messages may name the approval of another call.
  if (result?.metadata.callId === toolCallId && result !== undefined) return markedResult(result);
  return { ...pending, error: status === 'expired' ? expired : forgotten };
}

const expired = {
  code: 'approval_timeout',
  reason: 'expired',
  message: 'Nobody answered in time, so the call did not run. Call the tool again if it is needed.',
  retryable: true,
} as const;

const forgotten = {
  code: 'approval_denied',
  reason: 'unknown_approval',
  message: 'It is not known any more how the call ended. It may have run.',
  retryable: false,
} as const;

// What the model sees of a result.

/**
 * The result with well-formed texts, because applications store it with the conversation. It is
 * marked if its output consists of content parts, and names the approval that it waits for.
 */
export function markedResult(result: ToolResult): AiSdkResult {
  const shown = wellFormedJson(result);
  if (!result.success && result.approval !== undefined) {
    const { approval } = result;
    // It has the token, so it stays out of what a browser gets.
    return Object.defineProperty({ ...shown, approvalId: approval.id }, 'approval', {
      value: approval,
    });
  }
  return result.success && contentParts(result.output) !== undefined
    ? { ...shown, content: true }
    : shown;
}

/**
 * Converts an output for the model. It may come from a stored conversation, so its form is checked.
 * @param declared the tool has an output schema
 * @param tagged files have the form of version 7
 */
export function modelOutput(output: unknown, declared: boolean, tagged: boolean): AiSdkOutput {
  if (!isResult(output))
    return typeof output === 'string'
      ? { type: 'text', value: output.toWellFormed() }
      : json(output);
  if (output.success && output.content === true) markContent(output.output as JsonValue);
  const { text, isError, error, parts } = shownOutcome(output, false);
  if (isError)
    return {
      type: 'error-text',
      value: text,
      providerOptions: { 'host-tools': { error: { ...error } } },
    };
  if (parts === undefined) return declared ? json(output.output) : { type: 'text', value: text };
  const media = shownMedia(parts, acceptedMedia);
  if (media.every(({ kind }) => kind === 'text')) return { type: 'text', value: text };
  return { type: 'content', value: media.map((part) => shownPart(part, tagged)) };
}

function json(value: unknown): AiSdkOutput {
  return { type: 'json', value: wellFormedJson((value ?? null) as AiSdkJson) };
}

function isResult(value: unknown): value is AiSdkResult {
  if (!isJsonObject(value)) return false;
  const { success, error } = value;
  return (
    success === true ||
    (success === false &&
      isJsonObject(error) &&
      typeof error.message === 'string' &&
      typeof error.code === 'string')
  );
}

/** The files that the SDK's providers read. They drop other files with a warning. */
const acceptedMedia = [...commonImages, 'application/pdf'];

function shownPart(part: ShownMedia | ShownText, tagged: boolean): AiSdkPart {
  if (part.kind === 'text') return { type: 'text', text: part.text };
  const { data, mimeType: mediaType } = part;
  if (tagged)
    return { type: 'file', data: { type: 'data', data }, mediaType } as unknown as AiSdkPart;
  return { type: mediaType.startsWith('image/') ? 'image-data' : 'file-data', data, mediaType };
}

// A failed call as an error for the SDK.

/**
 * What a tool throws with `failures: "errors"`. The SDK passes it to `onError` and keeps it in the
 * step's `tool-error` part.
 */
export interface AiSdkFailure extends Error {
  /** The session's result, with the error's code. */
  readonly result: ToolFailure;
}

/**
 * The error has no name: version 6 shows the model an error's message, and version 7 its name and
 * message.
 */
export function failureError(message: string, result: ToolFailure): AiSdkFailure {
  return Object.assign(new Error(message), { name: '', result });
}

// What a generator handler yields, as the SDK's preliminary results.

/**
 * Whether the tool's handler is a generator function. The SDK decides by what `execute` returns, so
 * this must be known before the handler runs.
 */
export function yields(session: ToolSession, name: string): boolean {
  const tool = inspectSession(session).definition(name);
  return tool !== undefined && inspectTool(tool).yields;
}

/**
 * Returns the call's result as a promise that can also be iterated: it gives what the handler
 * yields, then the result. The SDK iterates; other callers await the result. The values are those
 * of the events: copies with secrets redacted, at most 64 KB each and 1 000 per call.
 */
export function withPreliminary(
  session: ToolSession,
  callId: string,
  run: () => Promise<AiSdkResult>,
): Promise<AiSdkResult> {
  const waiting: AiSdkPreliminary[] = [];
  let wake = (): void => {};
  const heard = (yielded: JsonValue): void => {
    waiting.push({ preliminary: true, yielded: wellFormedJson(yielded) });
    wake();
  };
  const offs = [
    session.events.on('tool:event', (event) => {
      if (event.callId === callId && event.name === 'yield' && event.data !== undefined)
        heard(event.data);
    }),
    session.events.on('tool:progress', (event) => {
      const { done, total, message } = event;
      if (event.callId === callId)
        heard({
          done,
          ...(total === undefined ? {} : { total }),
          ...(message === undefined ? {} : { message }),
        });
    }),
  ];
  let ended = false;
  const result = run().finally(() => {
    ended = true;
    for (const off of offs) off();
    wake();
  });
  // An iterating caller gets the failure at the end of the iteration.
  result.catch(() => {});
  async function* all(): AsyncGenerator<AiSdkPreliminary | AiSdkResult> {
    for (;;) {
      const next = waiting.shift();
      if (next !== undefined) yield next;
      else if (ended) return yield await result;
      else
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
    }
  }
  return Object.assign(result, { [Symbol.asyncIterator]: all });
}
