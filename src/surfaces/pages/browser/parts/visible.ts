/**
 * Makes characters visible that would otherwise hide or reorder text, such as the one that reverses
 * the direction of text. They are shown as the escapes that JSON writes for them.
 */

// As `text/unseen.ts`, but for the selector that colours emoji. JSON escapes other controls itself.
const unseen = new RegExp(
  '(?!\\ufe0f)(?:[\\u007f-\\u009f\\p{Cf}\\p{Zl}\\p{Zp}\\p{Default_Ignorable_Code_Point}\\u2800]' +
    '|(?<=\\p{M}{10})\\p{M})',
  'gu',
);
/** The same, and control characters other than tabs and line feeds. */
const inText = new RegExp(`(?![\\t\\n])\\p{Cc}|${unseen.source}`, 'gu');

function escapes(found: string, before: string): string {
  return Array.from({ length: found.length }, (_, at) => {
    const code = found.charCodeAt(at).toString(16).padStart(4, '0');
    return `${before}u${code}`;
  }).join('');
}

/** Reads JSON from the server. Invisible characters in its texts become visible escapes. */
export function parseVisible(json: string): unknown {
  return JSON.parse(json.replace(unseen, (found) => escapes(found, '\\\\')));
}

/** JSON for people, with invisible characters as escapes. */
export function visibleJson(value: unknown): string {
  return (JSON.stringify(value, null, 2) ?? '').replace(unseen, (found) => escapes(found, '\\'));
}

/** A text with its line breaks. What is at odd places is an escape, and the rest is as it was. */
export function visibleParts(text: string): string[] {
  const parts: string[] = [];
  let at = 0;
  for (const { 0: found, index } of text.matchAll(inText)) {
    parts.push(text.slice(at, index), escapes(found, '\\'));
    at = index + found.length;
  }
  parts.push(text.slice(at));
  return parts;
}

/** The same as one text. */
export function visibleText(text: string): string {
  return visibleParts(text).join('');
}

/** The name of a member. White space in it that one could miss puts it in quotes. */
export function visibleName(name: string): string {
  return /^$|^\s|\s$|^"|\s{2}|(?! )\s/.test(name) ? visibleJson(name) : visibleText(name);
}
