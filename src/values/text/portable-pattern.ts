/** Which regular expressions all common engines can run: those of Python, RE2 and Rust. */

/** Letters and digits that mean the same after a backslash in every engine. */
const escapes = new Set('dDwWsSbBnrtfvx0');
/** A class as one end of a range, as in `[\w-.]`. Only ECMAScript reads it as a hyphen. */
const classInRange = /\\[dDwWsS]-[^\]]|[^[^]-\\[dDwWsS]/;

/**
 * Whether the pattern has no lookaround, no backreference, no named group, no Unicode property and
 * no other syntax that only some engines know.
 */
export function isPortablePattern(source: string): boolean {
  let classStart = -1;
  for (let at = 0; at < source.length; at++) {
    const char = source[at] as string;
    const next = source[at + 1] ?? '';
    if (char === '\\') {
      if (/[A-Za-z0-9]/.test(next) && !escapes.has(next)) return false;
      // A backspace.
      if (classStart >= 0 && /[bB]/.test(next)) return false;
      at++;
    } else if (classStart >= 0) {
      if (char !== ']') continue;
      if (classInRange.test(source.slice(classStart, at + 1))) return false;
      classStart = -1;
    } else if (char === '[') {
      // An empty class, and its complement.
      if (/^\^?\]/.test(source.slice(at + 1, at + 3))) return false;
      classStart = at;
    } else if (char === '(' && next === '?' && source[at + 2] !== ':') return false;
  }
  return true;
}
