/** How messages name tools: as the model that reads them was shown them. */
import type { Call } from '../state/call.ts';

/**
 * A tool's name in the words of the surface that the call came by; without a surface, or for a tool
 * that it never showed, the name itself. Only texts of our own making use it, each for the one name
 * that it puts in: what a handler, a person or a model wrote is never searched for names.
 */
export function toldName(call: Call, name: string = call.toolName): string {
  try {
    const shown: unknown = call.surface?.shownName?.(name);
    return typeof shown === 'string' && shown !== '' ? shown : name;
  } catch {
    // A message in other words is better than no result.
    return name;
  }
}
