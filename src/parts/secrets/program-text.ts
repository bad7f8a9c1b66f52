/** What the source of a program says. */

const escapes =
  /\\(?:u\{([\da-f]{1,6})\}|u([\da-f]{4})|x([\da-f]{2})|(\r?\n|[\u2028\u2029])|([\s\S]))/gi;
/** Two texts that are put together where they are written. */
const join = /(["'`])\s*\+\s*["'`]/g;
const letters: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t', 0: '\0' };

/** A source, and what its texts are once their escapes are read and their parts are joined. */
export function spelledOut(source: string): readonly string[] {
  if (!/[\\+]/.test(source)) return [source];
  const read = source.replace(escapes, (_, long, short, byte, line, other: string) => {
    if (line !== undefined) return '';
    const code = Number.parseInt(long ?? short ?? byte, 16);
    if (code <= 0x10ffff) return String.fromCodePoint(code);
    return letters[other] ?? other ?? '';
  });
  return [source, read, read.replace(join, '')];
}

/** Whether the source names one of these tools. Its time does not grow with their number. */
export function namesAny(source: string, names: readonly string[]): boolean {
  const words = new Set(source.match(/[\w$]+/g));
  return names.some((name) => (/^\w+$/.test(name) ? words.has(name) : source.includes(name)));
}
