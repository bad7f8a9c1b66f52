/** Reads one command: what it starts, and what is unclear about it. */
import { basename } from 'node:path';
import { type Collected, listedByFind, mayLookAt } from './listing.ts';
import { mayLook, onlyLooks } from './looking-programs.ts';
import {
  interpreters,
  isGuarded,
  isPlainSed,
  languageOf,
  ofGnu,
  plainPrograms,
  renamers,
  runningOptions,
  setters,
  shells,
} from './programs.ts';
import { readGit } from './read-git.ts';
import { isDecisive, isZshArray } from './variables.ts';
import {
  fetchingOptions,
  loader,
  type RunnerRow,
  runners,
  runsOthers,
  type WrapperRow,
  wrappers,
} from './wrappers.ts';
import { isZshWord } from './zsh.ts';

/** Folders that contain only the system's own programs. */
const ofTheSystem = /^\/(?:usr\/(?:local\/)?)?s?bin\/[^/]+$|^\/opt\/homebrew\/s?bin\/[^/]+$/;
/** Scripts that set up an environment of Python, as tools of Python write them. */
const ofVenv = /^(?:\.\/)?\.?venv\/bin\/activate$/;
/** Characters that are neither visible nor of a program's usual name. */
const odd = /[^\x21-\x7e]/;
/** In how many characters of a word a program is looked for. */
const longestGuess = 1_000;
/** How deeply commands may be nested in each other's arguments. */
const maxNested = 24;

/**
 * Reads a program with its arguments, and the programs that it starts in turn.
 * @param words Without quotes. Words that are known only at run time have been reported already.
 */
export function readCommand(words: readonly string[], to: Collected, depth = 0): void {
  const [first, ...args] = words;
  if (first === undefined || first === '') return;
  const program = basename(first);
  if (depth > maxNested) to.tooDeep();
  // A program at this path may be anything, whatever its name is. Rules see both names.
  if (first.includes('/') && !ofTheSystem.test(first)) to.add(first, args);
  // Some file systems treat `GIT` as `git`. zsh starts `git` for `=git` and for `zf_git`.
  const other = program.toLowerCase().replace(/^(?:=|zf_)/, '');
  if (ofGnu.has(program)) return readCommand([program.slice(1), ...args], to, depth + 1);
  if (other !== program) readCommand([other, ...args], to, depth + 1);
  if (program.startsWith('-')) to.unclear(`\`${program.slice(0, 80)}\` stands for a program`);
  if (odd.test(program)) to.unclear('a program whose name has unusual characters');
  if (isZshWord(program)) to.unclear(`\`${program.slice(0, 80)}\` is a word of zsh`);
  if (program === 'git') return readGit(args, to);
  to.add(program, args);
  if (onlyLooks(program, args)) return;
  if (/^(?:source|\.)$/.test(program) && args.length === 1 && ofVenv.test(args[0] as string))
    return;
  if (/^apply_?patch$/.test(program)) {
    if (args.length > 1) to.unclear(`\`${program}\` with several words`);
    return to.patch(args[0]);
  }
  const wrapper = wrappers.get(program);
  if (wrapper !== undefined) return readWrapped(program, args, wrapper, to, depth);
  const runner = runners.get(program);
  if (runner !== undefined && readRunner(program, args, runner, to, depth)) return;
  if (shells.has(program)) return readShell(program, args, to);
  if (program === 'eval')
    return to.script((args[0] === '--' ? args.slice(1) : args).join(' '), true);
  if (program === 'trap') return to.script(args.find((word) => !word.startsWith('-')) ?? '', true);
  if (program === 'emulate') return to.script(args[args.indexOf('-c') + 1] ?? '', true);
  if (/^(?:find|fd|fdfind)$/.test(program)) return readFind(program, args, to, depth);
  if (program === 'sed') return readSed(args, to);
  if (/^[gmn]?awk$/.test(program))
    return to.unclear(`\`${program}\` scripts can run commands and write files`);
  readOptions(program, args, to);
  if (runsOthers.has(program) || loader.test(program)) {
    to.unclear(`\`${program}\` can run other commands`);
    return readGuarded(program, args, to, depth);
  }
  readInterpreter(program, args, to);
  if (!plainPrograms.has(program) && !mayLook(program) && !isGuarded(program))
    readGuarded(program, args, to, depth);
}

