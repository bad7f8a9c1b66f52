/** Names as PostgreSQL can keep them: it has no NUL, and no index entry beyond some 2 700 bytes. */
import { createHash } from 'node:crypto';
import { encodeText } from '../shared/escaped-text.ts';
import { headChars } from './tables-sql.ts';

/** Longest name that is kept as it is, in bytes. Three of them fit into an entry of an index. */
const maxNameBytes = 800;

/** A name as a column holds it: of a long one the beginning, and a digest. */
export function encodeName(name: string): string {
  const text = encodeText(name);
  if (text.length * 3 <= maxNameBytes || Buffer.byteLength(text) <= maxNameBytes) return text;
  const head = [...text.slice(0, 2 * headChars)].slice(0, headChars).join('');
  // No text that is kept as it is has these two characters.
  return `${head}\x01\x03${createHash('sha256').update(text).digest('hex')}`;
}
