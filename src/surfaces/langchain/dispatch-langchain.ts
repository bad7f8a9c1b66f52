/** Runs the calls in an AI message of LangChain through the session. */
import type { ToolMessage } from '@langchain/core/messages';
import { MisuseError, type ToolSession } from '../../core.ts';
import { describe } from '../../values/errors/index.ts';
import { abortSignal, readOptions, type TableOf } from '../../values/options/index.ts';
import { dispatchCalls, type ObservedCall } from '../shared/dispatch.ts';
import { listingOf } from '../shared/listing.ts';
import { freshCallId, idOf, listOf, member, textOf } from '../shared/payload.ts';
import { loadCore, toToolMessage } from './core.ts';
import { dialect, surface } from './to-langchain-tools.ts';

/** Options of {@link dispatchLangChain}. */
export interface LangChainDispatchOptions {
  /** Cancels every call when it aborts. @default none */
  readonly signal?: AbortSignal | undefined;
}

const optionTable = {
  signal: abortSignal,
} satisfies TableOf<LangChainDispatchOptions>;

/**
 * Runs the calls of an AI message by the session's plan. Resolves to one message for each call:
 * first those that LangChain could read, in their order, then those whose arguments are not JSON. A
 * failed call is a message with the status `error`.
 * @throws MisuseError (as a rejection) `invalid_option` for any other value and for unknown
 * options, `missing_dependency` without `@langchain/core`.
 *
 * @example
 * ```ts
 * import { AIMessage } from '@langchain/core/messages';
 * import { dispatchLangChain } from 'host-tools/langchain';
 *
 * const message = new AIMessage({
 *   content: '',
 *   tool_calls: [{ id: 'c1', name: 'add', args: { a: 1, b: 2 } }],
 * });
 * const answers = await dispatchLangChain(session, message);
 * ```
 */
export async function dispatchLangChain(
  session: ToolSession,
  message: object,
  options?: LangChainDispatchOptions,
): Promise<ToolMessage[]> {
  const { signal } = readOptions('dispatchLangChain', options, optionTable);
  if (
    typeof message !== 'object' ||
    message === null ||
    !('tool_calls' in message || 'content' in message)
  )
    throw new MisuseError(
      'invalid_option',
      `dispatchLangChain: expected an AI message, got ${describe(message)}.`,
    );
  const core = loadCore();
  const calls = [
    ...listOf(member(message, 'tool_calls')),
    ...listOf(member(message, 'invalid_tool_calls')),
  ].map((call): ObservedCall => {
    const id = idOf(member(call, 'id'));
    return {
      id: id === '' ? freshCallId(session) : id,
      name: textOf(member(call, 'name')),
      input: member(call, 'args'),
    };
  });
  const answers = await dispatchCalls(session, listingOf(session, dialect), calls, surface, signal);
  return answers.map(({ call, result }) =>
    toToolMessage(core, { callId: call.id, name: call.name, result }),
  );
}