/** What options and names of variables change. */
function readOptions(program: string, args: readonly string[], to: Collected): void {
  const runs = runningOptions.get(program);
  const running = runs === undefined ? undefined : args.find((word) => runs.test(word));
  if (running !== undefined) to.unclear(`\`${program} ${running.slice(0, 80)}\` runs a command`);
  const names = setters.has(program)
    ? args
    : args.filter((word) => /^\w+(?:\[[^\]]*\])?\+?=/.test(word));
  const set = setters.has(program) || setting.test(program) ? names.find(namesDecisive) : undefined;
  if (set !== undefined) to.unclear(`\`${program} ${set.slice(0, 80)}\` changes what commands do`);
  if (renamers.test(program) && args.some((word) => /^[-+][A-Za-z]*n/.test(word)))
    to.unclear(`\`${program} -n\` gives a variable a second name`);
}

/** Programs that set a variable by a word such as `CC=x`. */
const setting = /^(?:b?make|gmake|just|rake|scons|task|export|declare|typeset|local|readonly)$/;

function namesDecisive(word: string): boolean {
  const name = /^\w*/.exec(word)?.[0] ?? '';
  return isDecisive(name) || isZshArray(name);
}

/**
 * A later word may be what a program runs. Whether it is cannot be known, but rules about that
 * program must see it.
 */
function readGuarded(program: string, args: readonly string[], to: Collected, depth: number): void {
  for (const [at, word] of args.entries()) {
    if (isGuarded(word)) {
      to.unclear(`\`${program}\` may run \`${word}\``);
      return readCommand(args.slice(at), to, depth + 1);
    }
    // A whole command line in one word, or in an option such as `--exec=…`.
    const line =
      /^--?(?=\w*?(?:cmd|command|exec|hook|program|run|shell))\w*=(.+)$/s.exec(word)?.[1] ?? word;
    const starts = line.slice(0, longestGuess).split(/&&|\|\|?|[;&\n]/);
    const first = starts.map((text) => text.trim().split(/\s/, 1)[0] ?? '').find(isGuarded);
    if (first === undefined || first === word) continue;
    to.unclear(`\`${program}\` may run \`${first}\``);
    return to.script(line === first ? [first, ...args.slice(at + 1)].join(' ') : line);
  }
}

/** Skips the wrapper's own words, and reads the command after them. */
function readWrapped(
  program: string,
  args: readonly string[],
  { flags, valued, skip = 0, environment = false }: WrapperRow,
  to: Collected,
  depth: number,
): void {
  let at = 0;
  for (; at < args.length; at++) {
    const word = args[at] as string;
    if (environment && /^[A-Za-z_]\w*=/.test(word)) {
      const name = word.slice(0, word.indexOf('='));
      if (isDecisive(name)) to.unclear(`\`${name}\` changes what commands do`);
      continue;
    }
    if (word === '--') {
      at++;
      break;
    }
    if (!word.startsWith('-') || word === '-') break;
    const letters = word.slice(1);
    const last = letters.at(-1) as string;
    if (/^\d+$/.test(letters) || [...letters].every((letter) => flags.includes(letter))) continue;
    if (valued.includes(letters[0] as string) && letters.length > 1) continue;
    if (valued.includes(last) && [...letters.slice(0, -1)].every((one) => flags.includes(one))) {
      at++;
      continue;
    }
    to.unclear(`\`${program} ${word.slice(0, 80)}\` is not known here`);
    return readGuarded(program, args.slice(at + 1), to, depth);
  }
  const rest = args.slice(at + skip);
  if (program === 'xargs' && !(isPlainXargs(args.slice(0, at)) && mayLookAt(rest, to.listing)))
    to.unclear('`xargs` adds arguments from its input');
  readCommand(rest, to, depth + 1);
}

/** Whether it reads its input, and not a file. */
function isPlainXargs(options: readonly string[]): boolean {
  return !options.some((word) => /^-[0prtx]*a/.test(word));
}

/** Reads the command after `exec` and the like. False if there is none. */
function readRunner(
  program: string,
  args: readonly string[],
  { words, valued }: RunnerRow,
  to: Collected,
  depth: number,
): boolean {
  const start = args.findIndex((word) => words.includes(word));
  const fetching = args.slice(0, start + 1).find((word) => fetchingOptions.test(word));
  if (fetching !== undefined) to.unclear(`\`${program} ${fetching}\` takes code from elsewhere`);
  // Package managers run what they do not know: `pnpm git push`.
  // What precedes it may be code: `bun -e CODE x`.
  if (start > 0) readInterpreter(program, args.slice(0, start), to);
  if (start === -1) {
    const isOwn = (word: string, at: number): boolean =>
      word.startsWith('-') || valued.includes(args[at - 1] ?? '');
    const at = args.findIndex((word, index) => !isOwn(word, index));
    const word = args[at] ?? '';
    if (/^(?:pnpm|yarn|bun)$/.test(program) && word !== 'rm' && isGuarded(word))
      readCommand(args.slice(at), to, depth + 1);
    return false;
  }
  let at = start + 1;
  for (; at < args.length; at++) {
    const word = args[at] as string;
    if (fetchingOptions.test(word)) to.unclear(`\`${program} ${word}\` takes code from elsewhere`);
    if (word === '-c' || word === '--call') to.script(args[at + 1] ?? '');
    else if (word === '-m' || word === '--module') {
      readCommand(['python', ...args.slice(at)], to, depth + 1);
      return true;
    }
    if (!word.startsWith('-') || word === '-') break;
    if (word === '--') {
      at++;
      break;
    }
    if (valued.includes(word)) at++;
  }
  readOptions(program, args, to);
  if (/\.py$/.test(args[at] ?? '') || args[at] === '-') {
    readInterpreter('python', args.slice(at), to);
    return true;
  }
  // `yarn exec 'git push'`
  if (/\s/.test(args[at] ?? '')) to.script(args.slice(at).join(' '));
  else readCommand(args.slice(at), to, depth + 1);
  // The word may have been the value of an option before it.
  if (start > 0) readGuarded(program, args.slice(start + 1), to, depth);
  return true;
}

