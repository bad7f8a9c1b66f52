/**
 * Makes text from outside safe to show: characters that a terminal would obey, hide or reorder
 * become escapes. Paths are shown as a user would type them.
 */

import { relative } from 'node:path';
import { type JsonValue, wireText } from '../values/json/index.ts';
import { escapeUnseen } from '../values/text/characters.ts';

/**
 * Control characters, line and paragraph separators, bidirectional and invisible characters, and
 * lone surrogates. The selector that colours emoji is allowed.
 */
const unsafe = /(?!\ufe0f)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\p{Default_Ignorable_Code_Point}\u2800]/gu;
const short = new Map([
  ['\n', '\\n'],
  ['\r', '\\r'],
  ['\t', '\\t'],
]);

/** Makes one line that is safe on a terminal. Joiners in composed emoji become escapes too. */
export function printable(text: string): string {
  return text.replace(
    unsafe,
    (char) => short.get(char) ?? `\\u{${(char.codePointAt(0) as number).toString(16)}}`,
  );
}

/**
 * The first line of a text that is not blank, as a {@link printable} line of at most `most`
 * characters.
 */
export function headline(text: string, most = 100): string {
  const line =
    text
      .split(/\r\n|[\n\r\u2028\u2029]/)
      .map((one) => one.trim())
      .find((one) => one !== '') ?? '';
  const chars = [...line];
  return printable(chars.length > most ? `${chars.slice(0, most - 1).join('')}…` : line);
}

/**
 * JSON that is safe on a terminal. A parser reads the same value from it, with U+FFFD instead of
 * each lone surrogate, which strict parsers refuse.
 */
export function jsonText(value: unknown, indent = 0): string {
  return escapeUnseen(wireText((value ?? null) as JsonValue, indent));
}

/**
 * Aligns rows in columns, which are padded to their widest cell. The last column is not padded.
 * Cells must be printable.
 */
export function columns(rows: readonly (readonly string[])[], indent = ''): string[] {
  const widths: number[] = [];
  for (const row of rows)
    for (const [at, cell] of row.entries())
      widths[at] = Math.max(widths[at] ?? 0, [...cell].length);
  return rows.map((row) => {
    const cells = row.map((cell, at) =>
      at === row.length - 1 ? cell : cell + ' '.repeat((widths[at] as number) - [...cell].length),
    );
    return `${indent}${cells.join('  ')}`.trimEnd();
  });
}

/** Relative to `cwd` if it is inside, otherwise unchanged. */
export function shownPath(path: string, cwd: string): string {
  const near = relative(cwd, path);
  return near === '' || near.startsWith('..') ? path : near;
}
