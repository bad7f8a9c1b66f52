/** Whether a schema accepts null as a value of its own. */

import { isJsonObject, type JsonObject, type JsonValue } from '../json/index.ts';
import { followReference } from './local-reference.ts';

/** Most references that are followed from one place. Only a circle makes a longer chain. */
export const maxReferences = 16;

/**
 * What a schema says about null: that it is a value, that only other values are allowed, or
 * nothing. A schema that says nothing accepts anything.
 */
type NullVerdict = 'value' | 'other' | 'anything';

/**
 * Whether the schema accepts null as a value of its own. A schema that says nothing accepts
 * anything.
 */
export function takesNull(schema: JsonValue, root: JsonObject): boolean {
  return nullReader(root)(schema);
}

/** {@link takesNull} for many schemas of one document. Each is read once. */
export function nullReader(root: JsonObject): (schema: JsonValue) => boolean {
  const known = new Map<JsonObject, NullVerdict>();
  return (schema) => {
    const read = new Map<JsonObject, NullVerdict | undefined>();
    let whole = true;
    const verdict = verdictOf(schema, maxReferences);
    // If a circle or the limit stopped the reading, the inner verdicts hold only for this place.
    if (whole) for (const [one, said] of read) if (said !== undefined) known.set(one, said);
    if (verdict !== undefined && isJsonObject(schema)) known.set(schema, verdict);
    return verdict !== 'other';

    function verdictOf(one: JsonValue | undefined, left: number): NullVerdict | undefined {
      if (!isJsonObject(one)) return one === false ? 'other' : 'anything';
      const before = known.get(one) ?? read.get(one);
      if (before !== undefined) return before;
      if (left === 0 || read.has(one)) {
        whole = false;
        return undefined;
      }
      read.set(one, undefined);
      const verdict = judge(one, left - 1);
      read.set(one, verdict);
      return verdict;
    }

    /** Undefined if only schemas whose reading was stopped say something. */
    function judge(one: JsonObject, left: number): NullVerdict | undefined {
      const verdicts: (NullVerdict | undefined)[] = [ownVerdict(one)];
      if (typeof one.$ref === 'string')
        verdicts.push(verdictOf(followReference(one.$ref, one, root), left));
      for (const part of listOf(one, 'allOf')) verdicts.push(verdictOf(part, left));
      // One branch that accepts anything is enough, unless the keywords beside it accept less.
      for (const keyword of ['anyOf', 'oneOf']) {
        const branches = listOf(one, keyword).map((branch) => verdictOf(branch, left));
        if (branches.length > 0)
          verdicts.push(
            (['value', 'anything', 'other'] as const).find((verdict) => branches.includes(verdict)),
          );
      }
      return (
        (['value', 'other'] as const).find((verdict) => verdicts.includes(verdict)) ??
        (verdicts.includes(undefined) ? undefined : 'anything')
      );
    }
  };
}

/**
 * The verdict of a schema's own keywords. `properties` and the like only apply to objects, so they
 * say nothing about null.
 */
function ownVerdict(schema: JsonObject): NullVerdict {
  const { type, enum: values, const: constant } = schema;
  const fixed = Object.hasOwn(schema, 'const');
  if (type === 'null' || (Array.isArray(type) && type.includes('null'))) return 'value';
  if ((Array.isArray(values) && values.includes(null)) || (fixed && constant === null))
    return 'value';
  return type !== undefined || values !== undefined || fixed ? 'other' : 'anything';
}

/** The array that a keyword holds, or an empty one. */
export function listOf(schema: JsonObject, keyword: string): readonly JsonValue[] {
  const list = schema[keyword];
  return Array.isArray(list) ? (list as readonly JsonValue[]) : [];
}