function readShell(program: string, args: readonly string[], to: Collected): void {
  const at = args.findIndex((word) => /^-(?=[a-zA-Z]*?c)[a-zA-Z]+$/.test(word));
  const text = at === -1 ? undefined : args.slice(at + 1).find((word) => !/^[-+]/.test(word));
  if (text === undefined || program === 'fish')
    return program !== 'fish' && args[0] === '-n' && /^[^-+]/.test(args[1] ?? '')
      ? undefined
      : to.unclear(`\`${program}\` runs a file or its input`);
  if (args.slice(0, at).some((word) => !/^-[a-zA-Z]+$/.test(word)))
    return to.unclear(`\`${program}\` has options that are not known here`);
  to.script(text);
}

function readFind(program: string, args: readonly string[], to: Collected, depth: number): void {
  let first: number | undefined;
  for (const [at, word] of args.entries()) {
    if (!/^-(?:exec|execdir|ok|okdir|x|X)$|^--exec(?:-batch)?$/.test(word)) continue;
    let end = at + 1;
    while (end < args.length && args[end] !== ';' && args[end] !== '+') end++;
    const rest = args.slice(at + 1, end);
    // `find` itself only looks, apart from these commands.
    first ??= at;
    const listing = program === 'find' ? listedByFind(args.slice(0, first)) : 'any';
    if (!mayLookAt(rest, listing))
      to.unclear(`\`${program} ${word}\` runs a command for each file`);
    readCommand(rest, to, depth + 1);
  }
  if (args.some((word) => /^-(?:fprint|fprintf|fls|files0-from)/.test(word)))
    to.unclear(`\`${program}\` writes or reads lists of files`);
}

function readSed(args: readonly string[], to: Collected): void {
  const scripts = args.flatMap((word, at) => (args[at - 1] === '-e' ? [word] : []));
  const operands = args.filter((word) => !word.startsWith('-'));
  // On macOS, the empty word belongs to `-i`, and the script follows.
  const first = operands.slice(0, operands[0] === '' ? 2 : 1).filter((word) => word !== '');
  const own = scripts.length > 0 ? scripts : first;
  const isOdd = args.some((word) => /^-(?!i|n$|e$|E$|r$|s$|z$|u$|nE$|En$|Ei$|ni$)/.test(word));
  if (isOdd || own.some((script) => !isPlainSed(script)))
    to.unclear('`sed` scripts can run commands and write files');
}

/** Modules of Python that run their words, their input or a file of any name as code. */
const codeModules: ReadonlySet<string> = new Set(
  (
    'IPython asyncio bpython bdb cProfile code doctest idlelib jupyter pdb pickle profile ' +
    'ptpython runpy sqlite3 timeit trace'
  ).split(' '),
);

/** Whether a word is code, or the input as a file. */
function isCode(language: string, word: string, before = ''): boolean {
  if (/^(?:\/dev\/(?:stdin|fd\/)|\/proc\/[^/]+\/fd\/)/.test(word)) return true;
  if (!/^(?:python|pypy)$/.test(language)) return false;
  const [, joined] = /^-[A-Za-z]*?m(.*)$/s.exec(word) ?? [];
  return codeModules.has(joined || (/^-[A-Za-z]*m$/.test(before) ? word : ''));
}

function readInterpreter(program: string, args: readonly string[], to: Collected): void {
  const language = languageOf(program);
  const code = interpreters.get(language) ?? interpreters.get(program);
  if (code === undefined) return;
  // Without a file, the code comes from the input.
  const isInput = args.every((word) => /^-(?!-?(?:[hvV]|help|version|test)$)/.test(word));
  if (isInput || args.some((word, at) => code.test(word) || isCode(language, word, args[at - 1])))
    to.unclear(`\`${program}\` runs code that is not a command line`);
}
