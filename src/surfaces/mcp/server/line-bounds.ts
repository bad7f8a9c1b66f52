/** Bounds on what a line may contain, so that no line blocks the process. */
import { excessOf } from '../../../values/text/json-bounds.ts';
import { isTooFullBeside, maxDepth, maxValues, tooDeep, tooFull, tooFullBeside } from './rpc.ts';

/** Most messages of a batch. */
const maxBatch = 100;

/** Why a line must not be parsed; undefined if it may be. */
export function textFault(line: string): string | undefined {
  const excess = excessOf(line, { maxDepth, maxValues });
  if (excess === undefined) return undefined;
  return excess === 'depth' ? tooDeep : tooFull;
}

/** Why the value of a line is refused; undefined if it is not. */
export function valueFault(value: unknown): string | undefined {
  const messages: readonly unknown[] = Array.isArray(value) ? value : [value];
  if (messages.length > maxBatch)
    return `Invalid Request: a batch may have at most ${maxBatch} messages.`;
  return isTooFullBeside(messages) ? tooFullBeside : undefined;
}
