/** What others may read of a call: everything, unless a part hides some of it. */

import type { JsonValue } from '../../values/json/index.ts';
import type { Call, FoundCall } from './call.ts';
import type { ShownInput } from './ports.ts';

/** A text of the call. */
export function shownText(call: Call, text: string): string {
  const { masking } = call.session.registry.ports.calls;
  return masking === undefined ? text : masking.text(call, text);
}

/** JSON of the call. It may share parts with the JSON. */
export function shownJson(call: Call, value: JsonValue): JsonValue {
  const { masking } = call.session.registry.ports.calls;
  return masking === undefined ? value : masking.json(call, value);
}

/**
 * The input, as events carry it; null if it is not valid JSON. It may share parts with the input.
 */
export function shownInput(call: Call): JsonValue {
  const { masking } = call.session.registry.ports.calls;
  return masking === undefined ? call.given : masking.input(call);
}

/** The input of a question for those who hear of it. */
export function shownToListeners(call: FoundCall): ShownInput {
  return call.session.registry.ports.calls.masking?.forListeners(call) ?? asItIs(call);
}

/** The input, where nothing is hidden. */
export function asItIs({ canonical }: FoundCall): ShownInput {
  return { value: canonical, fields: none, holds: () => false };
}

const none: readonly never[] = Object.freeze([]);

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
