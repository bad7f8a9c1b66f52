/**
 * Writes the input of a call as text that a person can read before approving the call. Whatever is
 * left out is marked.
 */
import type { JsonObject, JsonValue } from '../../core.ts';
import { escapeUnseen, head, tail } from '../../values/text/characters.ts';

/** The most characters of the text. People do not read more than that in a form or a terminal. */
const longestApprovalInput = 8_000;

/** The message with which a surface rejects a call if {@link approvalInput} returns no text. */
export const unshowableInput =
  'The input is too large to be shown to a person: its keys and short values alone have more ' +
  `than ${longestApprovalInput} characters. Ask for less at once.`;

/**
 * How many characters of a long text are kept. The values are tried in turn; undefined keeps all of
 * them.
 */
const keptChars: readonly (number | undefined)[] = [undefined, 2_048, 1_024, 512, 256, 128, 64, 32];
/**
 * A text is shortened only if that saves at least this many characters, since the note about it
 * takes about as many.
 */
const worthIt = 48;

/**
 * The input as indented JSON of at most 8,000 characters. If it has more, long texts are shortened
 * to their beginning and their end. The note between the two is outside the quotes, so that no text
 * can imitate it: `"Thanks for"… 5,572 characters left out …"dinner!"`. Every key, every number and
 * every short text is shown, in the order of the call's input. A text with line breaks has each of
 * its lines in quotes, on a line of its own, if there is room. Characters that are invisible or
 * change the direction of text are written as escapes.
 * @returns undefined if even the shortened text has too many characters. Then no person can judge
 * the input, and the call must be refused.
 */
export function approvalInput(input: JsonObject): string | undefined {
  const hasLines = { found: false };
  for (const kept of keptChars) {
    const text =
      written(input, kept, '  ', hasLines) ??
      (hasLines.found ? written(input, kept, '  ') : undefined);
    if (text !== undefined) return text;
  }
  return written(input, keptChars.at(-1), '');
}

/**
 * Returns the text, or undefined as soon as it has too many characters.
 * @param byLine Writes each line of a text on a line of its own, and notes whether there was one.
 */
function written(
  input: JsonObject,
  kept: number | undefined,
  indent: string,
  byLine?: { found: boolean },
): string | undefined {
  let text = '';
  const put = (piece: string): boolean => {
    text += piece;
    return text.length <= longestApprovalInput;
  };
  /** @param gap What is between the name of the value and the value. */
  const write = (value: JsonValue, margin: string, gap: string): boolean => {
    if (typeof value === 'string') {
      if (byLine === undefined || !value.includes('\n')) return put(gap + quoted(value, kept));
      byLine.found = true;
      const below = `\n${margin}${indent}`;
      return put(`${gap === '' ? '' : below}${quotedLines(value, kept, below)}`);
    }
    if (typeof value !== 'object' || value === null) return put(gap + String(value));
    const [open, close] = Array.isArray(value) ? '[]' : '{}';
    const inner = margin + indent;
    const keys = Object.keys(value);
    put(gap + open);
    for (const [index, key] of keys.entries()) {
      // A key is never shortened. If it does not fit, there is no text at all.
      const isEntry = Array.isArray(value);
      const named = isEntry ? '' : `${quoted(key, undefined)}:`;
      if (
        !put(`${index === 0 ? '' : ','}\n${inner}${named}`) ||
        !write((value as JsonObject)[key] as JsonValue, inner, isEntry ? '' : ' ')
      )
        return false;
    }
    return put(keys.length === 0 ? (close as string) : `\n${margin}${close}`);
  };
  return write(input, '', '') ? text : undefined;
}

function quoted(value: string, kept: number | undefined): string {
  const cut = kept === undefined ? undefined : cutOut(value, kept);
  // A text that is too long is cut before it is quoted, to save work.
  if (cut === undefined) return escapeUnseen(JSON.stringify(value.slice(0, longestApprovalInput)));
  return `${quoted(cut.start, undefined)}${cut.note}${quoted(cut.end, undefined)}`;
}

/** The two ends of a long text, and the note between them; undefined if that saves too little. */
function cutOut(
  value: string,
  kept: number,
): { readonly start: string; readonly note: string; readonly end: string } | undefined {
  if (value.length <= kept + worthIt) return undefined;
  const start = head(value, Math.ceil(kept / 2));
  const end = tail(value, Math.floor(kept / 2));
  const leftOut = value.length - start.length - end.length;
  return { start, note: `… ${leftOut.toLocaleString('en')} characters left out …`, end };
}

/**
 * Each line in quotes of its own, one below the other. So a text with line breaks can be read, and
 * none of its lines can imitate a line that is not part of it.
 */
function quotedLines(value: string, kept: number | undefined, margin: string): string {
  const lines = (text: string): string =>
    text
      .slice(0, longestApprovalInput)
      .split(/(?<=\n)/)
      .map((line) => quoted(line, undefined))
      .join(margin);
  const cut = kept === undefined ? undefined : cutOut(value, kept);
  return cut === undefined ? lines(value) : `${lines(cut.start)}${cut.note}${lines(cut.end)}`;
}

/** The most characters of a text that is shown with the input, such as the title. */
const longestLine = 2_000;

/** A text that is shown with the input. It is shortened if it would push the input out of sight. */
export function shortLine(text: string): string {
  if (text.length <= longestLine) return text;
  const kept = head(text, longestLine);
  return `${kept}… (${(text.length - kept.length).toLocaleString('en')} more characters)`;
}
