/** Whether a text matches the pattern of a schema, where that is certain. */
import { compilePattern } from '../text/regex.ts';

/** Longer texts are not tried. */
const longest = 1_024;
/** A surrogate counts as a character of its own in some patterns of zod. */
const surrogate = /[\ud800-\udfff]/;

/** Undefined if it is unknown. The pattern runs in linear time. */
export function matchesPattern(pattern: string, text: string): boolean | undefined {
  if (text.length > longest || surrogate.test(text)) return undefined;
  try {
    return compilePattern(pattern, { trusted: false }).matcher.test(text);
  } catch {
    return undefined;
  }
}
