/** What a tool requires of the session's facts. */
import type { JsonPrimitive } from '../../values/json/index.ts';

/** A condition on one of the session's facts. */
export type FactRule =
  | { readonly fact: string; readonly equals: JsonPrimitive }
  | { readonly fact: string; readonly in: readonly JsonPrimitive[] };
