/** How a malformed rule is refused: the layer, the index, the field, what was expected, what came. */
import { describe, MisuseError } from '../errors.ts';

/** Throws unless `holds`. */
export type Check = (
  holds: boolean,
  field: string,
  expected: string,
  got: unknown,
) => asserts holds;

/** Most characters of a name, a path or a glob in a rule. */
export const maxTextLength = 1024;

/** @throws MisuseError `invalid_rule` */
export function checkOf(where: string): Check {
  return (passed, field, expected, got) => {
    if (!passed)
      throw new MisuseError(
        'invalid_rule',
        `${where}: Expected \`${field}\` to be ${expected}, got ${describe(got)}`,
      );
  };
}

export function isText(value: unknown): value is string {
  return typeof value === 'string' && value.trim() !== '';
}
