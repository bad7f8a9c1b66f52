/** One value with its origin, as a row of the terminal. */
import type { JudgedOrigin } from '../index.ts';
import { headline, jsonText } from './printable.ts';

/** Maximum characters of a value that is shown with its origin. */
const longestValue = 60;

/** `to "US133": untrusted, seen in read_file`. It may contain what a terminal obeys. */
export function originText({ path, value, origin, seen }: JudgedOrigin): string {
  const where = seen === undefined ? '' : `, seen in ${seen.toolName}`;
  return `${path} ${headline(jsonText(value), longestValue)}: ${origin}${where}`;
}
