/** The length of JSON with a line for each value, without writing it. */

/** Characters that end a value or a level, outside of strings. */
const quote = 0x22;
const backslash = 0x5c;
const comma = 0x2c;
const colon = 0x3a;
const openBrace = 0x7b;
const closeBrace = 0x7d;
const openBracket = 0x5b;
const closeBracket = 0x5d;

/**
 * The length of `JSON.stringify(value, undefined, 1)`, from the text that `JSON.stringify(value)`
 * gives. Each line begins with a space for each level, so the result may be hundreds of times as
 * long.
 * @param most The count at which it stops. The result is then some number above it.
 */
export function indentedLength(compact: string, most: number): number {
  let length = compact.length;
  let depth = 0;
  for (let at = 0; at < compact.length && length <= most; at++) {
    const code = compact.charCodeAt(at);
    if (code === quote) at = endOfString(compact, at);
    else if (code === comma) length += 1 + depth;
    else if (code === colon) length++;
    else if (code === openBrace || code === openBracket) {
      const next = compact.charCodeAt(at + 1);
      // Nothing is written between the two.
      if (next === closeBrace || next === closeBracket) at++;
      else length += 1 + ++depth;
    } else if (code === closeBrace || code === closeBracket) length += 1 + --depth;
  }
  return length;
}

/** The end of the string that begins here. */
function endOfString(text: string, from: number): number {
  let at = from + 1;
  while (at < text.length && text.charCodeAt(at) !== quote)
    at += text.charCodeAt(at) === backslash ? 2 : 1;
  return at;
}
