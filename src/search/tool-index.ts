/** An index of tools by the words that describe them. */
import MiniSearch, { type SearchResult } from 'minisearch';
import { type Searchable, type ToolText, toolText } from './tool-text.ts';
import { type Word, wordsOf } from './words.ts';

/** One tool that a query found. */
export interface Hit<T> {
  readonly tool: T;
  /** From 0 to 1, the share of the best hit's. */
  readonly score: number;
  /** The words of the query that it has, as the query wrote them. */
  readonly why: readonly string[];
}

/** Tools of the type `T`, which is an identity: one that changed is another one. */
export interface ToolIndex<T> {
  /** Makes the index hold exactly these tools. Those that it holds already cost little. */
  hold(tools: Iterable<T>): void;
  /** Adds one tool, unless the index holds it. */
  add(tool: T): void;
  /**
   * The tools among `visible` that a query describes, best first, equal ones in the order of
   * `visible`. A word that only other tools have counts as one that no tool has.
   */
  rank(query: string, visible: readonly T[]): Hit<T>[];
}

/**
 * How much a word counts where it stands. What a tool is called and what it says that it does count
 * twice as much as what it takes.
 */
const boost: Readonly<Record<keyof ToolText, number>> = {
  name: 2,
  description: 2,
  parameters: 1,
  details: 1,
  values: 1,
};
const fields = Object.keys(boost);

/** BM25 with its usual settings. `d` is no part of it: it favours long texts. */
const bm25 = { k: 1.2, b: 0.7, d: 0 };

/** The different words of a query that are looked up. */
const mostWords = 64;
/** Of these, the unknown ones for which similar words are looked up, which costs much more. */
const mostGuesses = 8;
/** What one tool may have to be found by. */
const mostWordsOfATool = 2_000;

/** @param read The searchable part of a tool. */
export function createToolIndex<T extends object>(read: (tool: T) => Searchable): ToolIndex<T> {
  const ids = new Map<T, number>();
  let nextId = 0;
  let index = emptyIndex();
  const add = (tool: T): void => {
    if (ids.has(tool)) return;
    index.add({ id: nextId, ...toolText(read(tool)) });
    ids.set(tool, nextId++);
  };

  return {
    add,

    hold(tools) {
      const wanted = new Set(tools);
      const gone = [...ids.keys()].filter((tool) => !wanted.has(tool));
      // Taking a tool out costs as much as adding one.
      if (gone.length > ids.size / 2) {
        index = emptyIndex();
        ids.clear();
      }
      for (const tool of gone) {
        const id = ids.get(tool);
        // Discarding it by its id alone would leave its words in the statistics.
        if (id !== undefined) index.remove({ id, ...toolText(read(tool)) });
        ids.delete(tool);
      }
      for (const tool of wanted) add(tool);
    },

    rank(query, visible) {
      const tools = new Map<number, T>();
      for (const tool of visible) {
        const id = ids.get(tool);
        if (id !== undefined) tools.set(id, tool);
      }
      const sums = sumOf(index, distinct(wordsOf(query, 4 * mostWords)), tools);
      const ranked = [...sums].map(([id, { points, weight, why }]) => ({
        tool: tools.get(id) as T,
        points: points * weight,
        why,
      }));
      const position = new Map([...tools.values()].map((tool, at) => [tool, at]));
      ranked.sort(
        (a, b) => b.points - a.points || (position.get(a.tool) ?? 0) - (position.get(b.tool) ?? 0),
      );
      const best = ranked[0]?.points ?? 1;
      return ranked.map(({ tool, points, why }) => ({ tool, score: points / best, why }));
    },
  };
}

interface Sum {
  points: number;
  /** How much the found words of the query tell together. */
  weight: number;
  readonly why: string[];
}

/**
 * Adds up what the words of a query say about each tool. A tool that has most of the query's words
 * comes before one that has a single word often, so the sums are weighted by the words found.
 */
function sumOf(
  index: MiniSearch,
  words: readonly Word[],
  tools: ReadonlyMap<number, unknown>,
): Map<number, Sum> {
  const sums = new Map<number, Sum>();
  const isVisible = ({ id }: { readonly id: number }): boolean => tools.has(id);
  const filter = isVisible as (result: object) => boolean;
  const add = (asked: readonly Word[], results: readonly SearchResult[]): ReadonlySet<string> => {
    const counts = new Map<string, number>();
    for (const { queryTerms } of results)
      for (const stem of queryTerms) counts.set(stem, (counts.get(stem) ?? 0) + 1);
    const weights = new Map<string, number>();
    const written = new Map(asked.map((word) => [word.stem, word.written]));
    for (const [stem, count] of counts)
      weights.set(stem, Math.log(1 + (tools.size - count + 0.5) / (count + 0.5)));
    for (const { id, score, terms, queryTerms } of results) {
      let sum = sums.get(id as number);
      if (sum === undefined) {
        sum = { points: 0, weight: 0, why: [] };
        sums.set(id as number, sum);
      }
      // The library multiplies the sum by the number of words, which weighs all words alike.
      sum.points += score / (terms.length || 1);
      for (const stem of queryTerms) {
        sum.weight += weights.get(stem) ?? 0;
        sum.why.push(written.get(stem) ?? stem);
      }
    }
    return new Set(counts.keys());
  };
  const search = (asked: readonly Word[], fuzzy?: (stem: string) => number) =>
    add(
      asked,
      index.search(asked.map(({ stem }) => stem).join(' '), {
        ...exactly,
        filter,
        ...(fuzzy === undefined ? {} : { fuzzy }),
      }),
    );
  const known = search(words);
  const unknown = words.filter(({ stem }) => !known.has(stem) && distanceOf(stem) > 0);
  if (unknown.length > 0) search(unknown.slice(0, mostGuesses), distanceOf);
  return sums;
}

/** How many letters may differ in a word that no tool has. */
function distanceOf(word: string): number {
  return word.length < 4 || word.length > 24 ? 0 : word.length < 6 ? 1 : 2;
}

/** Looks up stems as they are. */
const exactly = {
  tokenize: (stems: string) => stems.split(' '),
  processTerm: (stem: string) => stem,
  boost,
  bm25,
};

function distinct(words: readonly Word[]): Word[] {
  const seen = new Map<string, Word>();
  for (const word of words) {
    if (seen.size >= mostWords) break;
    if (!seen.has(word.stem)) seen.set(word.stem, word);
  }
  return [...seen.values()];
}

function emptyIndex(): MiniSearch {
  return new MiniSearch({
    fields,
    tokenize: (text) => wordsOf(text, mostWordsOfATool).map(({ stem }) => stem),
    processTerm: (stem) => stem,
  });
}
