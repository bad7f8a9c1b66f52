/**
 * Makes characters visible that would otherwise hide or reorder text, such as the one that reverses
 * the direction of text. They are shown as the escapes that JSON writes for them.
 */
import { escapes, unseen as everyUnseen } from '../../../../values/text/characters.ts';

// All but the selector that colours emoji, and the control characters that JSON escapes itself.
const unseen = new RegExp(`(?![\\0-\\x1f\\ufe0f])(?:${everyUnseen.source})`, 'gu');
/** The same, and control characters other than tabs and line feeds. */
const inText = new RegExp(`(?![\\t\\n])\\p{Cc}|${unseen.source}`, 'gu');

/** Reads JSON from the server. Invisible characters in its texts become visible escapes. */
export function parseVisible(json: string): unknown {
  return JSON.parse(json.replace(unseen, (found) => escapes(found, '\\\\u')));
}

/** JSON for people, with invisible characters as escapes. */
export function visibleJson(value: unknown): string {
  return (JSON.stringify(value, null, 2) ?? '').replace(unseen, (found) => escapes(found));
}

/** A text with its line breaks. What is at odd places is an escape, and the rest is as it was. */
export function visibleParts(text: string): string[] {
  const parts: string[] = [];
  let at = 0;
  for (const { 0: found, index } of text.matchAll(inText)) {
    parts.push(text.slice(at, index), escapes(found));
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
