/** JSON as editors write it: with comments and trailing commas. */

/**
 * Replaces comments and trailing commas with spaces, so that positions stay the same. Strings are
 * unchanged. The result may still not be JSON.
 */
export function withoutComments(text: string): string {
  const out: string[] = [];
  /** The index in `out` of a comma after which only blanks have come; -1 if there is none. */
  let comma = -1;
  for (let at = 0; at < text.length; ) {
    const end = pieceEnd(text, at);
    const piece = text.slice(at, end);
    at = end;
    if (/^\/[/*]/.test(piece)) {
      out.push(piece.replace(/[^\r\n]/g, ' '));
      continue;
    }
    if ((piece === '}' || piece === ']') && comma !== -1) out[comma] = ' ';
    if (piece === ',') comma = out.length;
    else if (piece.trim() !== '') comma = -1;
    out.push(piece);
  }
  return out.join('');
}

/** The end of a string, of a comment, or of one character. */
function pieceEnd(text: string, start: number): number {
  const two = text.slice(start, start + 2);
  if (two === '//') {
    const end = text.indexOf('\n', start);
    return end === -1 ? text.length : end;
  }
  if (two === '/*') {
    const end = text.indexOf('*/', start + 2);
    return end === -1 ? text.length : end + 2;
  }
  if (text[start] !== '"') return start + 1;
  for (let at = start + 1; at < text.length; at++) {
    if (text[at] === '\\') at++;
    else if (text[at] === '"') return at + 1;
  }
  return text.length;
}
