/** Arguments of a call as models send them. */
import type { JsonValue } from './value.ts';

const longestText = 4_194_304;

/** Parses a string that contains JSON. Anything else stays as it is. */
export function readArguments(input: unknown): unknown {
  if (typeof input !== 'string' || input.length > longestText) return input;
  if (input.trim() === '') return input;
  try {
    return JSON.parse(input) as JsonValue;
  } catch {
    return input;
  }
}
