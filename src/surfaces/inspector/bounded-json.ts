/** JSON texts of bounded length, whatever the value is. */
import { isJsonObject, type JsonValue, wireText } from '../../values/json/index.ts';
import { detached, escapeUnseen } from '../../values/text/characters.ts';

/** The deepest nesting that is followed. */
const maxDepth = 24;

/**
 * Writes a value as JSON of about `maxChars` characters at most. At a cut, a text says how much is
 * left out. Half of a character, which a cut may leave too, becomes U+FFFD. The cost depends only
 * on `maxChars`, not on the size of the value.
 */
export function boundedJson(value: JsonValue, maxChars: number): string {
  return boundedCopy(value, maxChars).json;
}

/** The same text, and whether it is the whole value: nothing was left out or replaced. */
export function boundedCopy(
  value: JsonValue,
  maxChars: number,
): { readonly json: string; readonly whole: boolean } {
  const budget = { left: maxChars, whole: true };
  const json = write(value, budget, 0);
  if (!json.includes('\\ud')) return { json, whole: budget.whole };
  const wire = wireText(JSON.parse(json) as JsonValue);
  return { json: wire, whole: budget.whole && wire === json };
}

interface Budget {
  left: number;
  whole: boolean;
}

function write(value: JsonValue, budget: Budget, depth: number): string {
  if (typeof value === 'string') return text(value, budget);
  if (typeof value !== 'object' || value === null) {
    const plain = JSON.stringify(value) ?? 'null';
    budget.left -= plain.length;
    return plain;
  }
  budget.left -= 2;
  if (depth === maxDepth) return left(budget, '… (deeper values are left out)');
  return Array.isArray(value) ? list(value, budget, depth) : members(value, budget, depth);
}

function text(value: string, budget: Budget): string {
  const room = Math.max(0, budget.left);
  budget.left -= Math.min(value.length, room) + 2;
  if (value.length <= room) return quoted(value);
  return left(budget, `${value.slice(0, room)}… (${value.length - room} more characters)`);
}

/** The text at a cut. */
function left(budget: Budget, text: string): string {
  budget.whole = false;
  return quoted(text);
}

function quoted(value: string): string {
  return JSON.stringify(value);
}

function list(values: readonly JsonValue[], budget: Budget, depth: number): string {
  const parts: string[] = [];
  for (const value of values) {
    if (budget.left <= 0) {
      parts.push(left(budget, `… (${values.length - parts.length} more)`));
      break;
    }
    parts.push(write(value, budget, depth + 1));
    budget.left--;
  }
  return `[${parts.join(',')}]`;
}

function members(value: object, budget: Budget, depth: number): string {
  const parts: string[] = [];
  for (const key in value) {
    if (!Object.hasOwn(value, key)) continue;
    if (budget.left <= 0) {
      parts.push(`"…":${left(budget, '(more members)')}`);
      break;
    }
    const name = text(key, budget);
    parts.push(
      `${name}:${write((value as Record<string, JsonValue>)[key] ?? null, budget, depth + 1)}`,
    );
    budget.left--;
  }
  return `{${parts.join(',')}}`;
}

// The arguments of a call on one line, so that people can tell two calls apart in a list.

/** Most characters of a preview. All lines of calls are sent to each page. */
const most = 120;
/** Most members that are looked at. */
const maxMembers = 20;

/**
 * Writes arguments such as `path: /etc/passwd, lines: 20`. Line breaks and other white space become
 * spaces. The cost depends only on the length of the preview.
 * @param input As events have it, without secrets.
 */
export function previewOf(input: JsonValue): string {
  if (!isJsonObject(input)) return input === null ? '' : cut(valueText(input));
  const parts: string[] = [];
  let length = 0;
  for (const name in input) {
    if (!Object.hasOwn(input, name)) continue;
    if (length > most || parts.length === maxMembers) {
      parts.push('…');
      break;
    }
    const part = `${oneLine(name)}: ${valueText(input[name] as JsonValue)}`;
    parts.push(part);
    length += part.length + 2;
  }
  return cut(parts.join(', '));
}

function valueText(value: JsonValue): string {
  if (typeof value === 'string') return value === '' ? '""' : oneLine(value);
  return typeof value === 'object' ? oneLine(boundedJson(value, most)) : String(value);
}

function oneLine(text: string): string {
  return escapeUnseen(
    text
      .slice(0, most + 1)
      .replaceAll(/\s+/g, ' ')
      .trim(),
  );
}

/** No half of a character is left, and the long text of the input is not kept. */
function cut(text: string): string {
  const shown = text.length <= most ? text : `${text.slice(0, most - 1)}…`;
  return detached(shown.toWellFormed());
}
