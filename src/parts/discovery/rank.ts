/** Ranks the tools that a session may be shown by the words of a query. */
import type { Part, Scope } from './scope.ts';
import type { Term } from './tool-index.ts';
import {
  differenceBetween,
  differenceOf,
  lettersOf,
  mayBeSimilar,
  type Word,
  wordsOf,
} from './words.ts';

/** One tool that a query found. */
export interface Hit<T> {
  readonly tool: T;
  /** From 0 to 1, relative to the best hit. */
  readonly score: number;
  /** The words of the query that occur in it, as the query wrote them. */
  readonly why: readonly string[];
}

/** BM25 with its usual settings. */
const slope = 1.2;
const lengthShare = 0.75;
/** The weight of a similar word, before its differences are subtracted. */
const similarShare = 0.45;

/** Most different words of a query that are looked up. */
const maxWords = 64;
/** Most unknown words for which similar words are looked up, which costs much more. */
const maxGuesses = 8;
/** Most places at which one query looks. Beyond this, its most common words do not count. */
const maxPlaces = 200_000;
/**
 * Most words that are compared with unknown ones, first by their set of letters and then letter by
 * letter.
 */
const maxGlances = 500_000;
const maxComparisons = 10_000;

/** All tools of a scope that a query describes, best first. Equal ones are in the scope's order. */
export function rankTools<T>(scope: Scope<T>, query: string): Hit<T>[] {
  const found = look(scope, query);
  const ranked = found.positions.sort(found.compare);
  return hitsOf(scope, found, ranked);
}

/**
 * The best tools of a scope, ordered so that no source fills the first places.
 * @param sourceOf The source of a tool; undefined for tools that have no such limit.
 */
export function bestTools<T>(
  scope: Scope<T>,
  query: string,
  limit: number,
  sourceOf: (tool: T) => string | undefined,
): Hit<T>[] {
  const found = look(scope, query);
  const { tools } = scope;
  // Sorting thousands of hits takes longer than finding them. One source fills no more than
  // `limit`.
  const bySource = new Map<string | undefined, number[]>();
  for (const position of found.positions) {
    const source = sourceOf(tools[position] as T);
    let best = bySource.get(source);
    if (best === undefined) {
      best = [];
      bySource.set(source, best);
    }
    if (best.length === limit && found.compare(position, best.at(-1) as number) >= 0) continue;
    let at = best.length;
    while (at > 0 && found.compare(position, best[at - 1] as number) < 0) at--;
    best.splice(at, 0, position);
    if (best.length > limit) best.pop();
  }
  const ranked = [...bySource.values()].flat().sort(found.compare);
  return hitsOf(
    scope,
    found,
    fairOrder(ranked, limit, (position) => sourceOf(tools[position] as T)),
    ranked[0],
  );
}

/** The scores of a query for the tools of a scope, by their positions. */
interface Found {
  /** The tools that contain one of its words. */
  readonly positions: number[];
  readonly points: Float64Array;
  readonly compare: (left: number, right: number) => number;
  /** The words of the query, and which of them each tool contains: two 32-bit numbers per tool. */
  readonly asked: readonly Word[];
  readonly marks: Int32Array;
}

function hitsOf<T>(
  { tools }: Scope<T>,
  { points, asked, marks }: Found,
  ranked: readonly number[],
  first = ranked[0],
): Hit<T>[] {
  const best = first === undefined ? 1 : (points[first] as number);
  return ranked.map((position) => ({
    tool: tools[position] as T,
    score: (points[position] as number) / best,
    why: asked
      .filter((_, word) => ((marks[2 * position + (word >> 5)] as number) >>> (word & 31)) & 1)
      .map(({ written }) => written),
  }));
}

/** Adds the scores of a query's words for each tool. */
function look<T>(scope: Scope<T>, query: string): Found {
  const asked = distinct(wordsOf(query, 4 * maxWords));
  const count = scope.tools.length;
  const points = new Float64Array(count);
  const marks = new Int32Array(2 * count);
  const positions: number[] = [];
  const search = { scope, points, marks, positions };
  const unknown: number[] = [];
  const tooCommon = commonest(scope, asked);
  for (let word = 0; word < asked.length; word++) {
    if (tooCommon.has(word)) continue;
    const { stem } = asked[word] as Word;
    if (!addTerm(search, word, termsOf(scope, stem), 1)) unknown.push(word);
  }
  const left = { glances: maxGlances, comparisons: maxComparisons };
  let guesses = 0;
  for (const word of unknown) {
    const { stem } = asked[word] as Word;
    if (differenceOf(stem) === 0) continue;
    if (++guesses > maxGuesses) break;
    for (const [other, difference] of similarTo(scope, stem, left)) {
      const share = (similarShare * other.length) / (other.length + difference);
      addTerm(search, word, termsOf(scope, other), share);
    }
  }
  const compare = (left: number, right: number): number =>
    (points[right] as number) - (points[left] as number) || left - right;
  return { positions, points, compare, asked, marks };
}

