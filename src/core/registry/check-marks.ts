/** Checks what a host writes into its schemas: the labels `x-origin` and `x-role`, and marks. */
import { describe, MisuseError } from '../../values/errors/index.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../values/json/index.ts';
import { probablyMeant } from '../../values/options/index.ts';
import type { PartSet } from '../part.ts';
import { internalsOf } from '../tool/definition.ts';
import type { AnyTool } from '../tool/tool-config.ts';

/** Keywords whose value is data and not a schema. */
const data: ReadonlySet<string> = new Set(['const', 'default', 'enum', 'example', 'examples']);
/** Keywords whose value has schemas by name. */
const named: ReadonlySet<string> = new Set([
  '$defs',
  'definitions',
  'dependencies',
  'dependentSchemas',
  'patternProperties',
  'properties',
]);

/**
 * Refuses an unknown label, which would have no effect. `origin` and `role`, as zod's `.meta()`
 * writes them, may belong to another vocabulary, so only what looks like a misspelling is refused
 * there. Returns whether there is a label.
 * @param known the words of the label
 * @throws MisuseError `invalid_schema`, which names the tool and the word
 */
export function checkMarks(
  schema: JsonObject,
  keyword: 'origin' | 'role',
  known: readonly string[],
  where: string,
): boolean {
  // Most schemas have no label. This check of their keys allocates nothing.
  if (!mentions(schema, keyword, `x-${keyword}`)) return false;
  let isFound = false;
  for (const part of partsOf(schema)) if (checkPart(part, keyword, known, where)) isFound = true;
  return isFound;
}

/** A schema and all schemas in it. */
function partsOf(schema: JsonObject): readonly JsonObject[] {
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
      if (named.has(key) && isJsonObject(value))
        for (const one of Object.values(value)) pending.push(one);
      else pending.push(value);
    }
  }
  return found;
}

/** Marks that parts act upon. Without its part, a mark would have no effect. */
const marks = ['secret'];

/** @throws MisuseError `missing_part`, if a schema has a mark whose part is absent. */
export function checkMarkParts(definition: AnyTool, parts: PartSet): void {
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
  if (!mentions(schema, ...names)) return undefined;
  const parts = partsOf(schema);
  return names.find((name) =>
    parts.some((part) => Object.hasOwn(part, name) && part[name] === true),
  );
}

/** Whether some key in a schema is one of two. */
function mentions(part: JsonValue | undefined, one: string, other: string): boolean {
  if (typeof part !== 'object' || part === null) return false;
  if (Array.isArray(part)) {
    for (const item of part as readonly JsonValue[]) if (mentions(item, one, other)) return true;
    return false;
  }
  for (const key in part) {
    // An inherited member may be a value that inherits from itself, so the walk would not end.
    if (!Object.hasOwn(part, key)) continue;
    if (key === one || key === other || mentions((part as JsonObject)[key], one, other))
      return true;
  }
  return false;
}

function checkPart(
  part: JsonObject,
  keyword: string,
  known: readonly string[],
  where: string,
): boolean {
  let isFound = false;
  const words = known.map((word) => `\`${word}\``).join(', ');
  for (const name of [`x-${keyword}`, keyword]) {
    const value = Object.hasOwn(part, name) ? part[name] : undefined;
    if (value === undefined) continue;
    if (known.includes(value as string)) {
      isFound = true;
      continue;
    }
    const isMisspelt = typeof value === 'string' && probablyMeant(value, known) !== undefined;
    if (name !== keyword || isMisspelt)
      throw new MisuseError(
        'invalid_schema',
        `${where}: expected \`${name}\` to be one of ${words}, got ${describe(value)}.`,
      );
  }
  return isFound;
}
