/** Checks the labels that a host writes into its schemas: `x-origin` and `x-role`. */
import { describe, MisuseError } from '../../values/errors/index.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../values/json/index.ts';
import { probablyMeant } from '../../values/options/index.ts';

/** Keywords whose value is data and not a schema. */
const data: ReadonlySet<string> = new Set(['const', 'default', 'enum', 'example', 'examples']);

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
  const seen = new Set<JsonValue>();
  const pending: JsonValue[] = [schema];
  for (let part = pending.pop(); part !== undefined; part = pending.pop()) {
    if (typeof part !== 'object' || part === null || seen.has(part)) continue;
    seen.add(part);
    if (isJsonObject(part) && checkPart(part, keyword, known, where)) isFound = true;
    for (const [key, value] of Object.entries(part))
      if (!data.has(key) && value !== undefined) pending.push(value);
  }
  return isFound;
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
