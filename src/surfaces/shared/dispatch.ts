/**
 * Runs the calls of a provider's payload through the session. There is one answer for every call
 * id.
 */
import type { Surface, ToolResult, ToolSession } from '../../core.ts';
import type { Listing } from './listing.ts';
import { type ShownOutcome, shownOutcome } from './outcome.ts';
import { givenArguments } from './payload.ts';

/** One call of a payload. */
export interface ObservedCall {
  /** The provider's call id. */
  readonly id: string;
  /** The shown name. */
  readonly name: string;
  /** The arguments as the model sent them. Text is read as JSON. */
  readonly input: unknown;
}

/** One call and its answer. */
export interface AnsweredCall {
  readonly call: ObservedCall;
  /** The tool's name. */
  readonly toolName: string;
  readonly result: ToolResult;
  readonly outcome: ShownOutcome;
}

/**
 * Runs calls by the session's plan, in parallel where that is allowed. The answers are in the order
 * of the calls. A call that cannot be read gets a failed answer, and the others run.
 */
export async function dispatchCalls(
  session: ToolSession,
  { known, shown, shownName }: Pick<Listing, 'known' | 'shown' | 'shownName'>,
  calls: readonly ObservedCall[],
  surface: Surface,
  signal?: AbortSignal,
): Promise<AnsweredCall[]> {
  const declared = new Set(
    shown.flatMap(({ tool }) => (tool.outputSchema === undefined ? [] : [tool.name])),
  );
  const named = calls.map(({ id, name, input }) => ({
    id,
    name: known.get(name) ?? name,
    arguments: givenArguments(input),
  }));
  const { results } = await session.executeBatch(named, {
    surface: { ...surface, shownName },
    ...(signal === undefined ? {} : { signal }),
  });
  return results.map(({ toolName, result }, index) => ({
    call: calls[index] as ObservedCall,
    toolName,
    result,
    outcome: shownOutcome(result, declared.has(toolName)),
  }));
}
