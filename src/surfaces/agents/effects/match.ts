/** Finds the effects of a command in the tables. */
import { fits } from '../files/name-patterns.ts';
import {
  hasExactly,
  hasOption,
  type Invocation,
  invocationOf,
  nextWords,
} from '../shell/invocation.ts';
import { dataEffects } from './data-effects.ts';
import type { Effect, EffectRow } from './effect.ts';
import { gitEffects } from './git-effects.ts';
import { networkEffects } from './network-effects.ts';
import { packageEffects } from './package-effects.ts';
import { installedBy, sameAs } from './same-as.ts';
import { systemEffects } from './system-effects.ts';

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
