/** What rules can read of a shell's command line. */
import type { TestUnaryExpression, Word } from 'unbash';
import { PolicyFault } from '../../../extend.ts';
import { longestPath, type PathFacts, type Place, pathFacts } from '../place.ts';

// How much of a command line is read.

/**
 * How much is read. No line that an agent writes in earnest is longer. What is beyond could be
 * denied, so a longer line is refused as a whole.
 */
export const most = {
  characters: 1_000_000,
  /** And backticks and here-documents: the parser takes longer for each in another. */
  brackets: 10_000,
  /** Each takes the parser some microseconds. */
  'ends of commands': 100_000,
  /** Each takes some microseconds. */
  parts: 250_000,
  words: 10_000,
  commands: 5_000,
  'characters of commands': 400_000,
  /** On the disk. Each takes some microseconds. */
  paths: 4_000,
  /** Command lines as texts in others. */
  'commands in commands': 64,
  'changes of the folder': 64,
  /** In one word. */
  addresses: 64,
} as const;

/** Refuses a line, which cannot be read as a whole. */
export function tooMany(what: keyof typeof most): PolicyFault {
  return new PolicyFault(
    'command_unreadable',
    `The command line has more than ${most[what]} ${what}. Split it, so that it can be judged.`,
  );
}

/** @throws PolicyFault if the parser would take too long for it */
export function refuseLong(line: string): void {
  if (line.length > most.characters) throw tooMany('characters');
  if (hasMany('({`', most.brackets, line)) throw tooMany('brackets');
  if (hasMany('\n;|&', most['ends of commands'], line)) throw tooMany('ends of commands');
}

/** Whether some characters occur more often than allowed. Here-documents count as brackets. */
function hasMany(characters: string, most: number, line: string): boolean {
  let count = 0;
  for (let at = 0; at < line.length; at++)
    if (characters.includes(line[at] as string) || line.startsWith('<<', at)) {
      if (++count > most) return true;
    }
  return false;
}

/** One program that a command line starts, as far as it is clear. */
export interface ShellCommand {
  /** The program's name, without its folder: `git`. */
  readonly program: string;
  /**
   * Program and arguments without quotes, joined by spaces. Options of `git` itself, such as
   * `-C folder`, are left out, so that `git push` begins with `git push`.
   */
  readonly text: string;
}

/** The answer to `command@…` in a rule. */
export interface ShellFacts {
  /**
   * Whether some effect of the line is unclear: code in a string or another file, a program or an
   * argument that is known only at run time, or syntax that was not understood.
   */
  readonly unclear: boolean;
  /** Why it is unclear, in words. */
  readonly why: readonly string[];
  /** Every program, including those in `$()`, functions, `sudo`, `bash -c` and the like. */
  readonly commands: readonly ShellCommand[];
  /** Every absolute path that one of the words may mean. */
  readonly paths: readonly string[];
  /** Words that name a path outside of the project. */
  readonly outside: readonly string[];
  /** Files outside of the project to which the line redirects output, with `>` and the like. */
  readonly writesOutside: readonly string[];
  /** Hosts of the web addresses in it. */
  readonly hosts: readonly string[];
}

/** What is noted while a line is read, for finding out what it does. */
export class LineNotes {
  readonly commands: { readonly program: string; readonly words: readonly string[] }[] = [];
  /** Words that belong to no command. */
  readonly loose = new Set<string>();
  /** Words that `[[ -f x ]]` only asks about. */
  readonly asked = new Set<string>();
  /** Files that `>` and the like write to. */
  readonly written = new Set<string>();
  /** Those of them that it empties first. */
  readonly emptied = new Set<string>();
  /** The folders in which the line may be. */
  places: readonly Place[] = [];
  readonly #ofCommands = new Set<unknown>();
  readonly #ofTests = new Set<unknown>();
  readonly #known = new Map<string, readonly PathFacts[]>();

  ofCommand(words: readonly unknown[]): void {
    for (const word of words) this.#ofCommands.add(word);
  }

  /** `[[ -f x ]]` reads nothing of the file. `-v` is about a variable. */
  ofTest({ operator, operand }: TestUnaryExpression): void {
    if (/^-[a-zA-Z]$/.test(operator) && operator !== '-v') this.#ofTests.add(operand);
  }

  word(word: Word, value: string): void {
    if (this.#ofTests.has(word)) this.asked.add(value);
    else if (!this.#ofCommands.has(word)) this.loose.add(value);
  }

  write(value: string, operator: string): void {
    this.written.add(value);
    if (!operator.includes('>>')) this.emptied.add(value);
  }

  /** What a word may mean in each of the folders. @throws PolicyFault if there are too many */
  lookUp(text: string): readonly PathFacts[] {
    const known = this.#known.get(text);
    if (known !== undefined) return known;
    if (text.length > longestPath) return [];
    if (this.#known.size * this.places.length > most.paths) throw tooMany('paths');
    const found = this.places.map((place) => pathFacts(text, place));
    this.#known.set(text, found);
    return found;
  }
}
