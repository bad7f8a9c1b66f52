/** Reads a command line of a POSIX shell or of bash. */
import type {
  ArithmeticWord,
  Assignment,
  Command,
  ParsedScript,
  Redirection,
  SyntaxNode,
  Word,
} from 'unbash';
import { packageFault } from '../../../packages/missing-package.ts';
import { PolicyFault } from '../../../surface-port.ts';
import { readPatch } from '../patch.ts';
import type { Place } from '../place.ts';
import type { Collected } from './collected.ts';
import { isFed } from './fed-programs.ts';
import { hostsOfCommand, hostsOfWord } from './hosts.ts';
import { most, refuseLong, tooMany } from './limits.ts';
import { LineNotes } from './line-notes.ts';
import { LinePlaces } from './line-places.ts';
import { readCommand } from './read-command.ts';
import type { ShellCommand, ShellFacts } from './shell-facts.ts';
import { isDecisive, isZshArray } from './variables.ts';
import { readWord } from './words.ts';
import { zshExpansion } from './zsh.ts';

/** The parser, which is optional. */
export type ShellParser = Pick<typeof import('unbash'), 'parse' | 'forEachChild'>;

const mostWhy = 8;
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

/**
 * What a command line does, as far as it is clear.
 * @param notes Gets what is needed to find out more
 * @param feeds Whether the model can write to the programs of the line while they run
 * @throws PolicyFault `command_unreadable` if it is too long to be read as a whole, which refuses
 * the call: the rest could be what a rule denies
 */
export function shellFacts(
  line: string,
  place: Place,
  parser: ShellParser,
  notes = new LineNotes(),
  feeds = false,
): ShellFacts {
  refuseLong(line);
  try {
    return new LineReader(place, parser, notes, feeds).read(line);
  } catch (error) {
    if (error instanceof PolicyFault) throw error;
    throw new PolicyFault('command_unreadable', 'The command line cannot be read.', {
      cause: error,
    });
  }
}

/** Reads one line, and the lines inside it. */
class LineReader implements Collected {
  readonly commands: ShellCommand[] = [];
  readonly #why = new Set<string>();
  readonly #words = new Set<string>();
  readonly #written = new Set<string>();
  readonly #faults = new Set<string>();
  readonly #hosts = new Set<string>();
  readonly #place: Place;
  readonly #places: LinePlaces;
  readonly #feeds: boolean;
  readonly #parser: ShellParser;
  readonly #notes: LineNotes;
  /** The text that the command gets as its input. */
  #input: string | undefined;
  /** What has been read, since the same text has the same effect. */
  readonly #seen = new Set<string>();
  /** The text that is being read. */
  #source = '';
  #scripts = 0;
  #parts = 0;
  #text = 0;
  #commandText = 0;

  constructor(place: Place, parser: ShellParser, notes: LineNotes, feeds: boolean) {
    this.#feeds = feeds;
    this.#place = place;
    this.#places = new LinePlaces(place, (why) => this.unclear(why));
    this.#notes = notes;
    notes.places = this.#places.folders;
    this.#parser = parser;
  }

