/** Runs the calls that an Anthropic model makes. */

import { MisuseError, type ToolSession } from '../../core.ts';
import { describe } from '../../values/errors/index.ts';
import { abortSignal, readOptions, type TableOf } from '../../values/options/index.ts';
import { dispatchCalls, type ObservedCall } from '../shared/dispatch.ts';
import { listingOf } from '../shared/listing.ts';
import { freshCallId, idOf, listOf, member, textOf } from '../shared/payload.ts';
import type { AnthropicBlock, AnthropicMessage, AnthropicToolResult } from './api-shapes.ts';
import { anthropicSurface, contentOf, plainDialect, referencesIn } from './dialects.ts';

/** Options of a dispatch. */
export interface AnthropicDispatchOptions {
  /** Cancels every call when it aborts. @default none */
  readonly signal?: AbortSignal | undefined;
}

const optionTable = {
  signal: abortSignal,
} satisfies TableOf<AnthropicDispatchOptions>;

/**
 * Runs the `tool_use` blocks of a message, or of its content, by the session's plan. Resolves to
 * the blocks of the next user message: one for every call, in the order of the calls. A failed call
 * is a block with `is_error`. Tools that the provider runs itself and tools of the client's own
 * toolsets are skipped.
 * @throws MisuseError `invalid_option` (as a rejection) for any other payload and for unknown
 * options.
 *
 * @example
 * ```ts
 * import { type AnthropicMessage, dispatchAnthropic } from 'host-tools/anthropic';
 *
 * declare const message: AnthropicMessage; // what `client.messages.create` resolved to
 * const content = await dispatchAnthropic(session, message);
 * // Send `{ role: 'user', content }` after the message with the next request.
 * ```
 */
export async function dispatchAnthropic(
  session: ToolSession,
  message: AnthropicMessage | readonly AnthropicBlock[],
  options?: AnthropicDispatchOptions,
): Promise<AnthropicToolResult[]> {
  const { signal } = readOptions('dispatchAnthropic', options, optionTable);
  if (
    typeof message !== 'object' ||
    message === null ||
    !(Array.isArray(message) || 'content' in message)
  )
    throw new MisuseError(
      'invalid_option',
      `dispatchAnthropic: expected a message or its content, got ${describe(message)}.`,
    );
  const blocks = listOf(Array.isArray(message) ? message : member(message, 'content'));
  const calls = blocks.flatMap((block): (ObservedCall & { readonly useId: string })[] => {
    if (member(block, 'type') !== 'tool_use' || typeof member(block, 'toolset_name') === 'string')
      return [];
    const useId = idOf(member(block, 'id'));
    return [
      {
        useId,
        id: useId === '' ? freshCallId(session) : useId,
        name: textOf(member(block, 'name')),
        input: member(block, 'input'),
      },
    ];
  });
  const answers = await dispatchCalls(
    session,
    listingOf(session, plainDialect),
    calls,
    anthropicSurface,
    signal,
  );
  return answers.map((answer, index): AnthropicToolResult => {
    const { outcome } = answer;
    const result: AnthropicToolResult = {
      type: 'tool_result',
      tool_use_id: calls[index]?.useId ?? '',
      content: referencesIn(session, answer) ?? contentOf(outcome),
    };
    return outcome.isError ? { ...result, is_error: true } : result;
  });
}
