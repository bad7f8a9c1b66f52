/** What a call knows of its tool's attributes. */

import type { Call, FoundCall } from '../../core/call/call.ts';
import { Slot } from '../../core/slot.ts';
import type { JsonObject, JsonValue } from '../../values/json/index.ts';

/** What the tool's `attributes` have answered about an input. */
export interface KnownAttributes {
  readonly input: JsonObject;
  readonly answers: ReadonlyMap<string, JsonValue | undefined>;
  /** The paths whose answers had to be waited for. */
  readonly later: ReadonlySet<string>;
  /** The parse of the input that was asked about, if it had to be waited for. */
  readonly parse: { readonly value: unknown } | undefined;
}

/** The answers, until the call has waited for something else. */
export const knownAttributes = new Slot<KnownAttributes>();

/** The input for which the attributes that only shadow rules read could not be asked. */
export const unannouncedAttributes = new Slot<JsonObject>();

export function answersOf({ extra }: Call): KnownAttributes | undefined {
  return extra === undefined ? undefined : knownAttributes.of(extra);
}

/** Whether the attributes that a rule reads have been asked, as far as the tool declares them. */
export function hasAttributes(call: FoundCall, paths: readonly string[]): boolean {
  const { attributes } = call.entry.internals;
  if (attributes === undefined || paths.length === 0) return true;
  const answers = answersOf(call)?.answers;
  return paths.every((path) => !attributes.has(path) || answers?.has(path) === true);
}