  read(line: string): ShellFacts {
    this.script(line);
    const { paths, outside, writesOutside, hasBare } = this.#places;
    if (hasBare && this.commands.some(({ program }) => program === 'git'))
      this.unclear('a folder that git takes for a repository, whose files name programs');
    for (const word of this.#words) this.#readPlace(word);
    for (const word of this.#written) this.#places.written(word);
    for (const fault of this.#faults) outside.add(fault);
    return {
      unclear: this.#why.size > 0,
      why: [...this.#why],
      commands: this.commands,
      paths: [...paths],
      outside: [...outside],
      writesOutside: [...writesOutside],
      hosts: [...this.#hosts],
    };
  }

  unclear(why: string): void {
    if (this.#why.size < mostWhy) this.#why.add(why);
  }

  script(text: string): void {
    if (this.#seen.has(text)) return;
    this.#seen.add(text);
    if (++this.#scripts > most['commands in commands']) throw tooMany('commands in commands');
    this.#text += text.length;
    if (this.#text > most.characters) throw tooMany('characters');
    const around = this.#source;
    this.#source = text;
    const script = this.#parser.parse(text);
    this.#visit(script);
    if (script.errors?.length) this.#scan(text);
    this.#source = around;
  }

  /** Of a text that the parser does not understand, whatever may be a command counts as one. */
  #scan(text: string): void {
    this.unclear('syntax that is not understood');
    for (const part of text.split(/[\n;|&(){}<>`]+/)) {
      const words = part
        .replace(/["'\\]/g, '')
        .split(/\s+/)
        .filter(Boolean);
      for (const word of words) this.#keep(word);
      readCommand(words, this);
    }
  }

  add(program: string, words: readonly string[]): true {
    const text = [program, ...words].join(' ');
    const key = `command ${[program, ...words].join('\0')}`;
    if (this.#seen.has(key)) return true;
    this.#seen.add(key);
    this.#commandText += text.length;
    if (this.#commandText > most['characters of commands']) throw tooMany('characters of commands');
    if (this.commands.length >= most.commands) throw tooMany('commands');
    this.commands.push({ program, text });
    this.#notes.commands.push({ program, words });
    if (this.#feeds && isFed(program, words))
      this.unclear(`\`${program}\` may run what is written to it later`);
    for (const host of hostsOfCommand(program, words, (path) => this.#places.exists(path)))
      this.#hosts.add(host);
    return true;
  }

  patch(text: string | undefined = this.#input): void {
    if (text === undefined) this.unclear('a patch that is not in the line');
    else {
      const { files, faults } = readPatch(text);
      for (const file of files) {
        this.#keep(file);
        this.#write(file, '>>');
      }
      for (const fault of faults) {
        this.unclear(fault);
        this.#faults.add(fault);
      }
    }
  }

  tooDeep(): never {
    throw tooMany('commands in commands');
  }

  #visit(node: SyntaxNode): void {
    if (++this.#parts > most.parts) throw tooMany('parts');
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

  #command({ name, args, redirects }: Command): void {
    if (name === undefined) return;
    const words = [name, ...args].map((arg) =>
      arg.type === 'Word' ? readWord(arg, this.#place) : { value: arg.text, open: undefined },
    );
    this.#notes.ofCommand([name, ...args]);
    const [program] = words;
    if (program?.open !== undefined)
      return this.unclear(`\`${program.open}\` stands for a program`);
    for (const { value } of words.slice(1)) this.#keep(value);
    const values = words.map(({ value }) => value);
    if (/^(?:cd|pushd|popd)$/.test(values[0] as string)) this.#places.move(values.slice(1));
    this.#input = inputOf(redirects, this.#place);
    readCommand(values, this);
    for (const [at, value] of values.entries())
      if (value === '-C' && values[0] !== 'grep') this.#places.move([values[at + 1] ?? '']);
  }

  #word(word: Word): void {
    const { value, open } = readWord(word, this.#place);
    this.#notes.word(word, value);
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
      this.#write(next.replace(/["'\\]/g, ''), operator);
    }
    if (/^\/dev\/(?:tcp|udp)\//.test(value)) this.unclear('a connection');
    if (operator === '<' || operator === '<&' || /^\/dev\/(?:null|stdout|stderr|tty)$/.test(value))
      return;
    if (operator === '>&' && /^(?:\d+|-|\d+-)$/.test(value)) return;
    this.#write(value, operator);
  }

  #write(file: string, operator: string): void {
    this.#written.add(file);
    this.#notes.write(file, operator);
  }

  #keep(word: string): void {
    if (this.#words.size >= most.words) throw tooMany('words');
    this.#words.add(word);
  }

  #readPlace(word: string): void {
    const hosts = hostsOfWord(word);
    if (hosts === undefined) throw tooMany('addresses');
    for (const host of hosts) this.#hosts.add(host);
    this.#places.word(word);
  }
}

/** The text of a here-document or a here-string. Undefined if it is known only at run time. */
function inputOf(redirects: readonly Redirection[], place: Place): string | undefined {
  const last = redirects.findLast((one) => one.type !== 'Redirect' || one.operator === '<');
  if (last?.type === 'HereString' && last.target !== undefined) {
    const { value, open } = readWord(last.target, place);
    return open === undefined ? value : undefined;
  }
  if (last?.type !== 'HereDoc') return undefined;
  const isFixed = last.delimiter?.quoted === true || !/[$`\\]/.test(last.body.text);
  return isFixed ? last.body.text : undefined;
}
