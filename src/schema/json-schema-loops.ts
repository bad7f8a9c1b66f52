/** Schemas that apply to one value through `$ref`, `allOf` and the like: counted, and refused where they never end. */
import { describe } from '../errors.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../json.ts';
import { childrenOf, type Dialect, isLoneReference, type JsonSchemaDocument, schemaError } from './json-schema-dialect.ts';

/**
 * Refuses a loop of references that never moves on to a part of the value, and more than `limit` schemas, counted with repetition, on one value.
 * @throws MisuseError `invalid_schema`
 */
export function refuseLoops(
  root: JsonSchemaDocument,
  schemas: Iterable<JsonObject>,
  targets: ReadonlyMap<JsonObject, JsonValue>,
  dialect: Dialect,
  limit: number,
): void {
  const counts = new Map<JsonObject, number>();
  const open = new Set<JsonObject>();
  const expand = (schema: JsonValue): number => {
    if (!isJsonObject(schema)) return 1;
    const known = counts.get(schema);
    if (known !== undefined) return known;
    if (open.has(schema))
      throw schemaError(
        '',
        `references lead in a circle that consumes no input, by way of ${describe(schema.$ref)}; put one of them under properties or items`,
      );
    open.add(schema);
    let total = 1;
    const target = targets.get(schema);
    if (target !== undefined) total += expand(target);
    if (!isLoneReference(schema, dialect)) for (const child of childrenOf(schema, dialect)) if (child.inPlace) total += expand(child.schema);
    open.delete(schema);
    counts.set(schema, total);
    if (total > limit) throw schemaError('', `references and combinations apply more than ${limit} schemas to one value`);
    return total;
  };
  for (const schema of schemas) expand(schema);
  expand(root);
}
