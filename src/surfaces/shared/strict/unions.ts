/** `anyOf` and `oneOf` in a strict mode: a list of alternatives and nothing beside it. */

import type { JsonObject, JsonValue } from '../../../core.ts';
import { isJsonObject } from '../../../values/json/index.ts';
import { alternatives } from '../../../values/schema/schema-places.ts';
import { lose, refuse, type StrictConversion } from './conversion.ts';

/**
 * @param keywords The keywords of the schema, without annotations and those that move elsewhere.
 */
export function convertUnion(
  conversion: StrictConversion,
  schema: JsonObject,
  keywords: readonly string[],
  words: JsonObject,
  path: string,
): JsonObject {
  const keyword = schema.anyOf === undefined ? 'oneOf' : 'anyOf';
  const list = schema[keyword];
  if (keywords.length > 1 || !Array.isArray(list) || list.length === 0)
    return refuse(conversion, path, `it combines \`${keyword}\` with other keywords`);
  const mixed = conversion.rules.allRequired ? nullInOneOnly(conversion, schema) : undefined;
  if (mixed !== undefined)
    return refuse(
      conversion,
      path,
      `\`${mixed}\` may be left out in one alternative, and not in another`,
    );
  if (keyword === 'oneOf')
    lose(
      conversion,
      `${path}/oneOf`,
      'Replaced by `anyOf`, which does not say that exactly one alternative holds.',
    );
  const branches = (list as readonly JsonValue[]).map((branch, index) => {
    const inherits = schema.type !== undefined && isJsonObject(branch) && branch.type === undefined;
    return conversion.convert(
      inherits ? { ...branch, type: schema.type as JsonValue } : branch,
      `${path}/${keyword}/${index}`,
    );
  });
  return { ...words, anyOf: branches };
}

/**
 * Finds a property for which null means "left out" in one alternative and is a value in another. If
 * the model wrote such a null, its meaning would be unclear.
 */
function nullInOneOnly(conversion: StrictConversion, union: JsonObject): string | undefined {
  const { spend, takesNull } = conversion;
  const all = alternatives(union, conversion.document);
  const required = new Set(all.flatMap(requiredOf));
  if (!spend(all.length + required.size)) return undefined;
  const declared = new Map<string, { readonly schemas: Set<JsonValue>; optional: boolean }>();
  for (const one of all) {
    if (!isJsonObject(one.properties)) continue;
    const demanded = new Set(requiredOf(one));
    for (const [name, property] of Object.entries(one.properties)) {
      if (!spend()) return undefined;
      const known = declared.get(name) ?? { schemas: new Set(), optional: false };
      declared.set(name, known);
      known.schemas.add(property);
      known.optional ||= !demanded.has(name);
    }
  }
  for (const [name, { schemas, optional }] of declared)
    if (optional && (required.has(name) || new Set([...schemas].map(takesNull)).size > 1))
      return name;
  return undefined;
}

function requiredOf({ required }: JsonObject): readonly JsonValue[] {
  return Array.isArray(required) ? (required as readonly JsonValue[]) : [];
}
