/** The forms in which models send a call without arguments. */
import { readArguments } from '../../values/json/arguments.ts';

/** No text that means "no arguments" is longer, apart from white space around it. */
const longestForm = 64;

/**
 * Whether the arguments of a call are one of the forms of "no arguments": absent, `null`, or a text
 * that is empty, white space, or the JSON of one of these.
 */
export function isNoArguments(input: unknown): boolean {
  if (input === undefined || input === null) return true;
  if (typeof input !== 'string') return false;
  const text = input.trim();
  if (text.length > longestForm) return false;
  const read = readArguments(text);
  return read === null || (typeof read === 'string' && read.trim() === '');
}

/** The arguments of a call as the session takes them: `{}` for each form of "no arguments". */
export function givenArguments(input: unknown): unknown {
  return isNoArguments(input) ? {} : input;
}
