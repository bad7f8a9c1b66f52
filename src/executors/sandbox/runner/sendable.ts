/** Copies what a handler sends with a question. */
import { messageOf } from '../../../values/errors/index.ts';
import { copyJson, type JsonValue } from '../../../values/json/index.ts';
import { maxMessage, valueLimits } from '../messages.ts';

export const tooLong = `more than ${maxMessage} bytes, which is the most that crosses a sandbox`;

/** Copies a value as JSON, or says why it is not JSON. Never throws. */
export function sendable(value: unknown): { value: JsonValue } | { fault: string } {
  try {
    const copy = copyJson(value, valueLimits);
    if (!copy.ok)
      return { fault: copy.path === '' ? copy.message : `${copy.message} at ${copy.path}` };
    return copy.overflow ? { fault: tooLong } : { value: copy.value };
  } catch (error) {
    return { fault: messageOf(error) };
  }
}
