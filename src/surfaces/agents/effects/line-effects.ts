/** What a command line does: its effects, and the kinds of the files that it names and changes. */
import { type FileKind, kindWords } from '../files/file-kind.ts';
import { fileKinds, isAboveGuard, isGuardFolder, isTemporaryFolder } from '../files/file-kinds.ts';
import type { Place } from '../place.ts';
import { onlyLooks } from '../shell/looking-programs.ts';
import { shellFacts } from '../shell/read-line.ts';
import { LineNotes, type ShellFacts } from '../shell/shell-facts.ts';
import type { ShellParser } from '../shell/shell-parser.ts';
import { DiskFiles } from './disk-files.ts';
import type { Effect } from './effect.ts';
import { fetches, webRequest } from './fetching.ts';
import { gitDoes, gitOnlyLooks } from './git-does.ts';
import { effectsOf, type Found } from './match.ts';
import { overwritten, specialEffects } from './special-effects.ts';
import { type Roles, rolesOf } from './word-roles.ts';

/** What rules can read of a line. */
export interface LineFacts extends ShellFacts {
  /** What the line does, in plain words: `deletes`, `pushes`. */
  readonly does: readonly Effect[];
  /** The kinds of the files that it may read or change. */
  readonly kinds: readonly FileKind[];
  /** The kinds of the files that it may change. */
  readonly changes: readonly FileKind[];
  /** Why, for each effect and kind. */
  readonly because: Readonly<Record<string, readonly string[]>>;
  /** Whether every part of it only looks around in the project. */
  readonly looks: boolean;
}

/** Most reasons that are kept for one effect or kind. */
const maxReasons = 4;

/**
 * What a command line does.
 * @param feeds Whether the model can write to the programs of the line while they run
 * @throws PolicyFault if it cannot be read as a whole
 */
export function lineFacts(
  line: string,
  place: Place,
  parser: ShellParser,
  feeds = false,
): LineFacts {
  const notes = new LineNotes();
  const facts = shellFacts(line, place, parser, notes, feeds);
  return new EffectsReader(notes, facts).read();
}

class EffectsReader {
  readonly #notes: LineNotes;
  readonly #facts: ShellFacts;
  readonly #does = new Set<Effect>();
  readonly #kinds = new Set<FileKind>();
  readonly #changes = new Set<FileKind>();
  readonly #because = new Map<string, string[]>();
  readonly #hosts = new Set<string>();
  readonly #files: DiskFiles;
  #isOutside = false;
  /** Whether what one command prints may be the words of another one. */
  readonly #isHeard: boolean;

  constructor(notes: LineNotes, facts: ShellFacts) {
    this.#notes = notes;
    this.#isHeard =
      facts.unclear ||
      notes.commands.some(
        ({ program, words }) => hearers.test(program) || words.some((word) => hearing.test(word)),
      );
    this.#facts = facts;
    this.#files = new DiskFiles((word) => notes.lookUp(word), notes.places[0]);
  }

