/**
 * How a malformed rule or quota is refused: the layer, the index, the field, what was expected, what
 * came.
 */
import { describe, type MisuseCode, MisuseError } from '../errors.ts';

/** Throws unless `holds`. */
export type Check = (
  holds: boolean,
  field: string,
  expected: string,
  got: unknown,
) => asserts holds;

/** Most characters of a name, a path or a glob in a rule. */
export const maxTextLength = 1024;

/** @throws MisuseError */
export function checkOf(where: string, code: MisuseCode = 'invalid_rule'): Check {
  return (passed, field, expected, got) => {
    if (!passed)
      throw new MisuseError(
        code,
        `${where}: Expected \`${field}\` to be ${expected}, got ${describe(got)}`,
      );
  };
}

export function isText(value: unknown): value is string {
  return typeof value === 'string' && value.trim() !== '';
}
