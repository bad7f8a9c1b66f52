const CODES = { bold: 1, dim: 2, red: 31, green: 32, yellow: 33, cyan: 36 } as const;
export type Paint = (style: keyof typeof CODES, text: string) => string;

/** Colour on a terminal that wants it; plain text for files, pipes and `NO_COLOR`. */
export function createPaint(
  stream: { readonly isTTY?: boolean } = process.stdout,
  env: NodeJS.ProcessEnv = process.env,
): Paint {
  const coloured = stream.isTTY === true && !env.NO_COLOR && env.TERM !== 'dumb';
  return (style, text) => (coloured ? `\u001b[${CODES[style]}m${text}\u001b[0m` : text);
}

/**
 * One printable line of at most `width` characters. Control characters go, since what a tool read
 * may hold a terminal's commands.
 */
export function oneLine(text: string, width: number): string {
  return cut(text.replace(/\s+/g, ' ').trim(), width);
}

/** The first lines of a text, each cut to `width`; one more line tells how many follow. */
export function firstLines(text: string, count: number, width: number): string[] {
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  const rest = lines.length - count;
  return [
    ...lines.slice(0, count).map((line) => cut(line.replace(/\s/g, ' ').trimEnd(), width)),
    ...(rest > 0 ? [`… ${rest} more ${rest === 1 ? 'line' : 'lines'}`] : []),
  ];
}

/**
 * Rows as aligned columns below a heading; a column of numbers (`ends with ms` or `#`) stands to
 * the right.
 */
export function table(heading: readonly string[], rows: readonly (readonly string[])[]): string[] {
  const widths = heading.map((title, column) =>
    Math.max(title.length, ...rows.map((row) => [...(row[column] ?? '')].length)),
  );
  const toRight = heading.map((title) => title === '#' || title === 'ms');
  const line = (cells: readonly string[]) =>
    cells
      .map((cell, column) =>
        toRight[column] ? cell.padStart(widths[column] ?? 0) : cell.padEnd(widths[column] ?? 0),
      )
      .join('  ')
      .trimEnd();
  return [line(heading), widths.map((width) => '─'.repeat(width)).join('  '), ...rows.map(line)];
}

function cut(text: string, width: number): string {
  const characters = [...text.replace(/[\p{Cc}\p{Cf}]/gu, '·')];
  return characters.length <= width
    ? characters.join('')
    : `${characters.slice(0, width - 1).join('')}…`;
}
