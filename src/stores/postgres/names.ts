/**
 * Texts as PostgreSQL can keep them: it has no NUL, and no index entry beyond some 2 700 bytes. All
 * texts of an operation go through here, and come back through here.
 */
import { createHash } from 'node:crypto';
import { headChars } from './tables-sql.ts';

/** Longest name that is kept as it is, in bytes. Three of them fit into an entry of an index. */
const maxNameBytes = 800;

/**
 * Writes NUL and U+0001 as U+0001 and another character, so that the order of bytes stays. Nearly
 * all texts have neither, and stay the same.
 */
export function encodeText(text: string): string {
  return text.includes('\0') || text.includes('\x01')
    ? replaced(replaced(text, '\x01', '\x01\x02'), '\0', '\x01\x01')
    : text;
}

export function decodeText(text: string): string {
  return text.includes('\x01')
    ? replaced(replaced(text, '\x01\x01', '\0'), '\x01\x02', '\x01')
    : text;
}

/** Takes a tenth of the time of `replaceAll` if there are millions. */
function replaced(text: string, part: string, by: string): string {
  return text.split(part).join(by);
}

/** A name as a column holds it: of a long one the beginning, and a digest. */
export function encodeName(name: string): string {
  const text = encodeText(name);
  if (text.length * 3 <= maxNameBytes || Buffer.byteLength(text) <= maxNameBytes) return text;
  const head = [...text.slice(0, 2 * headChars)].slice(0, headChars).join('');
  // No text that is kept as it is has these two characters.
  return `${head}\x01\x03${createHash('sha256').update(text).digest('hex')}`;
}
