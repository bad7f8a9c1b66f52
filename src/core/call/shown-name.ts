/** Names tools in messages as they were shown to the model. */
import type { Call } from './call.ts';

/**
 * The name under which the call's surface showed a tool, or the name itself if there is no surface
 * or it never showed the tool. Only the library's own messages use it. Text from a handler, a
 * person or a model is never searched for names.
 */
export function shownNameOf(call: Call, name: string = call.toolName): string {
  try {
    const shown: unknown = call.surface?.shownName?.(name);
    return typeof shown === 'string' && shown !== '' ? shown : name;
  } catch {
    // A message with the other name is better than no result.
    return name;
  }
}
