/** Finds what a host writes into its schemas: marks that parts act upon, and labels. */

import type { AnyTool } from '../../api/tool.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../values/json/index.ts';
import { schemasByName } from '../../values/schema/without-defaults.ts';
import { internalsOf } from './definition.ts';

/** Keywords whose value is data and not a schema. */
const data: ReadonlySet<string> = new Set(['const', 'default', 'enum', 'example', 'examples']);
const none: readonly never[] = Object.freeze([]);

/** A schema and all schemas in it; none if no key in it is one of two. */
export function partsOf(schema: JsonObject, one: string, other: string): readonly JsonObject[] {
  // Most schemas have no label.
  const text = JSON.stringify(schema);
  if (!text.includes(`"${one}":`) && !text.includes(`"${other}":`)) return none;
  const found: JsonObject[] = [];
  const seen = new Set<JsonValue>();
  const pending: (JsonValue | undefined)[] = [schema];
  while (pending.length > 0) {
    const part = pending.pop();
    if (typeof part !== 'object' || part === null || seen.has(part)) continue;
    seen.add(part);
    if (isJsonObject(part)) found.push(part);
    for (const [key, value] of Object.entries(part)) {
      if (data.has(key)) continue;
      // A property may have the name of a keyword.
      if (schemasByName.has(key) && isJsonObject(value))
        for (const one of Object.values(value)) pending.push(one);
      else pending.push(value);
    }
  }
  return found;
}

/** Marks that parts act upon. Without its part, a mark would have no effect. */
const marks = ['secret'];

/** Finds what a part does with a mark. @throws MisuseError `missing_part` */
export interface MarkParts {
  find(place: 'marks', name: string, what: string): unknown;
}

/** @throws MisuseError `missing_part`, if a schema has a mark whose part is absent. */
export function checkMarkParts(definition: AnyTool, parts: MarkParts): void {
  const { input, output, knobs } = internalsOf(definition);
  for (const [name, schema] of Object.entries({ parameters: input, outputSchema: output, knobs }))
    for (const mark of marks) {
      const found = schema === undefined ? undefined : markIn(schema.json, mark);
      if (found !== undefined)
        parts.find('marks', mark, `Tool \`${definition.name}\`, \`${name}\`: \`${found}: true\``);
    }
}

/** A mark as a schema has it; undefined if it has none. */
function markIn(schema: JsonObject, mark: string): string | undefined {
  const names = [mark, `x-${mark}`] as const;
  const parts = partsOf(schema, ...names);
  return names.find((name) =>
    parts.some((part) => Object.hasOwn(part, name) && part[name] === true),
  );
}
