/** Reads one command line, and the lines inside it. */
import type { Assignment, Command, ParsedScript, SyntaxNode, Word } from 'unbash';
import { readPatch } from '../patch.ts';
import type { Place } from '../place.ts';
import { hostsOfCommand, hostsOfWord } from './hosts.ts';
import { LinePlaces } from './line-places.ts';
import { LineWords, printedFor } from './line-words.ts';
import type { Collected, Listing } from './listing.ts';
import { onlyLooks } from './looking-programs.ts';
import { isFed } from './programs.ts';
import { readCommand } from './read-command.ts';
import {
  type LineNotes,
  most,
  type ShellCommand,
  type ShellFacts,
  tooMany,
} from './shell-facts.ts';
import { roughCommands, type ShellParser } from './shell-parser.ts';
import { Calculations, isDecisive, isSpecial, isZshArray, namesSetBy } from './variables.ts';
import { zshExpansion, zshRedirect } from './zsh.ts';

const maxWhy = 8;
/** How often the bodies of loops are read. */
const maxTimes = 256;

type Loop = Extract<SyntaxNode, { type: 'For' }>;

/** Reads one line, and the lines inside it. */
export class LineReader implements Collected {
  readonly commands: ShellCommand[] = [];
  readonly #why = new Set<string>();
  readonly #words = new Set<string>();
  readonly #written = new Set<string>();
  readonly #faults = new Set<string>();
  /** Words that have been read as parts of a command. */
  readonly #known = new Set<Word>();
  readonly #values: LineWords;
  readonly #calculations: Calculations;
  readonly #listings = new Map<Command, Listing>();
  listing: Listing | undefined;
  /** How often what is read now runs, in loops. */
  #times = 1;
  readonly #hosts = new Set<string>();
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
    this.#places = new LinePlaces(place, (why) => this.unclear(why));
    this.#values = new LineWords(place.home, this.#places.folders);
    this.#calculations = new Calculations(this.#values.set, (why) => this.unclear(why));
    this.#notes = notes;
    notes.places = this.#places.folders;
    this.#parser = parser;
  }

  read(line: string): ShellFacts {
    this.script(line);
    const { paths, outside, writesOutside, hasBare } = this.#places;
    if (hasBare && this.commands.some(({ program }) => program === 'git'))
      this.unclear('a folder that git takes for a repository, whose files name programs');
    for (const word of this.#words) {
      for (const host of hostsOfWord(word)) this.#hosts.add(host);
      this.#places.word(word);
    }
    for (const word of this.#written) this.#places.written(word);
    for (const fault of this.#faults) outside.add(fault);
    for (const name of [...this.#values.uncertain, ...this.#calculations.uncertain])
      this.unclear(`\`$${name}\` may be set to something else`);
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
    if (this.#why.size < maxWhy) this.#why.add(why);
  }

  script(text: string, inSameShell = false): void {
    const variables = this.#values.variables;
    const outer = [...variables];
    if (!inSameShell) variables.clear();
    this.#script(text);
    for (const [name, value] of outer) variables.set(name, value);
  }

  #script(text: string): void {
    const key = `script ${JSON.stringify([...this.#values.variables])} ${text}`;
    if (this.#seen.has(key)) return;
    this.#seen.add(key);
    if (++this.#scripts > most['commands in commands']) throw tooMany('commands in commands');
    this.#text += text.length;
    if (this.#text > most.characters) throw tooMany('characters');
    const around = this.#source;
    this.#source = text;
    const script = this.#parser.parse(text);
    this.#visit(script);
    // Of a text that the parser does not understand, whatever may be a command counts as one.
    for (const words of script.errors?.length ? roughCommands(text) : []) {
      for (const word of words) this.#keep(word);
      readCommand(words, this);
    }
    this.#source = around;
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
    if (!onlyLooks(program, words)) this.#values.hasChanged = true;
    for (const name of namesSetBy(program, words)) this.#values.set.add(name);
    this.#calculations.command(program, words);
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
    if (node.type === 'Pipeline')
      for (const [command, listing] of this.#values.listings(node))
        this.#listings.set(command, listing);
    if (node.type === 'For' || node.type === 'Select') {
      if (isDecisive(node.name.value))
        this.unclear(`\`${node.name.value}\` changes what commands do`);
      if (node.type === 'For' && this.#loop(node)) return;
      this.#values.set.add(node.name.value);
    }
    if (node.type === 'TestUnary') this.#notes.ofTest(node);
    if (node.type === 'Function' && /^(?:cat|echo|seq)$/.test(node.name.value))
      this.unclear(`\`${node.name.value}\` prints something else than usual`);
    this.#calculations.visit(node);
    // Their patterns only compare.
    if (node.type === 'CaseItem') for (const word of node.pattern) this.#known.add(word);
    // What is in it may run later, or again.
    if (/^(?:While|Function|ArithmeticFor|Select|Coproc)$/.test(node.type))
      this.#values.hasChanged = true;
    if (node.type === 'Word') this.#word(node);
    if (node.type === 'CommandExpansion' || node.type === 'ProcessSubstitution')
      if (node.script === undefined) this.unclear('a substitution that is not understood');
    this.#parser.forEachChild(node, (child) => this.#visit(child));
  }

  #assignment({ name, index, value }: Assignment): void {
    const isArray = index !== undefined || value.type === 'ArrayValue';
    // No shell replaces a pattern there by files.
    if (!isArray && this.#values.read(value).open === undefined) this.#known.add(value);
    if (isDecisive(name) || (isArray && isZshArray(name)))
      this.unclear(`\`${name}\` changes what commands do`);
  }

  /** Reads the body of a loop once for each value. False if the values are not known. */
  #loop({ name: { value: name }, wordlist, body }: Loop): boolean {
    const values: string[] = [];
    for (const word of wordlist ?? []) {
      const texts = this.#values.textsOf(word);
      if (texts === undefined) return false;
      values.push(...texts);
    }
    const isOften = this.#times * values.length > maxTimes;
    if (wordlist === undefined || isOften || !/^[a-z]\w*$/i.test(name) || isSpecial(name))
      return false;
    if (this.#values.variables.has(name)) this.#values.set.add(name);
    for (const word of wordlist) this.#known.add(word);
    for (const word of wordlist) this.#visit(word);
    const before = [this.#values.variables.get(name), this.#times] as const;
    this.#times *= Math.max(values.length, 1);
    for (const value of values) {
      this.#keep(value);
      this.#values.variables.set(name, value);
      this.#visit(body);
    }
    if (values.length === 0) this.#visit(body);
    const [outer, times] = before;
    this.#times = times;
    if (outer === undefined) this.#values.variables.delete(name);
    else this.#values.variables.set(name, outer);
    return true;
  }

  #command(command: Command): void {
    const { name, args, redirects } = command;
    if (name === undefined) return;
    this.#notes.ofCommand([name, ...args]);
    const values: string[] = [];
    for (const arg of [name, ...args]) {
      const texts = arg.type === 'Word' ? this.#values.textsOf(arg, values) : [arg.text];
      if (arg === name) {
        const [program] = texts ?? [];
        // A number is part of it, or a file that is there now.
        if (program === undefined || this.#values.isLoose(name))
          return this.unclear(`\`${name.text.slice(0, 80)}\` stands for a program`);
      }
      const isKnown = texts !== undefined || this.#values.isPrintable(name.text, arg as Word);
      if (arg.type === 'Word') this.#known[isKnown ? 'add' : 'delete'](arg);
      for (const text of texts ?? [this.#values.read(arg as Word).value]) {
        values.push(text);
        if (arg !== name) this.#keep(text);
      }
    }
    // `popd` goes back to a folder that is known.
    if (values[0] === 'cd' || (values[0] === 'pushd' && values.length > 1))
      this.#places.move(values.slice(1));
    for (const arg of printedFor(values, args)) this.#known.add(arg);
    this.#input = this.#values.inputOf(redirects);
    this.listing = this.#listings.get(command);
    readCommand(values, this);
    this.listing = undefined;
    for (const [at, value] of values.entries())
      if (value === '-C' && values[0] !== 'grep') this.#places.move([values[at + 1] ?? '']);
  }

  #word(word: Word): void {
    const { value, open, pattern } = this.#values.read(word);
    this.#notes.word(word, value);
    const unknown = open ?? (pattern === undefined ? undefined : value);
    if (unknown !== undefined && !this.#known.has(word))
      this.unclear(`\`${unknown.slice(0, 80)}\` is known only at run time`);
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
    const { value } = this.#values.read(target);
    const zsh = zshRedirect(operator, value, () => this.#source.slice(end, end + 4_096));
    if (zsh !== undefined) this.unclear('a redirection of zsh');
    if (zsh) this.#write(zsh, operator);
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
}
