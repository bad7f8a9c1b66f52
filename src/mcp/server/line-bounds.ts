/** How much a line may hold, so that none holds up the process. */
import { excessOf } from '../../text/json-bounds.ts';
import { isTooFullBeside, maxDepth, maxValues, tooDeep, tooFull, tooFullBeside } from './rpc.ts';

/** Messages of a batch. */
const maxBatch = 100;

/** Why a line is not parsed; undefined where it is. */
export function textFault(line: string): string | undefined {
  const excess = excessOf(line, { maxDepth, maxValues });
  if (excess === undefined) return undefined;
  return excess === 'depth' ? tooDeep : tooFull;
}

/** Why what a line holds is not read; undefined where it is. */
export function valueFault(value: unknown): string | undefined {
  const messages: readonly unknown[] = Array.isArray(value) ? value : [value];
  if (messages.length > maxBatch)
    return `Invalid Request: a batch may have ${maxBatch} messages at most.`;
  return isTooFullBeside(messages) ? tooFullBeside : undefined;
}
