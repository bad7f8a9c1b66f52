/**
 * Programs that are run for each file of a list: `find … | xargs wc -l`, `find … -exec wc -l {} +`.
 * Which files these are is not known, so the program may only look at names and sizes, or the list
 * may only have files of one kind.
 */
import { onlyLooks } from './looking-programs.ts';

/** `kind`: only files such as `*.ts`. `any`: any files below a folder. */
export type Listing = 'kind' | 'any';

/** Whether a program only drops or sorts lines. */
export function isFilter([program = '', ...words]: readonly string[]): boolean {
  if (/^(?:head|tail)$/.test(program))
    return words.every((word) => /^-(?:n?\d*)$|^\d+$/.test(word));
  if (program === 'sort') return words.every((word) => /^-[bdfgnruVz]+$/.test(word));
  if (program === 'uniq') return words.length === 0;
  return (
    /^[ef]?grep$/.test(program) &&
    words.every((word) => !word.startsWith('-') || /^-[vEFiwx]+$/.test(word)) &&
    words.filter((word) => !word.startsWith('-')).length === 1
  );
}

/** What a command lists. Undefined if that is not known. */
export function listedBy([program = '', ...words]: readonly string[]): Listing | undefined {
  if (program === 'find') return listedByFind(words);
  if (program === 'git' && words[0] === 'ls-files') {
    const names = words.slice(1).filter((word) => !word.startsWith('-'));
    return names.length > 0 && names.every(isKind) ? 'kind' : 'any';
  }
  const lists =
    (/^(?:fd|fdfind|ls)$/.test(program) && onlyLooks(program, words)) ||
    (/^(?:rg|[ef]?grep)$/.test(program) &&
      words.some((word) => /^-[A-Za-z]*l|^--files/.test(word)) &&
      onlyLooks(program, words));
  return lists ? 'any' : undefined;
}

/** What `find` lists, by its words before `-exec`. */
export function listedByFind(words: readonly string[]): Listing | undefined {
  if (!onlyLooks('find', words)) return undefined;
  if (words.some((word) => /^-printf|^-regex|^-iregex|^-ls$/.test(word))) return undefined;
  let hasName = false;
  for (const [at, word] of words.entries()) {
    if (/^(?:-o|-or|,)$/.test(word)) return 'any';
    if (!/^-i?(?:name|path|wholename|lname)$/.test(word)) continue;
    // What is left out does not matter.
    if (words[at - 1] === '-not' || words[at - 1] === '!') continue;
    if (!isKind(words[at + 1] ?? '')) return 'any';
    hasName = true;
  }
  return hasName ? 'kind' : 'any';
}

/** `*.ts` and `*.test.ts`. Rules see the ending. */
function isKind(pattern: string): boolean {
  return /^\*(?:\.\w+)+$/.test(pattern);
}

/** Programs that show names, sizes and sums, and nothing of what is in a file. */
const blind: ReadonlySet<string> = new Set(
  (
    '[ b2sum basename cksum dirname du echo file ls md5 md5sum printf readlink realpath sha1sum ' +
    'sha224sum sha256sum sha384sum sha512sum shasum stat sum test wc'
  ).split(' '),
);

/** Whether a program may be run for each file of a list. */
export function mayLookAt(words: readonly string[], listing: Listing | undefined): boolean {
  const [program = 'echo', ...args] = words;
  if (listing === undefined || !onlyLooks(program, args)) return false;
  return listing === 'kind' || isBlind(program, args);
}

/** Whether a program shows nothing of what is in a file, whatever its files are. */
export function isBlind(program: string, words: readonly string[]): boolean {
  if (/^[ef]?grep$/.test(program)) return words.some((word) => /^-[A-Za-z]*[lLqc]/.test(word));
  return blind.has(program) && onlyLooks(program, words);
}

/** What reading a command adds to. */
export interface Collected {
  /** Adds a command. @throws PolicyFault if there are too many */
  add(program: string, words: readonly string[]): true;
  /** Reads a patch. If it is left out, it is the input of the command. */
  patch(text?: string): void;
  /** What the input of the command lists, as far as it is known. */
  readonly listing: Listing | undefined;
  /** Refuses the line, which cannot be read as a whole. */
  tooDeep(): never;
  /** Adds a reason why the line is unclear. */
  unclear(why: string): void;
  /**
   * Reads text that is itself a command line.
   * @param inSameShell Whether it has the same variables
   */
  script(text: string, inSameShell?: boolean): void;
}
