/** How much a line may hold, so that none holds up the process. */
import { isJsonObject } from '../internal.ts';
import { excessOf } from '../shown/json-bounds.ts';
import { maxDepth, tooDeep } from './server-rpc.ts';

/** Values of a line: the 50 000 that an input may have, and what is around them. */
const maxValues = 50_100;
/** Values of what calls no tool and answers nothing. The protocol's package checks it member by member, and writes down each fault. */
const maxOtherValues = 5_000;
/** Messages of a batch. */
const maxBatch = 100;

const counting = 'A member with a key that is new in it counts as five.';

/** Why a line is not parsed; undefined where it is. */
export function textFault(line: string): string | undefined {
  const excess = excessOf(line, { maxDepth, maxValues });
  if (excess === undefined) return undefined;
  return excess === 'depth' ? tooDeep : `Invalid Request: a line may hold ${maxValues} values at most. ${counting}`;
}

/** Why what a line holds is not read; undefined where it is. */
export function valueFault(value: unknown): string | undefined {
  const messages: readonly unknown[] = Array.isArray(value) ? value : [value];
  if (messages.length > maxBatch) return `Invalid Request: a batch may have ${maxBatch} messages at most.`;
  const others = messages.filter((one) => isJsonObject(one) && one.method !== undefined && one.method !== 'tools/call');
  const text = others.map((one) => JSON.stringify(one)).join();
  if (excessOf(text, { maxDepth, maxValues: maxOtherValues }) === undefined) return undefined;
  return `Invalid Request: what is no \`tools/call\` may hold ${maxOtherValues} values at most. ${counting}`;
}
