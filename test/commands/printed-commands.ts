/** The command lines that README.md and the pages of docs print. */
import { fencesOf, guidePages } from '../docs/pages.ts';

/** One command line. */
export interface Printed {
  readonly text: string;
  readonly line: number;
  /** What a transcript shows below it, if it is in one. */
  readonly output?: string;
}

/** Commands that are printed together: those of one fence, or one in a sentence. */
export type Group = readonly Printed[];

/** A program with a word after it, in a sentence. The name of a command alone is not run there. */
const inline = /^(?:npx |npm install |node [\w-]+\.\w+$)/;

/** The groups of each page, in their order. Decisions are about what was printed once. */
export function printedCommands(): ReadonlyMap<string, readonly Group[]> {
  return new Map(
    guidePages()
      .filter(({ path }) => !path.startsWith('docs/decisions/'))
      .map(({ path, text }) => [path, groupsIn(text)] as const)
      .filter(([, groups]) => groups.length > 0),
  );
}

function groupsIn(text: string): readonly Group[] {
  const fences = fencesOf(text);
  const groups = fences
    .filter(({ info }) => info === 'sh')
    .map(({ line, code }) => (/^\$ /m.test(code) ? transcript(code, line) : lines(code, line)));
  const prose = text.replaceAll(/^```[\s\S]*?^```$/gm, (fence) => fence.replaceAll(/[^\n]/g, ''));
  for (const match of prose.matchAll(/(?<!`)`([^`]+)`(?!`)/g)) {
    const command = (match[1] as string).replaceAll(/\s+/g, ' ');
    const line = prose.slice(0, match.index).split('\n').length;
    if (inline.test(command) && command !== 'npx host-tools')
      groups.push([{ text: command, line }]);
  }
  return groups.sort(([first], [second]) => (first?.line ?? 0) - (second?.line ?? 0));
}

/** A command may go on in the next line. */
function lines(code: string, start: number): Group {
  const found: { text: string; line: number }[] = [];
  let open = false;
  for (const [at, line] of code.split('\n').entries()) {
    const last = found.at(-1);
    if (open && last !== undefined) last.text += `\n${line}`;
    else if (line.trim() !== '' && !line.startsWith('#'))
      found.push({ text: line, line: start + 1 + at });
    open = /(?:\\|\|)$/.test(line);
  }
  return found;
}

function transcript(code: string, start: number): Group {
  const found: { text: string; line: number; output: string }[] = [];
  for (const [at, line] of code.split('\n').entries()) {
    const last = found.at(-1);
    if (line.startsWith('$ '))
      found.push({ text: line.slice(2), line: start + 1 + at, output: '' });
    else if (last !== undefined) last.output += `${line}\n`;
  }
  return found;
}
