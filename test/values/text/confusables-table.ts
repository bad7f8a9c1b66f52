/**
 * `npx tsx test/values/text/confusables-table.ts FILE` writes `src/values/text/confusables.ts`. FILE is the
 * `confusables.txt` of a version of Unicode, or the `data.json` of the npm package `unhomoglyph`,
 * which has the same mappings as JSON.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

type Mappings = ReadonlyMap<string, string>;

/** Reads either format. */
export function readMappings(text: string): Mappings {
  if (text.startsWith('{')) return new Map(Object.entries(JSON.parse(text)));
  const found = new Map<string, string>();
  for (const line of text.split('\n')) {
    const [, from, to] = /^([0-9A-F]+)\s*;\s*([0-9A-F ]+?)\s*;/.exec(line) ?? [];
    if (from !== undefined && to !== undefined) found.set(charsOf(from), charsOf(to));
  }
  return found;
}

function charsOf(codes: string): string {
  return String.fromCodePoint(...codes.split(' ').map((code) => Number.parseInt(code, 16)));
}

/**
 * The mappings as two texts. Each entry of `explicit` is the distance from the character before it,
 * and what it looks like; `derived` lists ranges in which a character looks like what its
 * compatibility decomposition looks like. All numbers have the base 36.
 */
export function tableOf(mappings: Mappings): { explicit: string; derived: string } {
  const explicit: string[] = [];
  const ranges: [first: number, last: number][] = [];
  let isOpen = false;
  let previous = 0;
  for (let code = 0; code <= 0x10ffff; code++) {
    if (code >= 0xd800 && code <= 0xdfff) continue;
    const char = String.fromCodePoint(code);
    // Texts are decomposed before characters are looked up.
    if (char.normalize('NFD') !== char) continue;
    const wanted = (mappings.get(char) ?? char).normalize('NFD');
    const parts = char.normalize('NFKD');
    const looks = Array.from(parts, (part) => mappings.get(part) ?? part).join('');
    if (code > 127 && parts !== char && mappings.has(char) && looks.normalize('NFD') === wanted) {
      if (isOpen) (ranges.at(-1) as [number, number])[1] = code;
      else ranges.push([code, code]);
      isOpen = true;
    } else if (mappings.has(char)) {
      const target = Array.from(mappings.get(char) as string, (one) => inBase36(codeOf(one)));
      explicit.push(`${inBase36(code - previous)}:${target.join('.')}`);
      previous = code;
    } else if (parts !== char) isOpen = false;
  }
  return {
    explicit: explicit.join(' '),
    derived: ranges.map(([first, last]) => `${inBase36(first)}-${inBase36(last)}`).join(' '),
  };
}

function inBase36(number: number): string {
  return number.toString(36);
}

function codeOf(char: string): number {
  return char.codePointAt(0) as number;
}

/** The source of `src/values/text/confusables.ts`. */
function sourceOf({ explicit, derived }: ReturnType<typeof tableOf>): string {
  return `/**
 * The characters that look like others: confusables.txt of Unicode Technical Standard #39, whose
 * mappings are the same in Unicode 13.0 to 15.0. © 2020 Unicode, Inc. Used under the Unicode
 * license, which docs/decisions/0131-look-alike-texts.md quotes. Written by
 * test/values/text/confusables-table.ts.
 */

/** Each character by its distance from the one before, with what it looks like, in base 36. */
export const explicit =
${linesOf(explicit)};

/** Ranges in which a character looks like its compatibility decomposition. */
export const derived =
${linesOf(derived)};
`;
}

function linesOf(text: string): string {
  const lines: string[] = [];
  for (let rest = text; rest !== ''; ) {
    const end = rest.length <= 92 ? rest.length : rest.lastIndexOf(' ', 91) + 1;
    lines.push(`  '${rest.slice(0, end)}'`);
    rest = rest.slice(end);
  }
  return lines.join(' +\n');
}

const [, script, file] = process.argv;
if (script === fileURLToPath(import.meta.url) && file !== undefined)
  writeFileSync(
    new URL('../../../src/values/text/confusables.ts', import.meta.url),
    sourceOf(tableOf(readMappings(readFileSync(file, 'utf8')))),
  );
