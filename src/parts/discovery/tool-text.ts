/** The texts of a tool that a search reads. */
import { isJsonObject, type JsonObject, type JsonValue } from '../../values/json/index.ts';

/** The texts of a tool, by kind. A word counts more in a name than in a parameter. */
export interface ToolText {
  readonly name: string;
  readonly description: string;
  /** The names of the parameters. */
  readonly parameters: string;
  /** Their descriptions. */
  readonly details: string;
  /** Their examples and the values that they may have, and the tool's tags. */
  readonly values: string;
}

/** The part of a definition that a search reads. */
export interface Searchable {
  readonly name: string;
  readonly title?: string | undefined;
  readonly description: string;
  readonly tags: readonly string[];
  readonly parameters: JsonObject;
}

/** Most characters of a description that count, and of all parameters together. */
const longestDescription = 4_000;
const longestDetails = 8_000;
const maxParameters = 500;
const deepest = 6;

/** The texts of a tool, cut to the limits of one tool. */
export function toolText(tool: Searchable): ToolText {
  const found: Found = { names: [], details: [], values: [], characters: 0 };
  readParameters(tool.parameters, found, 0);
  return {
    name: tool.title === undefined ? tool.name : `${tool.name} ${tool.title}`,
    description: tool.description.slice(0, longestDescription),
    parameters: found.names.join(' '),
    details: found.details.join(' '),
    values: [...tool.tags.slice(0, 100), ...found.values].join(' '),
  };
}

interface Found {
  readonly names: string[];
  readonly details: string[];
  readonly values: string[];
  characters: number;
}

function readParameters(schema: JsonValue | undefined, found: Found, depth: number): void {
  if (!isJsonObject(schema) || depth > deepest) return;
  const { properties, items } = schema;
  if (isJsonObject(properties)) {
    for (const [name, property] of Object.entries(properties)) {
      if (found.names.length >= maxParameters || found.characters >= longestDetails) return;
      take(name, found, found.names);
      if (!isJsonObject(property)) continue;
      take(property.description, found, found.details);
      for (const list of [property.enum, property.examples])
        if (Array.isArray(list)) for (const value of list) take(value, found, found.values);
      readParameters(property, found, depth + 1);
    }
  }
  readParameters(items, found, depth + 1);
}

function take(text: JsonValue | undefined, found: Found, list: string[]): void {
  const room = longestDetails - found.characters;
  if (typeof text !== 'string' || room <= 0) return;
  const part = text.slice(0, room);
  found.characters += part.length;
  list.push(part);
}
