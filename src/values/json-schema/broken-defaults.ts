/** Finds defaults that their own schemas refuse. */
import type { JsonObject, JsonValue } from '../json/index.ts';
import { isLoneReference } from '../schema/dialect.ts';
import { type Check, type Context, isPolluted } from './compile-context.ts';
import { checksOf } from './compile-node.ts';
import type { CheckedSchema } from './json-schema-check.ts';

/** Most steps for all defaults of a document. Those beyond count as refused. */
const maxSteps = 200_000;

/** The schemas of a document whose `default` does not match them. */
export function withBrokenDefaults(checked: CheckedSchema): readonly JsonObject[] {
  if (!checked.hasDefaults) return [];
  const checkOf = checksOf(checked);
  const context: Context = {
    steps: maxSteps,
    issues: undefined,
    polluted: isPolluted(),
    scope: [],
  };
  return [...checked.schemas].filter(
    (schema) =>
      Object.hasOwn(schema, 'default') &&
      !isLoneReference(schema, checked.dialect) &&
      !accepts(checkOf(schema), schema.default as JsonValue, context),
  );
}

function accepts(check: Check, value: JsonValue, context: Context): boolean {
  try {
    return check(value, context);
  } catch {
    // The steps are used up.
    return false;
  }
}