  read(): LineFacts {
    const { commands, written, emptied, loose, asked } = this.#notes;
    const looking = commands.map(({ program, words }) => looks(program, words));
    // What these make or copy is new, so that nothing is lost when it is removed.
    const alone =
      commands.filter(({ program }, at) => looking[at] !== true && !makers.has(program)).length <=
      1;
    const asksNames = commands.every(({ program }) => onlyNames.has(program));
    const isOpen = this.#facts.unclear || !asksNames;
    for (const { program, words } of commands) {
      const shown = shorten([program, ...words].join(' '));
      for (const found of this.#found(program, words, alone)) this.#add(found, `\`${shown}\``);
      const roles = rolesOf(program, words, onlyLooks(program, words), (word) =>
        this.#files.isFolder(word),
      );
      this.#readRoles(roles, `\`${shown}\``, isOpen);
    }
    for (const word of loose) this.#name(word, 'the line', !written.has(word));
    for (const word of asked) this.#name(word, 'the line', false);
    for (const word of written) this.#write(word);
    // `git -C /etc log`
    for (const { cwd } of this.#notes.places.slice(1)) this.#name(cwd, 'the line', false);
    for (const found of overwritten([...emptied], this.#files)) this.#add(found, '`>`');
    return this.#result(looking.every((one) => one));
  }

  #result(onlyLooking: boolean): LineFacts {
    const { commands, written } = this.#notes;
    const { unclear, hosts } = this.#facts;
    const isPlain = [...this.#kinds].every((kind) => plainKinds.has(kind));
    return {
      ...this.#facts,
      hosts: [...new Set([...hosts, ...this.#hosts])],
      does: [...this.#does],
      kinds: [...this.#kinds],
      changes: [...this.#changes],
      because: Object.fromEntries(this.#because),
      looks:
        onlyLooking &&
        commands.length > 0 &&
        !unclear &&
        !this.#isOutside &&
        isPlain &&
        this.#does.size === 0 &&
        written.size === 0 &&
        hosts.length === 0,
    };
  }

  #found(program: string, words: readonly string[], alone: boolean): readonly Found[] {
    const web = webRequest(program, words);
    for (const host of web?.hosts ?? []) this.#hosts.add(host);
    return [
      ...effectsOf(program, words),
      ...specialEffects(program, words, this.#files, alone),
      ...fetches(program, words, this.#notes.places),
      ...(program === 'git' ? gitDoes(words, (word) => this.#files.exists(word)) : []),
      ...(web?.found ?? []),
    ];
  }

  #readRoles(roles: Roles, by: string, isOpen: boolean): void {
    for (const word of new Set(roles.reads)) this.#name(word, by, true);
    for (const word of new Set(roles.names)) this.#name(word, by, isOpen);
    if (this.#isHeard) for (const word of new Set(roles.says)) this.#name(word, by, true);
    for (const word of new Set(roles.changes)) {
      this.#name(word, by, true);
      this.#change(word, by);
    }
    for (const word of new Set(roles.writes)) {
      this.#name(word, by, false);
      this.#change(word, by);
    }
    for (const word of new Set(roles.fills))
      if (this.#paths(word).some(isGuardFolder)) this.#addKind(this.#changes, 'guard', word, by);
    for (const word of new Set(roles.replaces)) {
      this.#name(word, by, true);
      this.#change(word, by);
      const [place] = this.#notes.places;
      if (place !== undefined && this.#paths(word).some((path) => isAboveGuard(path, place)))
        this.#addKind(this.#changes, 'guard', word, by);
    }
  }

  #paths(word: string): readonly string[] {
    return this.#notes.lookUp(word).flatMap(({ path }) => path);
  }

  /** @param reads Whether what is in the file may be read */
  #name(word: string, by: string, reads: boolean): void {
    if (word === '' || word.includes('\n')) return;
    const isUrl = /^[a-z][a-z0-9+.-]*:\/\//i.test(word) && !/^file:/i.test(word);
    for (const text of textsOf(word))
      for (const { path, inside } of this.#notes.lookUp(text)) {
        const kinds = this.#kindsOf(path);
        if (reads) for (const kind of kinds) this.#addKind(this.#kinds, kind, text, by);
        const isPath = /^(?:[/~]|\.\.(?:\/|$))|\/\.\.(?:\/|$)/.test(text) || path.length > 1;
        if (!isPath || inside || isUrl || isDevice(text) || kinds.every(isElsewhere)) continue;
        if (!reads && path.every(isTemporaryFolder)) continue;
        this.#isOutside = true;
        this.#add({ does: 'names-outside', because: `names \`${shorten(text)}\`` }, by);
      }
  }

  #change(word: string, by: string): void {
    for (const text of textsOf(word))
      for (const kind of this.#kindsOf(this.#paths(text)))
        this.#addKind(this.#changes, kind, text, by);
  }

  #write(word: string): void {
    this.#change(word, '`>`');
    const facts = this.#notes.lookUp(word);
    if (
      facts.every(({ inside, path }) => inside || this.#kindsOf(path).every(isElsewhere)) === true
    )
      return;
    this.#add({ does: 'writes-outside', because: `writes to \`${shorten(word)}\`` }, '`>`');
  }

  #kindsOf(paths: readonly string[]): readonly FileKind[] {
    const [place] = this.#notes.places;
    return place === undefined ? [] : [...new Set(paths.flatMap((path) => fileKinds(path, place)))];
  }

  #add({ does, because }: Found, by: string): void {
    this.#does.add(does);
    this.#explain(does, `${by} ${because}`);
  }

  #addKind(to: Set<FileKind>, kind: FileKind, word: string, by: string): void {
    to.add(kind);
    if (plainKinds.has(kind)) return;
    const verb = to === this.#changes ? 'may change' : 'names';
    this.#explain(kind, `${by} ${verb} \`${shorten(word)}\`, ${kindWords[kind]}`);
  }

  #explain(of: string, text: string): void {
    const texts = this.#because.get(of);
    if (texts === undefined) this.#because.set(of, [text]);
    else if (texts.length < maxReasons && !texts.includes(text)) texts.push(text);
  }
}

const plainKinds: ReadonlySet<FileKind> = new Set([
  'example',
  'ordinary',
  'own-notes',
  'temporary',
]);

function isElsewhere(kind: FileKind): boolean {
  return kind === 'own-notes' || kind === 'temporary';
}

function isDevice(text: string): boolean {
  return /^\/dev\/(?:null|stdin|stdout|stderr|tty|zero|urandom|random|fd\/\d)$/.test(text);
}

/** Programs that take words from their input, and options by which others do. */
const hearers = /^(?:xargs|parallel|read|mapfile|readarray|entr|eval|source|\.|cpio|pax)$/;
const hearing = /^-T$|^-@$|^--(?:files|no-recursion|pathspec-from|stdin)/;

const makers: ReadonlySet<string> = new Set('chmod cp mkdir sed tee touch'.split(' '));

/** Programs that only list names, and filters of their output. */
const onlyNames: ReadonlySet<string> = new Set(
  `[ basename cd cut dirname du echo exit false fd file find git grep head ls printf pwd readlink
  realpath sort stat tail test tr tree true uniq wc`.split(/\s+/),
);

function looks(program: string, words: readonly string[]): boolean {
  if (program === 'git') return gitOnlyLooks(words);
  // It asks another machine.
  if (program === 'kubectl') return false;
  // What these run is a command of its own.
  if (/^(?:time|timeout|nice|command|builtin|nohup|stdbuf)$/.test(program)) return true;
  // A folder may have files with secrets.
  if (/^[ef]?grep$/.test(program) && words.some((word) => /^-[A-Za-z]*[rRf]|^--/.test(word)))
    return false;
  if (program === 'rg' && words.some((word) => /^-[A-Za-z]*[u.f]|^--(?:hi|no-ig|un)/.test(word)))
    return false;
  return onlyLooks(program, words);
}

/** Most parts of a word that may be paths of their own. */
const maxPieces = 256;

/** A word may be a path as a whole, or after `=`, `@` or `:`. */
function textsOf(word: string): readonly string[] {
  const texts = new Set([word, ...word.split(/[=@:,]/).filter((text) => text !== '')]);
  // The value may follow several letters: `-sT.env`.
  const [letters = ''] = /^-[A-Za-z]{1,6}(?=.)/.exec(word) ?? [];
  for (let at = 2; at <= letters.length; at++) texts.add(word.slice(at));
  return [...texts].slice(0, maxPieces);
}

/** For a question: in one line, and not too long. */
function shorten(text: string): string {
  const line = text.replace(/\s+/g, ' ');
  return line.length > 100 ? `${line.slice(0, 97)}…` : line;
}
