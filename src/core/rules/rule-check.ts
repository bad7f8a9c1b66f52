/**
 * How a malformed rule or quota is refused: the layer, the index, the id, the field, what was
 * expected, what came.
 */
import { describe, type MisuseCode, MisuseError } from '../../values/errors/index.ts';
import type { JsonObject } from '../../values/json/index.ts';

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

/** Adds the id of a rule or quota to its place, if it has one that can be shown. */
export function placeOf(where: string, source: JsonObject): string {
  const id = Object.hasOwn(source, 'id') ? source.id : undefined;
  return isText(id) && id.trim() === id && id.length <= longestId ? `${where} (\`${id}\`)` : where;
}

const longestId = 256;
