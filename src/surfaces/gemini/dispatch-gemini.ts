/** Runs the calls that a Gemini model makes. */

import { MisuseError, type ToolSession } from '../../core.ts';
import { describe } from '../../values/errors/index.ts';
import {
  abortSignal,
  flag,
  readOptions,
  type TableOf,
  withDefault,
} from '../../values/options/index.ts';
import { type AnsweredCall, dispatchCalls, type ObservedCall } from '../shared/dispatch.ts';
import { listingOf } from '../shared/listing.ts';
import { shownMedia } from '../shared/outcome.ts';
import { freshCallId, idOf, listOf, member, textOf } from '../shared/payload.ts';
import type {
  GeminiContent,
  GeminiFunctionCall,
  GeminiFunctionResponse,
  GeminiFunctionResponsePart,
  GeminiPart,
  GeminiResponse,
} from './api-shapes.ts';
import { geminiSurface, jsonSchemaDialect } from './dialects.ts';

/** Options of a dispatch. */
export interface GeminiDispatchOptions {
  /** Cancels every call when it aborts. @default none */
  readonly signal?: AbortSignal | undefined;
  /**
   * Whether the model gets images and documents, which Gemini 3 and later take, or their text.
   * @default true
   */
  readonly media?: boolean | undefined;
}

const acceptedMedia = ['image/png', 'image/jpeg', 'image/webp', 'application/pdf'];

interface ReadCall extends ObservedCall {
  /** The id in the answer; absent if the call had none. */
  readonly given: string | undefined;
}

const optionTable = {
  signal: abortSignal,
  media: withDefault(flag, true),
} satisfies TableOf<GeminiDispatchOptions>;

/**
 * Runs the function calls of a model, by the session's plan. It takes a response (its first
 * candidate counts), a content, its parts, or a list of calls. Resolves to the parts of the next
 * user content: one for every call, in the order of the calls. A failed call is a part whose
 * response has an `error`.
 * @throws MisuseError `invalid_option` (as a rejection) for any other payload and for unknown
 * options.
 *
 * @example
 * ```ts
 * import { dispatchGemini, type GeminiResponse } from 'host-tools/gemini';
 *
 * declare const response: GeminiResponse; // what `ai.models.generateContent` resolved to
 * const parts = await dispatchGemini(session, response);
 * // Send `{ role: 'user', parts }` after the response's content with the next request.
 * ```
 */
export async function dispatchGemini(
  session: ToolSession,
  response: GeminiResponse | GeminiContent | readonly GeminiPart[] | readonly GeminiFunctionCall[],
  options?: GeminiDispatchOptions,
): Promise<GeminiFunctionResponsePart[]> {
  const { signal, media } = readOptions('dispatchGemini', options, optionTable);
  if (typeof response !== 'object' || response === null)
    throw new MisuseError(
      'invalid_option',
      'dispatchGemini: expected a response, a content, its parts or function calls, got ' +
        `${describe(response)}.`,
    );
  const calls = callsOf(response).map((call): ReadCall => {
    const id = idOf(member(call, 'id'));
    return {
      given: id === '' ? undefined : id,
      id: id === '' ? freshCallId(session) : id,
      name: textOf(member(call, 'name')),
      input: member(call, 'args'),
    };
  });
  const answers = await dispatchCalls(
    session,
    listingOf(session, jsonSchemaDialect),
    calls,
    geminiSurface,
    signal,
  );
  return answers.map((answer) => ({ functionResponse: responseOf(answer, media) }));
}

/** The calls of any of the payloads. An item of a list without `functionCall` is itself a call. */
function callsOf(response: unknown): readonly unknown[] {
  if (Array.isArray(response)) {
    const items = response as readonly unknown[];
    return items.flatMap((item) => {
      const call = member(item, 'functionCall');
      if (call !== undefined) return call === null ? [] : [call];
      return typeof member(item, 'name') === 'string' || member(item, 'args') !== undefined
        ? [item]
        : [];
    });
  }
  const [candidate] = listOf(member(response, 'candidates'));
  const content = candidate === undefined ? response : member(candidate, 'content');
  return listOf(member(content, 'parts')).flatMap((part) => {
    const call = member(part, 'functionCall');
    return call === undefined || call === null ? [] : [call];
  });
}

function responseOf({ call, outcome }: AnsweredCall, withMedia: boolean): GeminiFunctionResponse {
  const { given, name } = call as ReadCall;
  const head = { ...(given === undefined ? {} : { id: given }), name };
  const { text, error, structured, parts } = outcome;
  if (error !== undefined) return { ...head, response: { error: { message: text, ...error } } };
  const inline = (withMedia && parts !== undefined ? shownMedia(parts, acceptedMedia) : []).flatMap(
    (part) => {
      if (part.kind === 'text') return [];
      return [{ inlineData: { mimeType: part.mimeType, data: part.data } }];
    },
  );
  return {
    ...head,
    response: { output: text, ...(structured === undefined ? {} : { structured }) },
    ...(inline.length === 0 ? {} : { parts: inline }),
  };
}
