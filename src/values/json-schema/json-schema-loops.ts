/**
 * Counts the schemas that apply to one value through `$ref`, `allOf` and the like, and refuses
 * those that never end.
 */
import { describe } from '../errors/index.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../json/index.ts';
import { childrenOf, type Dialect, isLoneReference, schemaError } from '../schema/dialect.ts';

/**
 * Refuses a loop of references that never descends into the value. Also refuses more than `limit`
 * schemas on one value, counted with repetition.
 * @throws MisuseError `invalid_schema`
 */
export function refuseLoops(
  schemas: Iterable<JsonObject>,
  targets: ReadonlyMap<JsonObject, JsonValue>,
  dialect: Dialect,
  limit: number,
): void {
  const counts = new Map<JsonObject, number>();
  /** The schemas whose count has begun or is done. */
  const begun = new Set<JsonObject>();
  /** @param by the reference that was followed last */
  const expand = (schema: JsonValue, by?: JsonValue): number => {
    if (!isJsonObject(schema)) return 1;
    const known = counts.get(schema);
    if (known !== undefined) return known;
    if (begun.has(schema))
      throw schemaError(
        '',
        `references lead in a circle that consumes no input, by way of ${describe(by)}; put ` +
          'one of them under properties or items',
      );
    begun.add(schema);
    let total = 1;
    const target = targets.get(schema);
    if (target !== undefined) total += expand(target, schema.$ref);
    if (!isLoneReference(schema, dialect))
      for (const child of childrenOf(schema, dialect))
        if (child.inPlace) total += expand(child.schema, by);
    counts.set(schema, total);
    if (total > limit)
      throw schemaError(
        '',
        `references and combinations apply more than ${limit} schemas to one value`,
      );
    return total;
  };
  for (const schema of schemas) expand(schema);
}
