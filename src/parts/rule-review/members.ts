/** What the schemas of an object say about one of its members. */
import { isJsonObject, type JsonObject, type JsonValue } from '../../values/json/index.ts';
import { accepts, type Side, type Steps } from '../../values/json-schema/inclusion-values.ts';
import { hasKeys, type View } from '../../values/json-schema/inclusion-view.ts';
import { withBranches } from '../../values/json-schema/may-hold.ts';
import { followReference } from '../../values/schema/local-reference.ts';

/** Schemas that apply to the same value. */
export type Parts = readonly JsonValue[];

/** Most references that are followed to a default. */
const maxReferences = 100;

/** What applies to the member of this name; undefined if no object has it. */
export function memberOf(view: View, name: string, side: Side): Parts | undefined {
  const found: JsonValue[] = [];
  for (const atom of view.atoms) {
    const names = view.get(atom, 'propertyNames');
    if (names !== undefined && accepts(names, name, side, view.steps) === false) return undefined;
    if (
      view.get(atom, 'unevaluatedProperties') === false &&
      !evaluates(atom, name, side, view.steps)
    )
      return undefined;
    found.push(...ownMember(view, atom, name));
  }
  return found.includes(false) ? undefined : found;
}

/** The defaults of a member. Others may be filled in inside an object. */
export function defaultsOf(view: View, name: string, { root }: Side): Parts[] {
  const pending = view.atoms.flatMap((atom) => {
    const properties = view.get(atom, 'properties');
    return isJsonObject(properties) && Object.hasOwn(properties, name) ? [properties[name]] : [];
  });
  const found: Parts[] = [];
  for (let steps = 0; steps < maxReferences; steps++) {
    if (pending.length === 0) return found;
    const part = pending.pop();
    if (!isJsonObject(part)) continue;
    const value = Object.hasOwn(part, 'default') ? part.default : undefined;
    const reference = view.get(part, '$ref');
    if (value !== undefined)
      found.push(typeof value === 'object' && value !== null ? [] : [{ enum: [value] }]);
    else if (typeof reference === 'string') pending.push(followReference(reference, part, root));
  }
  return [[]];
}

function ownMember(view: View, atom: JsonObject, name: string): readonly JsonValue[] {
  const properties = view.get(atom, 'properties');
  if (isJsonObject(properties) && Object.hasOwn(properties, name))
    return [properties[name] as JsonValue];
  // Patterns are not run. Any other name may match one.
  if (hasKeys(view.get(atom, 'patternProperties'))) return [];
  const rest = view.get(atom, 'additionalProperties');
  return rest === undefined ? [] : [rest];
}

/** Whether some part of the schema, on any branch, says something about a member. */
function evaluates(atom: JsonObject, name: string, { root }: Side, steps: Steps): boolean {
  const parts = withBranches([atom], root);
  steps.left -= parts.length;
  return parts.some((part) => {
    const { properties } = part;
    return (
      (isJsonObject(properties) && Object.hasOwn(properties, name)) ||
      Object.hasOwn(part, 'patternProperties') ||
      Object.hasOwn(part, 'additionalProperties') ||
      Object.hasOwn(part, 'if') ||
      (part !== atom && Object.hasOwn(part, 'unevaluatedProperties'))
    );
  });
}
