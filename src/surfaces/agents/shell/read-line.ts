/** Reads a command line of a POSIX shell or of bash. */
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import type { ArithmeticWord, Assignment, Command, ParsedScript, SyntaxNode, Word } from 'unbash';
import { packageFault } from '../../../packages/missing-package.ts';
import { type PathFacts, type Place, pathFacts } from '../place.ts';
import { isBare } from './bare-repository.ts';
import { hostsOfCommand, hostsOfWord } from './hosts.ts';
import { type Collected, readCommand } from './read-command.ts';
import { type ShellCommand, type ShellFacts, unclearFacts } from './shell-facts.ts';
import { isDecisive, isZshArray } from './variables.ts';
import { readWord } from './words.ts';
import { zshExpansion } from './zsh.ts';

/** The parser, which is optional. */
export type ShellParser = Pick<typeof import('unbash'), 'parse' | 'forEachChild'>;

/** Longest line that is read, in characters. */
const mostChars = 200_000;
/**
 * Most brackets, backticks and here-documents, because the parser takes longer for each one that is
 * nested in another.
 */
const mostBrackets = 3_000;
/** Most characters of commands that are kept. */
const mostText = 400_000;
/** Most words, commands and reasons that are kept. Beyond this, the line is unclear. */
const mostWords = 2_000;
/** Most parts of the line that are checked. Each takes some microseconds. */
const mostParts = 6_000;
/** Most characters that end a command. The parser takes some microseconds for each command. */
const mostEnds = 20_000;
const mostWhy = 8;
/** Most paths that are looked up on the disk. Each takes some microseconds. */
const mostLookups = 1_500;
/** How often a command line may contain another one as text. */
const mostScripts = 32;

/** Loads the parser. @throws MisuseError `missing_dependency` */
export async function shellParser(
  importParser: () => Promise<ShellParser> = () => import('unbash'),
): Promise<ShellParser> {
  try {
    return await importParser();
  } catch (error) {
    throw packageFault('unbash', 'reads command lines', error);
  }
}

