/** Finds the effects of a command in the tables. */
import { fits } from '../files/file-kind.ts';
import {
  hasExactly,
  hasOption,
  type Invocation,
  invocationOf,
  nextWords,
} from '../shell/invocation.ts';
import type { Effect, EffectRow } from './effect.ts';
import { dataEffects, gitEffects, systemEffects } from './local-effects.ts';
import { networkEffects, packageEffects } from './remote-effects.ts';

/** All tables. */
const effectTables: readonly EffectRow[] = [
  ...dataEffects,
  ...packageEffects,
  ...systemEffects,
  ...networkEffects,
  ...gitEffects,
];

/** An effect of a command, and why, in words that follow the command. */
export interface Found {
  readonly does: Effect;
  readonly because: string;
}

type Words = readonly string[];

interface Pattern {
  readonly does: Effect | 'harmless';
  readonly because: string;
  /** The words that are no options, in their order. Each has one or several readings. */
  readonly words: readonly Words[];
  readonly options: readonly Words[];
  readonly without: Words;
  readonly forms: readonly Words[];
}

interface Line {
  readonly does: Effect | 'harmless';
  readonly because: string;
  /** The pattern without its programs. */
  readonly rest: string;
}

/** The lines of the tables by the name of their program. They are compiled when they are needed. */
const lines = new Map<string, Line[]>();
for (const [does, because, patterns] of effectTables)
  for (const written of patterns.split(/[;\n]/)) {
    const text = written.trim();
    const end = text.indexOf(' ');
    const rest = end === -1 ? '' : text.slice(end + 1);
    const line: Line = { does, because, rest };
    for (const program of (end === -1 ? text : text.slice(0, end)).split('|')) {
      const own = lines.get(program);
      if (own === undefined) lines.set(program, [line]);
      else own.push(line);
    }
  }

function patternOf({ does, because, rest }: Line): Pattern {
  const text = rest === '' ? [] : rest.split(/\s+/);
  const given = (test: RegExp): string[][] =>
    text.filter((word) => test.test(word)).map((word) => word.replace(/^[=!]/, '').split('|'));
  return {
    does,
    because,
    words: given(/^[^-=!]/),
    options: given(/^-/),
    without: given(/^!/).flat(),
    forms: given(/^=/),
  };
}

/** The effects of a program with its words. */
export function effectsOf(program: string, words: Words): readonly Found[] {
  const same = sameAs(program, words);
  const other = installedBy(same.program, same.words);
  const found = effectsOfOne(same.program, same.words);
  return other === undefined ? found : [...found, ...effectsOfOne(other.program, other.words)];
}

function effectsOfOne(program: string, words: Words): readonly Found[] {
  const own = lines.get(program);
  if (own === undefined) return [];
  const invocation = invocationOf(program, words);
  const found = own.map(patternOf).filter((one) => matches(one, invocation, words));
  if (found.some(({ does }) => does === 'harmless')) return [];
  return found as readonly (Pattern & Found)[];
}

function matches(pattern: Pattern, invocation: Invocation, all: Words): boolean {
  const { does, words, options, without, forms } = pattern;
  return (
    options.every((names) => names.some((name) => hasOption(invocation, name))) &&
    !without.some((name) => hasExactly(invocation, name)) &&
    forms.every((ones) => all.some((word) => ones.some((one) => fits(word.toLowerCase(), one)))) &&
    hasWords(words, 0, invocation, 0, does === 'harmless')
  );
}

/** @param isStrict Whether no word may be read in two ways. */
function hasWords(
  words: readonly Words[],
  at: number,
  invocation: Invocation,
  from: number,
  isStrict: boolean,
): boolean {
  const wanted = words[at];
  if (wanted === undefined) return true;
  const next = nextWords(invocation, from);
  if (wanted[0] === '0') return next.length === 0;
  if (isStrict && next.length > 1) return false;
  const fitting = next.filter((place) => {
    const text = invocation.parts[place]?.text.toLowerCase() ?? '';
    return wanted.some((one) => one === '+' || fits(text, one));
  });
  // The first leaves the most words to choose from; the last may be the only one that is no value.
  const [first] = fitting;
  const last = fitting.at(-1);
  if (first === undefined || last === undefined) return false;
  if (hasWords(words, at + 1, invocation, first + 1, isStrict)) return true;
  return last !== first && hasWords(words, at + 1, invocation, last + 1, isStrict);
}

// Commands that are other names of a command: modules of an interpreter, versions, toolchains.

/** A command that another one stands for. */
interface Same {
  readonly program: string;
  readonly words: readonly string[];
}

/** Most names that are followed. */
const maxNames = 4;

export function sameAs(program: string, words: readonly string[]): Same {
  let same: Same = { program: plainName(program), words };
  for (let left = maxNames; left > 0; left--) {
    const next = nextName(same);
    if (next === undefined) break;
    same = { program: plainName(next.program), words: next.words };
  }
  return same;
}