interface Search<T> {
  readonly scope: Scope<T>;
  readonly points: Float64Array;
  readonly marks: Int32Array;
  readonly positions: number[];
}

/** Adds the score of one word for the tools that contain it. False if no tool of the scope does. */
function addTerm<T>(
  { scope, points, marks, positions }: Search<T>,
  word: number,
  terms: readonly (Term | undefined)[],
  share: number,
): boolean {
  const { parts, length: meanLength, tools } = scope;
  let having = 0;
  for (const [part, term] of terms.entries()) {
    const { positions: here } = parts[part] as Part<T>;
    for (const id of term?.places ?? []) if ((here[id] as number) >= 0) having++;
  }
  const value = share * rarity(having, tools.length) * (slope + 1);
  const half = word >> 5;
  const bit = 1 << (word & 31);
  for (const [part, term] of terms.entries()) {
    if (term === undefined) continue;
    const { positions: here, index } = parts[part] as Part<T>;
    for (let at = 0; at < term.places.length; at++) {
      const id = term.places[at] as number;
      const position = here[id] as number;
      if (position < 0) continue;
      const times = term.times[at] as number;
      const length = (index.lengths[id] as number) / meanLength;
      (points[position] as number) +=
        (value * times) / (times + slope * (1 - lengthShare + lengthShare * length));
      const mark = 2 * position;
      if (marks[mark] === 0 && marks[mark + 1] === 0) positions.push(position);
      (marks[mark + half] as number) |= bit;
    }
  }
  return having > 0;
}

/** How much a word tells that so many of the tools have. */
function rarity(having: number, tools: number): number {
  return Math.log(1 + (tools - having + 0.5) / (having + 0.5));
}

function termsOf<T>({ parts }: Scope<T>, stem: string): (Term | undefined)[] {
  return parts.map(({ index }) => index.terms.get(stem));
}

/**
 * The words that are left out, because a query has too many words that thousands of tools contain.
 */
function commonest<T>(scope: Scope<T>, asked: readonly Word[]): ReadonlySet<number> {
  const sizes = asked.map(({ stem }) =>
    termsOf(scope, stem).reduce((sum, term) => sum + (term?.places.length ?? 0), 0),
  );
  const left = new Set<number>();
  let places = sizes.reduce((sum, size) => sum + size, 0);
  if (places <= maxPlaces) return left;
  const common = [...sizes.keys()].sort((a, b) => (sizes[b] as number) - (sizes[a] as number));
  for (const word of common) {
    // One word is always looked up, however common it is.
    if (places <= maxPlaces || left.size === common.length - 1) break;
    left.add(word);
    places -= sizes[word] as number;
  }
  return left;
}

/** Words that nearly equal one that no tool contains, with the number of differences. */
function similarTo<T>(
  { parts }: Scope<T>,
  stem: string,
  left: { glances: number; comparisons: number },
): Map<string, number> {
  const most = differenceOf(stem);
  const letters = lettersOf(stem);
  const similar = new Map<string, number>();
  for (const { index } of parts) {
    for (const term of index.terms.values()) {
      if (left.glances-- <= 0) return similar;
      if (Math.abs(term.stem.length - stem.length) > most || term.stem === stem) continue;
      if (!mayBeSimilar(term.letters, letters, most)) continue;
      if (left.comparisons-- <= 0) return similar;
      const difference = differenceBetween(stem, term.stem, most);
      if (difference !== undefined) similar.set(term.stem, difference);
    }
  }
  return similar;
}

function distinct(words: readonly Word[]): Word[] {
  const seen = new Map<string, Word>();
  for (const word of words) {
    if (seen.size >= maxWords) break;
    if (!seen.has(word.stem)) seen.set(word.stem, word);
  }
  return [...seen.values()];
}

// Keeps sources from filling the first places of a list.

/** The number of places that are shared at a time. */
const places = 5;
/** How many of them one source may have, and all sources together. */
const maxOfOne = 3;
const maxOfAll = 4;

/**
 * The first hits. Of each five places, a source has at most three and all sources together four, as
 * long as others have hits.
 * @param sourceOf The source of a hit; undefined for hits that have no such limit.
 */
export function fairOrder<T>(
  hits: readonly T[],
  limit: number,
  sourceOf: (hit: T) => string | undefined,
): readonly T[] {
  const ordered: T[] = [];
  let waiting = hits;
  while (waiting.length > 0 && ordered.length < limit) {
    const taken = new Map<string, number>();
    let ofAll = 0;
    const round: T[] = [];
    const later: T[] = [];
    for (const hit of waiting) {
      const source = sourceOf(hit);
      const count = source === undefined ? 0 : (taken.get(source) ?? 0);
      const isOver = source !== undefined && (count >= maxOfOne || ofAll >= maxOfAll);
      if (round.length >= places || isOver) later.push(hit);
      else {
        round.push(hit);
        if (source === undefined) continue;
        taken.set(source, count + 1);
        ofAll++;
      }
    }
    // Places that no other source can fill.
    ordered.push(...round, ...later.splice(0, places - round.length));
    waiting = later;
  }
  return ordered.slice(0, limit);
}
