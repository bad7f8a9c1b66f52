/**
 * The input of a call as text that a person can read before they approve it. Nothing of it is
 * hidden without a word.
 */
import type { JsonObject, JsonValue } from '../../index.ts';

/** Most characters of the text. A form or a terminal that shows more of it is not read. */
export const longestApprovalInput = 8_000;

/** What a surface answers for its person where {@link approvalInput} gives no text. */
export const unshowableInput =
  'The input is too large to be shown to a person: its keys and short values alone have more ' +
  `than ${longestApprovalInput} characters. Ask for less at once.`;

/** How much of a long text is kept, tried in turn. Undefined keeps all of it. */
const keptChars: readonly (number | undefined)[] = [undefined, 2_048, 1_024, 512, 256, 128, 64, 32];
/**
 * A text is shortened only where that saves at least this much: the note about it takes about as
 * many characters.
 */
const worthIt = 48;

/**
 * The input as indented JSON, of at most 8,000 characters. Where it has more, long texts are
 * shortened in their places to their beginning and their end, with a note between them that stands
 * outside of the quotes, so that no text can pass for one:
 * `"Thanks for"… 5,572 characters left out …"dinner!"`. Every key, every number and every short
 * text is there, in the order that the call has them. Characters that draw nothing or turn text
 * around are written as escapes.
 * @returns undefined where even that has too many characters: then nobody can judge the input, and
 * the call must be refused.
 */
export function approvalInput(input: JsonObject): string | undefined {
  for (const kept of keptChars) {
    const text = written(input, kept, '  ');
    if (text !== undefined) return text;
  }
  return written(input, keptChars.at(-1), '');
}

/** The text, or undefined as soon as it has too many characters. */
function written(input: JsonObject, kept: number | undefined, indent: string): string | undefined {
  let text = '';
  const put = (piece: string): boolean => {
    text += piece;
    return text.length <= longestApprovalInput;
  };
  const write = (value: JsonValue, margin: string): boolean => {
    if (typeof value === 'string') return put(quoted(value, kept));
    if (typeof value !== 'object' || value === null) return put(String(value));
    const [open, close] = Array.isArray(value) ? '[]' : '{}';
    const inner = margin + indent;
    const keys = Object.keys(value);
    put(open as string);
    for (const [index, key] of keys.entries()) {
      // A key is never shortened. One that cannot be shown costs the whole text.
      const named = Array.isArray(value) ? '' : `${quoted(key, undefined)}: `;
      if (
        !put(`${index === 0 ? '' : ','}\n${inner}${named}`) ||
        !write((value as JsonObject)[key] as JsonValue, inner)
      )
        return false;
    }
    return put(keys.length === 0 ? (close as string) : `\n${margin}${close}`);
  };
  return write(input, '') ? text : undefined;
}

function quoted(value: string, kept: number | undefined): string {
  // More than fits is not worth being quoted first.
  if (kept === undefined || value.length <= kept + worthIt)
    return escapeUnseen(JSON.stringify(value.slice(0, longestApprovalInput)));
  const [head, tail] = [
    beginningOf(value, Math.ceil(kept / 2)),
    endOf(value, Math.floor(kept / 2)),
  ];
  const leftOut = value.length - head.length - tail.length;
  return (
    `${quoted(head, undefined)}… ${leftOut.toLocaleString('en')} characters left out ` +
    `…${quoted(tail, undefined)}`
  );
}

/** Most characters of a text that goes with the input, such as its title. */
const longestLine = 2_000;

/** A text that goes with the input, shortened where it would push the input out of sight. */
export function shortLine(text: string): string {
  if (text.length <= longestLine) return text;
  const kept = beginningOf(text, longestLine);
  return `${kept}… (${(text.length - kept.length).toLocaleString('en')} more characters)`;
}

/** The first `chars` of a text, or one fewer where that would halve a character. */
function beginningOf(text: string, chars: number): string {
  return text.slice(0, isHalf(text, chars) ? chars - 1 : chars);
}

function endOf(text: string, chars: number): string {
  const start = text.length - chars;
  return text.slice(isHalf(text, start) ? start + 1 : start);
}

/** Whether a cut at this place would halve a surrogate pair. */
function isHalf(text: string, at: number): boolean {
  return (text.codePointAt(at - 1) ?? 0) > 0xffff;
}

/**
 * JSON text in which each character that draws nothing, or turns the direction of text, is an
 * escape: the same value to a parser.
 */
export function escapeUnseen(json: string): string {
  // Outside of strings JSON has no such character but the line breaks of its indentation.
  return json.replace(
    /(?!\n)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]/gu,
    (char) =>
      Array.from(
        { length: char.length },
        (_, index) => `\\u${char.charCodeAt(index).toString(16).padStart(4, '0')}`,
      ).join(''),
  );
}
