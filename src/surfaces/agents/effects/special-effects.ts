/** Commands whose effect depends on more than a list of their words. */

import { onlyLooks } from '../shell/looking-programs.ts';
import { isPlainVariable } from '../shell/variables.ts';
import type { Effect } from './effect.ts';
import type { Found } from './match.ts';
import { operandsOf } from './word-roles.ts';

/** What is known about the files that the words name. */
export interface Files {
  /** Whether something is there. */
  exists(word: string): boolean;
  /** Whether removing it loses nothing: git has it, or a build makes it again. */
  isKept(word: string): boolean;
  /** Whether files with a name like this are made by builds and tests. */
  isMade(name: string): boolean;
  /** Whether it is a file with content that would be lost. */
  isPrecious(word: string): boolean;
}

type Words = readonly string[];

/** @param isAlone Whether no other command of the line may put a file of value at another place */
export function specialEffects(
  program: string,
  words: Words,
  files: Files,
  isAlone: boolean,
): readonly Found[] {
  switch (program) {
    case 'rm':
    case 'unlink':
      return removes(words, files, isAlone);
    case 'find':
      return findsToDelete(words, files) ? found('deletes', 'removes files') : [];
    case 'declare':
    case 'export':
    case 'local':
    case 'readonly':
    case 'set':
    case 'typeset':
      return words.length === 0 || words.includes('-p')
        ? found('prints-secrets', 'prints variables, which may hold secrets')
        : [];
    case 'kill':
      return kills(words) ? found('changes-system', 'ends processes') : [];
    case 'printenv':
      return words.length > 0 && words.every(isPlainVariable)
        ? []
        : found('prints-secrets', 'prints variables, which may hold secrets');
    case 'env':
      return operandsOf(words).every((word) => /^[A-Za-z_]\w*=/.test(word)) &&
        !hasLong(words, 'split')
        ? found('prints-secrets', 'prints variables, which may hold secrets')
        : [];
    case 'cp':
    case 'mv':
    case 'install':
    case 'ln':
    case 'rsync':
    case 'scp':
      return [...copies(program, words, files), ...spreads(program, words)];
    case 'ar':
    case 'jar':
    case 'star':
    case 'tar':
      return words.some((word, at) => (at === 0 ? /^-?[A-Za-z]*x/ : /^-[A-Za-z]*x/).test(word))
        ? found('unpacks', 'writes files that the line does not name')
        : overwritten(archivesOf(words), files);
    default:
      if (program.includes('/') && !isInstalled(program))
        return found('runs-file', 'is a program that the agent may have written');
      return overwritten(targets.get(program)?.(words) ?? [], files);
  }
}

/** The files that programs write to, without adding to them. */
const targets: ReadonlyMap<string, (words: Words) => Words> = new Map<
  string,
  (words: Words) => Words
>([
  ...['base64', 'cpio', 'iconv', 'openssl'].map(
    (program) =>
      [
        program,
        (words: Words) => valuesOf(words, /^-(?:out|[oO](?!ut$)(.*))$|^--o[a-z]*(?:=(.*))?$/s),
      ] as const,
  ),
  ['curl', (words) => valuesOf(words, /^-[A-Za-z]*o(.*)$|^--output(?:=(.*))?$/s)],
  ['git', outputsOf],
  ['sort', (words) => valuesOf(words, /^-[A-Za-z]*o(.*)$|^--o[a-z]*(?:=(.*))?$/s)],
  ['sponge', teesTo],
  ['tee', teesTo],
  ['uniq', (words) => (onlyLooks('uniq', words) ? [] : operandsOf(words).slice(1))],
  ['wget', (words) => valuesOf(words, /^-[A-Za-z]*O(.*)$|^--output-d[a-z]*(?:=(.*))?$/s)],
  ['xxd', (words) => (onlyLooks('xxd', words) ? [] : operandsOf(words).slice(1))],
  ['zip', (words) => operandsOf(words).slice(0, 1)],
]);

function teesTo(words: Words): Words {
  return words.some((word) => /^-[A-Za-z]*a|^--app/.test(word)) ? [] : operandsOf(words);
}

function found(does: Effect, because: string): readonly Found[] {
  return [{ does, because }];
}

function hasLong(words: Words, beginning: string): boolean {
  return words.some((word) => word.startsWith(`--${beginning}`) || /^-[A-Za-z]*S/.test(word));
}

