/**
 * What a model asked for in a provider's words, through the session: one answer for every call id.
 */
import type { Surface, ToolResult, ToolSession } from '../../index.ts';
import type { Listing } from './listing.ts';
import { type ShownOutcome, shownOutcome } from './outcome.ts';

/** One call as a payload had it. */
export interface ObservedCall {
  /** The provider's call id. */
  readonly id: string;
  /** The shown name. */
  readonly name: string;
  /** The arguments; text is read as JSON. */
  readonly input: unknown;
}

/** One call and its answer. */
export interface AnsweredCall {
  readonly call: ObservedCall;
  readonly result: ToolResult;
  readonly outcome: ShownOutcome;
}

/**
 * Runs calls by the session's plan, side by side where that is allowed. Answers stand in the order
 * of the calls; a call that cannot be read is one failed answer, and the others run.
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
    arguments: input,
  }));
  const { results } = await session.executeBatch(named, {
    surface: { ...surface, shownName },
    ...(signal === undefined ? {} : { signal }),
  });
  return results.map(({ toolName, result }, index) => ({
    call: calls[index] as ObservedCall,
    result,
    outcome: shownOutcome(result, declared.has(toolName)),
  }));
}
