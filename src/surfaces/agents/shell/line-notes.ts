/** What is noted while a line is read, for finding out what it does. */
import type { TestUnaryExpression, Word } from 'unbash';
import { longestPath, type PathFacts, type Place, pathFacts } from '../place.ts';
import { most, tooMany } from './limits.ts';

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
