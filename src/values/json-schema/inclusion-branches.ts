/** Whether the branches of a `oneOf` exclude each other. */
import { isJsonObject, type JsonValue } from '../json/index.ts';
import { keyword } from '../schema/dialect.ts';
import { kindsOf, type Side, type Steps, textOf } from './inclusion-values.ts';

type Get = (schema: JsonValue, name: string) => JsonValue | undefined;

/** Most branches that are compared pairwise. */
const maxBranches = 100;

/**
 * Whether no value fits two of the branches, because of their types or a property that
 * distinguishes them.
 */
export function areApart(branches: readonly JsonValue[], { dialect }: Side, steps: Steps): boolean {
  const get: Get = (schema, name) =>
    isJsonObject(schema) ? keyword(schema, name, dialect) : undefined;
  return (
    branches.length <= maxBranches &&
    branches.every((one, index) =>
      branches.slice(index + 1).every((other) => differ(one, other, get, steps)),
    )
  );
}

function differ(one: JsonValue, other: JsonValue, get: Get, steps: Steps): boolean {
  const types = kindsOf(get(other, 'type'));
  if (kindsOf(get(one, 'type')).every((kind) => !types.includes(kind))) return true;
  if (get(one, 'type') !== 'object' || get(other, 'type') !== 'object') return false;
  const required = listOf(get(one, 'required'));
  steps.left -= required.length + 1;
  if (steps.left < 0) return false;
  return required.some((name) => {
    const left = valuesAt(one, name as string, get, steps);
    const right = left === undefined ? undefined : valuesAt(other, name as string, get, steps);
    if (left === undefined || right === undefined) return false;
    steps.left -= left.size + right.size;
    return [...left].every((value) => !right.has(value));
  });
}

/** The possible values of a property that must be present; undefined if there is no such list. */
function valuesAt(
  schema: JsonValue,
  name: string,
  get: Get,
  steps: Steps,
): ReadonlySet<string> | undefined {
  if (steps.left < 0) return undefined;
  const properties = get(schema, 'properties');
  if (!isJsonObject(properties) || !Object.hasOwn(properties, name)) return undefined;
  if (!listOf(get(schema, 'required')).includes(name)) return undefined;
  const property = properties[name] as JsonValue;
  const constant = get(property, 'const');
  const values = constant === undefined ? get(property, 'enum') : [constant];
  return Array.isArray(values)
    ? new Set(values.map((value: JsonValue) => textOf(value, steps)))
    : undefined;
}

function listOf(value: JsonValue | undefined): readonly JsonValue[] {
  return Array.isArray(value) ? (value as readonly JsonValue[]) : [];
}