/** Programs that packages and build tools have put there. */
function isInstalled(program: string): boolean {
  return (
    /(?:^|\/)(?:node_modules\/\.bin|vendor\/bin|\.?venv\/bin)\/[^/]+$/.test(program) ||
    /^\.\/(?:gradlew|mvnw)$/.test(program)
  );
}

/** The archive that is created: the word after `f`. */
function archivesOf(words: Words): readonly string[] {
  const creates = (word: string, at: number): boolean =>
    (at === 0 ? /^-?[A-Za-z]*c/ : /^-[A-Za-z]*c|^--cr/).test(word);
  if (!words.some(creates)) return [];
  const named = valuesOf(words, /^-[A-Za-z]*f(.*)$|^--file(?:=(.*))?$/s);
  const isJoined = /^(?=[A-Za-z]*?f)[A-Za-z]+$/.test(words[0] ?? '');
  return isJoined ? [...named, ...words.slice(1, 2)] : named;
}

/** `find . -name '*.pyc' -delete` removes only what is made again. */
function findsToDelete(words: Words, files: Files): boolean {
  const end = words.indexOf('-delete');
  if (end === -1) return false;
  const names = words.slice(0, end).filter((_, at) => words[at - 1] === '-name');
  if (names.length === 0 || !names.every((name) => files.isMade(name))) return true;
  const isOdd = words.some((word) => /^(?:-o|-or|,|!|-not)$/.test(word));
  return isOdd || words.indexOf('-delete', end + 1) !== -1;
}

/** Of more files, a person looks at the list, whatever they are. */
const maxRemoved = 50;

/** A file that is missing may appear while the line runs. */
function removes(words: Words, files: Files, isAlone: boolean): readonly Found[] {
  const operands = operandsOf(words);
  if (operands.length > maxRemoved) return found('deletes', 'removes many files');
  const lost = operands.find((word) => !files.isKept(word) && !(isAlone && !files.exists(word)));
  return lost === undefined ? [] : found('deletes', `removes \`${lost.slice(0, 80)}\``);
}

/** Jobs of the same shell may be ended. `kill -l` and `kill -0` end nothing. */
function kills(words: Words): boolean {
  if (words.some((word) => /^(?:-0|-l|-L|--list|--table)$/.test(word))) return false;
  const operands = words.filter((word, at) => !(at === 0 && /^-[A-Za-z]/.test(word)));
  return operands.some((word) => !/^(?:%|-s$|-n$|--$)/.test(word));
}

/** A file that exists is replaced by another one. */
function copies(program: string, words: Words, files: Files): readonly Found[] {
  if (words.some((word) => /^-[A-Za-z]*[nib]|^--(?:no-cl|int|backup)/.test(word))) return [];
  if (program === 'ln' && !words.some((word) => /^-[A-Za-z]*f|^--f/.test(word))) return [];
  const operands = operandsOf(words);
  const to = operands.at(-1);
  if (to === undefined || operands.length < 2) return [];
  const sources = operands.slice(0, -1).map((source) => source.slice(source.lastIndexOf('/') + 1));
  return overwritten([to, ...sources.map((name) => `${to}/${name}`)], files);
}

/** The files to which git writes instead of to its output. */
function outputsOf(words: Words): readonly string[] {
  return valuesOf(
    words,
    words[0] === 'archive' ? /^-o(.*)$|^--ou[a-z]*(?:=(.*))?$/s : /^--ou[a-z]*()(?:=(.*))?$/s,
  );
}

export function overwritten(words: Words, files: Files): readonly Found[] {
  const lost = words.find((word) => files.isPrecious(word));
  return lost === undefined
    ? []
    : found('overwrites', `replaces what is in \`${lost.slice(0, 80)}\``);
}

/** `cp -r x/. .` writes files that the line does not name. */
function spreads(program: string, words: Words): readonly Found[] {
  const isAll = operandsOf(words)
    .slice(0, -1)
    .some((word) => /\/\.$|^\.$/.test(word));
  const isWhole =
    program === 'cp' &&
    words.some((word) => /^-[A-Za-z]*[rRaT]|^--(?:recursive|archive|no-target)/.test(word)) &&
    operandsOf(words)
      .slice(0, -1)
      .some((word) => word.endsWith('/'));
  return isAll || isWhole ? found('unpacks', 'writes files that the line does not name') : [];
}

/** The values of an option, joined to it or as the next word. */
function valuesOf(words: Words, option: RegExp): readonly string[] {
  return words.flatMap((word, at) => {
    const match = option.exec(word);
    if (match === null) return [];
    const value = match[1] || match[2] || words[at + 1];
    return value === undefined ? [] : [value];
  });
}
