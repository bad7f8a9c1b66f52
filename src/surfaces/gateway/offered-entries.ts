/** What clients see of a server's prompts and resources: known members, in cleaned texts. */
import { isJsonObject, type JsonObject } from '../../values/json/index.ts';
import type { PassedList } from '../mcp/passed-on.ts';
import { cleanLine, cleanText } from '../shared/outside-text.ts';

/** One entry of a list. */
export interface OfferedEntry {
  /** The server's own key for it: the name of a prompt, or else an address or address template. */
  readonly key: string;
  /** What clients see. */
  readonly shown: JsonObject;
}

const maxOfKey = 2_048;
const maxOfText = 4_096;
const maxArguments = 64;
const keys = { prompts: 'name', resources: 'uri', resourceTemplates: 'uriTemplate' } as const;

/**
 * Reads one entry; undefined if people could not distinguish it from others.
 * @param prefix is put before the name of a prompt
 */
export function offeredEntry(
  which: PassedList,
  raw: unknown,
  prefix: string,
): OfferedEntry | undefined {
  if (!isJsonObject(raw)) return undefined;
  const given = raw as JsonObject;
  const key = own(given, keys[which]);
  const name = own(given, 'name');
  if (typeof key !== 'string' || key === '' || cleanLine(key, maxOfKey) !== key) return undefined;
  if (typeof name !== 'string') return undefined;
  const shown: Record<string, unknown> = { ...described(given) };
  if (which === 'prompts') {
    shown.name = prefix + key;
    const args = own(given, 'arguments');
    if (Array.isArray(args)) shown.arguments = args.slice(0, maxArguments).flatMap(argument);
  } else {
    shown[keys[which]] = key;
    shown.name = cleanLine(name, 256);
    const type = own(given, 'mimeType');
    if (typeof type === 'string') shown.mimeType = cleanLine(type, 256);
    const size = own(given, 'size');
    if (typeof size === 'number') shown.size = size;
  }
  return { key, shown: shown as JsonObject };
}

function argument(raw: unknown): JsonObject[] {
  if (!isJsonObject(raw)) return [];
  const given = raw as JsonObject;
  const name = own(given, 'name');
  if (typeof name !== 'string') return [];
  const required = own(given, 'required') === true;
  return [{ ...described(given), name, ...(required ? { required } : {}) }];
}

function described(given: JsonObject): JsonObject {
  const [title, description] = [own(given, 'title'), own(given, 'description')];
  return {
    ...(typeof title === 'string' ? { title: cleanLine(title, 256) } : {}),
    ...(typeof description === 'string' ? { description: cleanText(description, maxOfText) } : {}),
  };
}

function own(given: JsonObject, name: string): unknown {
  return Object.hasOwn(given, name) ? given[name] : undefined;
}
