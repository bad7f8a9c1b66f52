/** Globs for rules: anchored, case-sensitive, two signs and nothing else. */

const star = -1;
const anyOne = -2;
const surrogate = /[\ud800-\udfff]/;
const loneSurrogate = /\p{Cs}/u;

/**
 * Compiles a glob to a test of whole texts. `*` stands for any run of any characters, also none, line breaks and `/` included;
 * `?` for exactly one character (a code point). Every other character stands for itself: there is no escape, no class, no brace.
 * Case-sensitive, compared code point by code point without normalisation. Cost grows at worst with the product of both lengths, never exponentially.
 */
export function compileGlob(glob: string): (text: string) => boolean {
  if (!glob.includes('?') && !loneSurrogate.test(glob)) return compileLiteralParts(glob.split('*'));
  const pattern: number[] = [];
  for (const char of glob) {
    if (char === '*') {
      if (pattern.at(-1) !== star) pattern.push(star);
    } else pattern.push(char === '?' ? anyOne : (char.codePointAt(0) as number));
  }
  return (text) => matchPoints(pattern, points(text));
}

/** Only `*`: a start, an end, and parts in between that are found one after the other. Well-formed parts can only match at character boundaries. */
function compileLiteralParts(parts: readonly string[]): (text: string) => boolean {
  const head = parts[0] ?? '';
  if (parts.length === 1) return (text) => text === head;
  const tail = parts.at(-1) as string;
  const between = parts.slice(1, -1).filter((part) => part !== '');
  const shortest = head.length + tail.length;
  return (text) => {
    if (text.length < shortest || !text.startsWith(head) || !text.endsWith(tail)) return false;
    let from = head.length;
    const end = text.length - tail.length;
    for (const part of between) {
      const found = text.indexOf(part, from);
      if (found === -1 || found + part.length > end) return false;
      from = found + part.length;
    }
    return true;
  };
}

function points(text: string): readonly number[] {
  const list: number[] = [];
  if (surrogate.test(text)) for (const char of text) list.push(char.codePointAt(0) as number);
  else for (let index = 0; index < text.length; index++) list.push(text.charCodeAt(index));
  return list;
}

/** The earliest place for each part is always right, so only the latest star is ever returned to. */
function matchPoints(pattern: readonly number[], text: readonly number[]): boolean {
  let at = 0;
  let sign = 0;
  let afterStar = -1;
  let retryAt = 0;
  while (at < text.length) {
    const expected = pattern[sign];
    if (expected === star) {
      afterStar = ++sign;
      retryAt = at;
      if (afterStar === pattern.length) return true;
    } else if (expected === anyOne || expected === text[at]) {
      sign++;
      at++;
    } else if (afterStar !== -1) {
      sign = afterStar;
      at = ++retryAt;
    } else return false;
  }
  if (pattern[sign] === star) sign++;
  return sign === pattern.length;
}