/** What a command line does, as far as it is clear. Never throws. */
export function shellFacts(line: string, place: Place, parser: ShellParser): ShellFacts {
  if (line.length > mostChars) return unclearFacts(`more than ${mostChars} characters`);
  if (hasMany('({`', mostBrackets, line)) return unclearFacts(`more than ${mostBrackets} brackets`);
  if (hasMany('\n;|&', mostEnds, line)) return unclearFacts(`more than ${mostEnds} commands`);
  try {
    return new LineReader(place, parser).read(line);
  } catch {
    return unclearFacts('the parser failed');
  }
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

/** Reads one line, and the lines inside it. */
class LineReader implements Collected {
  readonly commands: ShellCommand[] = [];
  readonly #why = new Set<string>();
  readonly #words = new Set<string>();
  readonly #written = new Set<string>();
  readonly #hosts = new Set<string>();
  /**
   * The folders in which the line may be when it reads a path. It may have changed the folder
   * before.
   */
  readonly #folders: Place[];
  readonly #parser: ShellParser;
  /** The text that is being read. */
  #source = '';
  #scripts = 0;
  #left = mostText;
  #lookups = 0;
  #parts = 0;
  #text = 0;

  constructor(place: Place, parser: ShellParser) {
    this.#folders = [place];
    this.#parser = parser;
  }

  read(line: string): ShellFacts {
    this.script(line);
    const paths = new Set<string>();
    const outside = new Set<string>();
    const writesOutside = new Set<string>();
    const hosts = this.#hosts;
    if (this.commands.some(({ program }) => program === 'git') && this.#folders.some(isBare))
      this.unclear('a folder that git takes for a repository, whose files name programs');
    for (const word of this.#words) this.#readPlace(word, paths, outside, hosts);
    for (const word of this.#written)
      if (this.#folders.some((place) => this.#lookUp(word, place)?.inside !== true))
        writesOutside.add(word);
    return {
      unclear: this.#why.size > 0,
      why: [...this.#why],
      commands: this.commands,
      paths: [...paths],
      outside: [...outside],
      writesOutside: [...writesOutside],
      hosts: [...hosts],
    };
  }

  unclear(why: string): void {
    if (this.#why.size < mostWhy) this.#why.add(why);
  }

  script(text: string): void {
    this.#left -= text.length;
    if (++this.#scripts > mostScripts || this.#left < 0)
      this.unclear('too many commands in commands');
    else {
      const around = this.#source;
      this.#source = text;
      this.#visit(this.#parser.parse(text));
      this.#source = around;
    }
  }

  add(program: string, words: readonly string[]): boolean {
    const text = this.isFull ? '' : [program, ...words].join(' ');
    this.#text += text.length;
    if (this.isFull) this.unclear('too many commands');
    else this.commands.push({ program, text });
    for (const host of hostsOfCommand(program, words, (path) => this.#exists(path)))
      this.#hosts.add(host);
    return !this.isFull;
  }

  #exists(path: string): boolean {
    return this.#folders.some(({ cwd }) => existsSync(resolve(cwd, path)));
  }

  get isFull(): boolean {
    return this.commands.length >= mostWords || this.#text > mostText;
  }

  #visit(node: SyntaxNode): void {
    if (++this.#parts > mostParts) return this.unclear('too many words');
    if ((node as ParsedScript).errors?.length) this.unclear('syntax that is not understood');
    if (node.type === 'Command') this.#command(node);
    if (node.type === 'Redirect') this.#redirect(node);
    if (node.type === 'Assignment') this.#assignment(node);
    if (node.type === 'ArithmeticWord') this.#arithmetic(node);
    if ((node.type === 'For' || node.type === 'Select') && isDecisive(node.name.value))
      this.unclear(`\`${node.name.value}\` changes what commands do`);
    if (node.type === 'Word') this.#word(node);
    if (node.type === 'CommandExpansion' || node.type === 'ProcessSubstitution')
      if (node.script === undefined) this.unclear('a substitution that is not understood');
    this.#parser.forEachChild(node, (child) => this.#visit(child));
  }

  /** bash and zsh run what is in the index of a variable, even inside quotes. */
  #arithmetic({ value, parts = [] }: ArithmeticWord): void {
    if (value.includes('[') || parts.some(({ type }) => type.endsWith('Quoted')))
      this.unclear('a calculation that is known only at run time');
  }

  #assignment({ name, index, value }: Assignment): void {
    const isArray = index !== undefined || value.type === 'ArrayValue';
    if (isDecisive(name) || (isArray && isZshArray(name)))
      this.unclear(`\`${name}\` changes what commands do`);
  }

  #command({ name, args }: Command): void {
    if (name === undefined) return;
    if (args.length > mostParts) this.unclear('too many words');
    const words = [name, ...args.slice(0, mostParts)].map((arg) =>
      arg.type === 'Word' ? readWord(arg, this.#place) : { value: arg.text, open: undefined },
    );
    const [program] = words;
    if (program?.open !== undefined)
      return this.unclear(`\`${program.open}\` stands for a program`);
    for (const { value } of words.slice(1)) this.#keep(value);
    const values = words.map(({ value }) => value);
    if (/^(?:cd|pushd|popd)$/.test(values[0] as string)) this.#move(values);
    readCommand(values, this);
    for (const [at, value] of values.entries())
      if (value === '-C' && values[0] !== 'grep') this.#move(['cd', values[at + 1] ?? '']);
  }

  get #place(): Place {
    return this.#folders[0] as Place;
  }

  /** Words from here on may be relative to this folder. Whether they are is unknown. */
  #move([, ...args]: readonly string[]): void {
    const folder = args.find((word) => !/^-[LPe@]+$/.test(word)) ?? '~';
    if (folder === '-' || /^[-+]\d/.test(folder)) return this.unclear('a folder from before');
    if (this.#folders.length >= 8) return this.unclear('too many changes of the folder');
    for (const place of [...this.#folders])
      for (const cwd of this.#lookUp(folder, place)?.path ?? [])
        this.#folders.push({ ...place, cwd });
  }

  /** Undefined if too many paths were looked up. The line is then unclear. */
  #lookUp(text: string, place: Place): PathFacts | undefined {
    if (text.length > 4_096 || ++this.#lookups > mostLookups)
      return void this.unclear('too many or too long paths');
    return pathFacts(text, place);
  }

  #word(word: Word): void {
    const { value, open } = readWord(word, this.#place);
    if (open !== undefined) this.unclear(`\`${open.slice(0, 80)}\` is known only at run time`);
    const zsh = zshExpansion(word.text);
    if (zsh !== undefined) this.unclear(`\`${zsh.slice(0, 80)}\` is expanded by zsh`);
    // bash runs it wherever it reads the word as a number or a variable.
    const index = value.indexOf('[');
    if (index !== -1 && /\$\(|`/.test(value.slice(index)))
      this.unclear('a substitution in the index of a variable');
    this.#keep(value);
  }

  #redirect({ operator, target, end }: Extract<SyntaxNode, { type: 'Redirect' }>): void {
    if (target === undefined) return;
    const { value } = readWord(target, this.#place);
    // In zsh, `<1-9>` is a pattern, and the file follows `>!`.
    if (operator === '<' && /^\d*-\d*$/.test(value)) this.unclear('a pattern of zsh');
    if (value.startsWith('!') && operator.includes('>')) {
      this.unclear('a redirection of zsh');
      const next = value.slice(1) || (/\S+/.exec(this.#source.slice(end, end + 4_096))?.[0] ?? '');
      this.#written.add(next.replace(/["'\\]/g, ''));
    }
    if (/^\/dev\/(?:tcp|udp)\//.test(value)) this.unclear('a connection');
    if (operator === '<' || operator === '<&' || /^\/dev\/(?:null|stdout|stderr|tty)$/.test(value))
      return;
    if (operator === '>&' && /^(?:\d+|-|\d+-)$/.test(value)) return;
    this.#written.add(value);
  }

  #keep(word: string): void {
    if (this.#words.size >= mostWords) this.unclear('too many words');
    else this.#words.add(word);
  }

  /** A word may be a path as a whole, or after `=`, `@` or `:`. */
  #readPlace(word: string, paths: Set<string>, outside: Set<string>, hosts: Set<string>): void {
    const named = hostsOfWord(word);
    if (named === undefined) this.unclear('too many addresses');
    for (const host of named ?? []) hosts.add(host);
    if (word.includes('\n') || word === '') return;
    const isUrl = /^[a-z][a-z0-9+.-]*:\/\//i.test(word) && !/^file:/i.test(word);
    const texts = new Set([word, ...word.split(/[=@:,]/).filter((text) => text !== '')]);
    if (/^-[A-Za-z]./.test(word)) texts.add(word.slice(2));
    for (const text of [...texts].slice(0, 16))
      for (const place of this.#folders) {
        const facts = this.#lookUp(text, place);
        if (facts === undefined) return;
        const { path, inside } = facts;
        for (const one of path) paths.add(one);
        const isPath = /^(?:[/~]|\.\.(?:\/|$))|\/\.\.(?:\/|$)/.test(text) || path.length > 1;
        if (isPath && !inside && !isUrl && !/^\/dev\/(?:null|stdin|stdout|stderr|tty)$/.test(text))
          outside.add(text);
      }
  }
}
