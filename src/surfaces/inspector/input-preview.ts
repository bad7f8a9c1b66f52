/** The arguments of a call on one line, so that people can tell two calls apart in a list. */
import { isJsonObject, type JsonValue } from '../../values/json/index.ts';
import { detached } from '../../values/text/shortened.ts';
import { escapeUnseen } from '../../values/text/unseen.ts';
import { boundedJson } from './bounded-json.ts';

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
