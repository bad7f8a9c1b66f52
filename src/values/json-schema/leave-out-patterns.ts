/** Leaves patterns out of a schema that is shown to others. */
import {
  cloneJson,
  deepFreeze,
  escapePointer,
  isJsonObject,
  type JsonObject,
  type JsonValue,
} from '../json/index.ts';
import { childrenOf, type Dialect, dialectOf } from '../schema/dialect.ts';
import { followReference, pointerOf } from '../schema/local-reference.ts';
import { removeKeyword, removeMember, repair } from './json-schema-removal.ts';

/** A pattern that was left out. */
export interface LeftOutPattern {
  /** JSON pointer to the keyword, or to the name in `patternProperties`. */
  readonly path: string;
  readonly pattern: string;
}

/** A schema that accepts what another one accepts, and more if patterns were left out. */
export interface WithoutPatterns {
  readonly schema: JsonObject;
  readonly leftOut: readonly LeftOutPattern[];
}

/** The schemas of a document, and where their references lead. */
interface Places {
  readonly schemas: ReadonlySet<JsonObject>;
  readonly targets: ReadonlyMap<JsonObject, JsonValue>;
}

/**
 * Returns the schema itself if it keeps all its patterns. The schema must have been checked.
 * @param keeps whether a pattern may stay
 */
export function leaveOutPatterns(
  schema: JsonObject,
  keeps: (pattern: string) => boolean,
): WithoutPatterns {
  const dialect = dialectOf(schema);
  const found = [...placesOf(schema, dialect).schemas];
  if (!found.some((one) => patternsOf(one).some(({ pattern }) => !keeps(pattern))))
    return { schema, leftOut: [] };
  const copy = cloneJson(schema);
  const { schemas, targets } = placesOf(copy, dialect);
  const loosened = new Set<JsonObject>();
  const leftOut: LeftOutPattern[] = [];
  for (const one of schemas)
    for (const { keyword, pattern } of patternsOf(one)) {
      if (keeps(pattern)) continue;
      const place = keyword === 'pattern' ? keyword : `${keyword}/${escapePointer(pattern)}`;
      leftOut.push({ path: `${pointerOf(one, copy) ?? ''}/${place}`, pattern });
      loosened.add(one);
      if (keyword === 'pattern') removeKeyword(one, keyword, dialect);
      else removeMember(one, keyword, pattern);
    }
  repair(copy, schemas, targets, { loosened, unsure: new Set() }, dialect);
  return { schema: deepFreeze(copy), leftOut };
}

function patternsOf(schema: JsonObject): { readonly keyword: string; readonly pattern: string }[] {
  const own = (keyword: string): JsonValue | undefined =>
    Object.hasOwn(schema, keyword) ? schema[keyword] : undefined;
  const [pattern, named] = [own('pattern'), own('patternProperties')];
  return [
    ...(typeof pattern === 'string' ? [{ keyword: 'pattern', pattern }] : []),
    ...(isJsonObject(named) ? Object.keys(named) : []).map((name) => ({
      keyword: 'patternProperties',
      pattern: name,
    })),
  ];
}

function placesOf(document: JsonObject, dialect: Dialect): Places {
  const schemas = new Set([document]);
  const targets = new Map<JsonObject, JsonValue>();
  // Iterating a set also reaches the schemas that are added meanwhile.
  for (const schema of schemas) {
    for (const child of childrenOf(schema, dialect))
      if (isJsonObject(child.schema)) schemas.add(child.schema);
    const reference = Object.hasOwn(schema, '$ref') ? schema.$ref : undefined;
    const target =
      typeof reference === 'string' ? followReference(reference, schema, document) : undefined;
    if (target === undefined) continue;
    targets.set(schema, target);
    if (isJsonObject(target)) schemas.add(target);
  }
  return { schemas, targets };
}
