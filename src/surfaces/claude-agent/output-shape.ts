/**
 * Text that replaces an output. Claude Code accepts another output only if it has the form of the
 * tool's own, and otherwise shows the model the original one.
 */
import { define, isJsonObject, type JsonValue } from '../../values/json/value.ts';

/** A copy in which `text` replaces the longest text, and every other text is empty. */
export function inShapeOf(output: JsonValue, text: string): JsonValue {
  const longest = longestText(output, undefined);
  let isPlaced = false;
  const copy = (value: JsonValue, key: string | undefined): JsonValue => {
    if (typeof value === 'string') {
      if (key === kind) return value;
      if (isPlaced || value !== longest) return '';
      isPlaced = true;
      return text;
    }
    if (Array.isArray(value)) return value.map((item) => copy(item, undefined));
    if (!isJsonObject(value)) return value;
    const made: Record<string, JsonValue> = {};
    for (const name of Object.keys(value)) define(made, name, copy(value[name] as JsonValue, name));
    return made;
  };
  return longest === undefined ? text : copy(output, undefined);
}

/** The member that says which form an output has, such as `text` or `image`. */
const kind = 'type';

function longestText(value: JsonValue, key: string | undefined): string | undefined {
  if (typeof value === 'string') return key === kind ? undefined : value;
  let longest: string | undefined;
  const see = (text: string | undefined): void => {
    if (text !== undefined && (longest === undefined || text.length > longest.length))
      longest = text;
  };
  if (Array.isArray(value)) for (const item of value) see(longestText(item, undefined));
  else if (isJsonObject(value))
    for (const name of Object.keys(value)) see(longestText(value[name] as JsonValue, name));
  return longest;
}
