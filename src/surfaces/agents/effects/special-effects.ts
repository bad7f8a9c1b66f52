/** Commands whose effect depends on more than a list of their words. */
import type { Effect } from './effect.ts';
import type { Found } from './match.ts';
import { operandsOf } from './word-roles.ts';

/** What is known about the files that the words name. */
export interface Files {
  /** Whether something is there. */
  exists(word: string): boolean;
  /** Whether removing it loses nothing: git has it, or a build makes it again. */
  isKept(word: string): boolean;
  /** Whether it is a file with content that would be lost. */
  isPrecious(word: string): boolean;
}

type Words = readonly string[];

/** @param isAlone Whether no other command of the line changes files */
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
    case 'env':
      return operandsOf(words).every((word) => /^[A-Za-z_]\w*=/.test(word)) &&
        !hasLong(words, 'split')
        ? found('prints-secrets', 'prints variables, which may hold secrets')
        : [];
    case 'cp':
    case 'mv':
    case 'install':
    case 'ln':
      return [...copies(program, words, files), ...spreads(program, words)];
    case 'ar':
    case 'gtar':
    case 'jar':
    case 'star':
    case 'tar':
      return words.some((word, at) => (at === 0 ? /^-?[A-Za-z]*x/ : /^-[A-Za-z]*x/).test(word))
        ? found('unpacks', 'writes files that the line does not name')
        : [];
    case 'curl':
      return overwritten(valuesOf(words, /^-[A-Za-z]*o(.*)$|^--output(?:=(.*))?$/), files);
    case 'wget':
      return overwritten(valuesOf(words, /^-[A-Za-z]*O(.*)$|^--output-d[a-z]*(?:=(.*))?$/), files);
    case 'sponge':
    case 'tee':
      return words.some((word) => /^-[A-Za-z]*a|^--app/.test(word))
        ? []
        : overwritten(operandsOf(words), files);
    case 'git':
      return overwritten(outputsOf(words), files);
    case 'sort':
      return overwritten(valuesOf(words, /^-[A-Za-z]*o(.*)$|^--o[a-z]*(?:=(.*))?$/), files);
    default:
      return program.includes('/') && !isInstalled(program)
        ? found('runs-file', 'is a program that the agent may have written')
        : [];
  }
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

/** Of more files, a person looks at the list, whatever they are. */
const mostRemoved = 50;

/** A file that is missing may appear while the line runs. */
function removes(words: Words, files: Files, isAlone: boolean): readonly Found[] {
  const operands = operandsOf(words);
  if (operands.length > mostRemoved) return found('deletes', 'removes many files');
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
    words[0] === 'archive' ? /^-o(.*)$|^--ou[a-z]*(?:=(.*))?$/ : /^--ou[a-z]*()(?:=(.*))?$/,
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
