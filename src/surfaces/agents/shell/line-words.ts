/** What the words of a command line stand for, as far as it is known before it runs. */
import type { Command, Redirection, SyntaxNode, Word, WordPart } from 'unbash';
import type { Place } from '../place.ts';
import { expandGlob } from './globs.ts';
import { isBlind, isFilter, type Listing, listedBy } from './listing.ts';
import { onlyLooks } from './looking-programs.ts';
import { isPlainVariable } from './variables.ts';
import { type KnownWord, readWord, readWords, type Scope } from './words.ts';

export class LineWords {
  /** Variables of loops that are read now. */
  readonly variables = new Map<string, string>();
  /** Variables that the line may set. */
  readonly set = new Set<string>();
  /** Whether files may have changed since the line began. */
  hasChanged = false;
  readonly #used = new Set<string>();
  readonly #scope: Scope;
  readonly #folders: readonly Place[];

  /** @param folders Those in which the line may be, as they become known */
  constructor(home: string, folders: readonly Place[]) {
    this.#scope = {
      home,
      variables: this.variables,
      uses: (name) => this.#used.add(name),
    };
    this.#folders = folders;
  }

  /** Variables whose value was used, although the line may set them. */
  get uncertain(): readonly string[] {
    return [...this.#used].filter((name) => this.set.has(name));
  }

  read(word: Word): KnownWord {
    return readWord(word, this.#scope);
  }

  /**
   * The texts that a word stands for, with the files that a pattern stands for now.
   * @param before The program and its words before it. If it shows nothing of what is in files, it
   * does not matter if they have changed
   */
  textsOf(word: Word, before: readonly string[] = []): readonly string[] | undefined {
    const texts: string[] = [];
    for (const { value, open, pattern } of readWords(word, this.#scope)) {
      if (open !== undefined) return undefined;
      if (pattern === undefined) texts.push(value);
      else {
        if (this.hasChanged && !isBlindOf(before)) return undefined;
        const found = new Set<string>();
        for (const { cwd } of this.#folders) {
          const names = expandGlob(pattern, cwd);
          if (names === undefined) return undefined;
          for (const name of names) found.add(name);
        }
        texts.push(...(found.size === 0 ? [value] : found));
      }
    }
    return texts;
  }

  /** Whether a word to print is made of texts, and variables that the line sets or all may see. */
  isPrintable(program: string, { parts = [] }: Word): boolean {
    if (program !== 'echo' && program !== 'printf') return false;
    const isOwn = (part: WordPart): boolean => {
      if (part.type === 'DoubleQuoted') return part.parts.every(isOwn);
      if (part.type === 'SimpleExpansion') return this.#isPlain(part.text.slice(1));
      if (part.type !== 'ParameterExpansion') return /^(?:Literal|SingleQuoted)$/.test(part.type);
      return (
        part.prefix === undefined &&
        part.operation === undefined &&
        this.#isPlain(part.parameter) &&
        /^(?:[@*]|\d+)?$/.test(part.index?.text ?? '')
      );
    };
    return parts.every(isOwn);
  }

  #isPlain(name: string): boolean {
    return this.set.has(name) || isPlainVariable(name) || /^[?#$!]$/.test(name);
  }

  /** Whether it has a part that could be another one when the line runs. */
  isLoose(word: Word): boolean {
    return this.read(word).pattern !== undefined || /\$\{?[?#$!]/.test(word.text);
  }

  /** The commands of a pipeline that get a list of files as their input. */
  listings({ commands }: Extract<SyntaxNode, { type: 'Pipeline' }>): Map<Command, Listing> {
    const found = new Map<Command, Listing>();
    let listing: Listing | undefined;
    for (const [at, command] of commands.entries()) {
      if (command.type !== 'Command') break;
      const { name, args, redirects } = command;
      if (name === undefined || redirects.some(({ operator }) => operator.startsWith('<'))) break;
      if (listing !== undefined) found.set(command, listing);
      const words: string[] = [];
      for (const arg of [name, ...args]) {
        const texts = arg.type === 'Word' ? this.textsOf(arg, ['ls']) : undefined;
        if (texts === undefined) return found;
        words.push(...texts);
      }
      if (at === 0) listing = listedBy(words);
      else if (!isFilter(words)) listing = undefined;
      // Nothing is known of the commands after it.
      if (listing === undefined) break;
    }
    return found;
  }

  /** The text of a here-document or a here-string. Undefined if it is known only at run time. */
  inputOf(redirects: readonly Redirection[]): string | undefined {
    const last = redirects.findLast((one) => one.type !== 'Redirect' || one.operator === '<');
    if (last?.type === 'HereString' && last.target !== undefined) {
      const { value, open } = this.read(last.target);
      return open === undefined ? value : undefined;
    }
    if (last?.type !== 'HereDoc') return undefined;
    const isFixed = last.delimiter?.quoted === true || !/[$`\\]/.test(last.body.text);
    return isFixed ? last.body.text : undefined;
  }
}

/** Most words before a pattern, each of which would be looked at again for each pattern. */
const maxBefore = 100;

function isBlindOf([program, ...words]: readonly string[]): boolean {
  return program !== undefined && words.length <= maxBefore && isBlind(program, words);
}

/** Words such as `<(sort x)` of a program that only looks: it reads what the command prints. */
export function printedFor([program = '', ...words]: readonly string[], args: Command['args']) {
  if (!onlyLooks(program, words)) return [];
  return args.filter((arg): arg is Word => {
    const [part, ...more] = arg.type === 'Word' ? (arg.parts ?? []) : [];
    return part?.type === 'ProcessSubstitution' && more.length === 0 && part.text.startsWith('<(');
  });
}