/** Without a version: `python3.12`, `pip3`, `terraform1.5`. */
function plainName(program: string): string {
  return program.replace(/^(python|pypy|pip|gem|ruby|php|node|terraform|lua|perl)[\d.]+$/, '$1');
}

function nextName({ program, words }: Same): Same | undefined {
  const [first = '', second] = words;
  if (program === 'npm') return npmCommand(words);
  if (program === 'ruby' && first === '-S' && second !== undefined)
    return { program: second, words: words.slice(2) };
  if (program === 'cargo' && first === 'sqlx') return { program: first, words: words.slice(1) };
  if (program === 'python' || program === 'pypy') return moduleOf(words);
  if (first.startsWith('+') && /^(?:cargo|rustc|rustdoc)$/.test(program))
    return { program, words: words.slice(1) };
  if (program === 'yarn' && first === 'npm') return { program: 'npm', words: words.slice(1) };
  if (program === 'yarn' && first === 'workspace') return { program, words: words.slice(2) };
  if (program === 'yarn' && first === 'workspaces' && /^(?:foreach|run)$/.test(second ?? '')) {
    const at = words.indexOf('npm');
    return { program, words: at === -1 ? withoutOptions(words.slice(2)) : words.slice(at) };
  }
  if (program === 'uv' && first === 'pip') return { program: 'pip', words: words.slice(1) };
  if (program === 'docker' && first === 'compose')
    return { program: 'docker-compose', words: words.slice(1) };
  if (
    /^(?:php|ruby|node)$/.test(program) &&
    /^(?:.*\/)?(?:artisan|console|rails|rake)$/.test(first)
  )
    return { program: first.slice(first.lastIndexOf('/') + 1), words: words.slice(1) };
  if (installedRunners.has(program) && first === 'run' && second?.startsWith('-') === false)
    return second.endsWith('.py')
      ? { program: 'python', words: words.slice(1) }
      : { program: second, words: words.slice(2) };
  return undefined;
}

function withoutOptions(words: readonly string[]): readonly string[] {
  const at = words.findIndex((word) => !word.startsWith('-'));
  return at === -1 ? [] : words.slice(at);
}

/**
 * Package managers that run what the project has installed, if they have no command of that name:
 * `pnpm prisma migrate`.
 */
function installedBy(program: string, words: readonly string[]): Same | undefined {
  if (!/^(?:pnpm|yarn|bun)$/.test(program)) return undefined;
  const [name, ...rest] = withoutOptions(words);
  return name === undefined ? undefined : { program: name, words: rest };
}

/** Commands of npm that rules are about, with the shortest text for which npm takes each. */
const npmCommands = new Map(
  `access:ac deprecate:dep exec:ex install-test:install-t init:ini innit:inn publish:pu owner:ow
  create:cr profile:pro undeprecate:unde unpublish:unp login:logi logout:logo token:to trust:tr
  author:au team:tea adduser:addu approve-scripts:ap rebuild:reb config:con`
    .split(/\s+/)
    .map((row) => row.split(':') as [string, string]),
);
const npmNames: ReadonlyMap<string, string> = new Map([
  ['it', 'install'],
  ['sit', 'ci'],
  ['cit', 'ci'],
  ['ic', 'ci'],
  ['install-test', 'install'],
  ['install-clean', 'ci'],
  ['clean-install', 'ci'],
]);

/** `npm publ` is `npm publish`. */
function npmCommand(words: readonly string[]): Same | undefined {
  for (const [at, word] of words.entries()) {
    if (word.startsWith('-')) continue;
    const full = [...npmCommands].find(
      ([name, least]) => word !== name && word.startsWith(least) && name.startsWith(word),
    )?.[0];
    const name = npmNames.get(full ?? word) ?? full;
    if (name !== undefined)
      return { program: 'npm', words: [...words.slice(0, at), name, ...words.slice(at + 1)] };
    if (!words[at - 1]?.startsWith('-')) return undefined;
  }
  return undefined;
}

/** Runners of what the project has installed: the words after `run` are a command of its own. */
const installedRunners = new Set(['poetry', 'pipenv', 'pdm', 'hatch', 'rye', 'uv']);

/** `python -m twine upload`, `python -Im twine upload`, `python -mtwine upload`. */
function moduleOf(words: readonly string[]): Same | undefined {
  for (let at = 0; at < words.length; at++) {
    const word = words[at] as string;
    if (/^-[WX]$/.test(word)) at++;
    else if (!word.startsWith('-')) {
      // A script: `python manage.py flush`.
      const name = word.slice(word.lastIndexOf('/') + 1);
      return /^(?:manage|setup)\.py$/.test(name)
        ? { program: name, words: words.slice(at + 1) }
        : undefined;
    }
    const [, joined] = /^-[A-Za-z]*?m(.*)$/s.exec(word) ?? [];
    if (joined === undefined || word.startsWith('--')) continue;
    const module = joined === '' ? words[at + 1] : joined;
    if (module === undefined) return undefined;
    return {
      program: module.replace(/\.__main__$/, ''),
      words: words.slice(at + (joined === '' ? 2 : 1)),
    };
  }
  return undefined;
}
