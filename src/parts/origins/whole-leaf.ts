/** Whether a value is the whole of a field, and not only a part of what someone wrote into it. */
import type { Range } from './match.ts';
import { isSpace, leafEnd } from './text.ts';

/**
 * Whether the range covers its whole leaf, apart from quotes, brackets, spaces and a full stop
 * around it. In a list of e-mail addresses, with or without names, each address counts as whole.
 */
export function isWholeLeaf(text: string, range: Range): boolean {
  return isAlone(text, range) || isListed(text, range);
}

/** Most characters around a value that do not belong to it. */
const maxOuter = 16;

function isAlone(text: string, { start, end }: Range): boolean {
  let from = start;
  // `#general` is the channel `general`.
  if (text[from - 1] === '#' || text[from - 1] === '@') from--;
  while (from > 0 && text[from - 1] !== leafEnd)
    if (!isOuter(text.charCodeAt(--from)) || start - from > maxOuter) return false;
  let to = end;
  while (to < text.length && text[to] !== leafEnd) {
    const code = text.charCodeAt(to++);
    if ((!isOuter(code) && code !== 46 && code !== 47) || to - end > maxOuter) return false;
  }
  return true;
}

const outer = new Set([...'"\'`<>()[]{}'].map((char) => char.charCodeAt(0)));

function isOuter(code: number): boolean {
  return isSpace(code) || outer.has(code);
}

/** Longer leaves do not count as lists of addresses. */
const longestList = 2_000;
/** `ann@example.com` or `Ann Lee <ann@example.com>`. A name with an `@` in it is no name. */
const entry = /^(?:[^@<>]*<([^\s@<>]+@[^\s@<>]+)>|([^\s@<>]+@[^\s@<>]+))$/;

function isListed(text: string, { start, end }: Range): boolean {
  const value = text.slice(start, end);
  if (value.length > longestList || !value.includes('@')) return false;
  const near = text.slice(Math.max(0, start - longestList), start);
  const first = near.lastIndexOf(leafEnd);
  if (first === -1 && start > longestList) return false;
  const rest = text.slice(end, end + longestList);
  const last = rest.indexOf(leafEnd);
  if (last === -1 && end + longestList < text.length) return false;
  const leaf = near.slice(first + 1) + value + (last === -1 ? rest : rest.slice(0, last));
  let isEntry = false;
  for (const part of leaf.split(/[,;]/)) {
    const found = entry.exec(part.trim());
    // A quote that is still open is a name that goes on behind the comma.
    if (found === null || part.split('"').length % 2 === 0) return false;
    isEntry ||= (found[1] ?? found[2]) === value;
  }
  return isEntry;
}
