/** An index of tools by the words that describe them. */

import { type Searchable, type ToolText, toolText } from './tool-text.ts';
import { type KnownWords, lettersOf, wordsOf } from './words.ts';

/**
 * The weight of a word by its place. Words of a tool's name and description count twice as much as
 * those of its parameters.
 */
const weights: Readonly<Record<keyof ToolText, number>> = {
  name: 2,
  description: 2,
  parameters: 1,
  details: 1,
  values: 1,
};
const fields = Object.keys(weights) as (keyof ToolText)[];

/** A word, and the tools that contain it. */
export interface Term {
  readonly stem: string;
  readonly letters: number;
  /** The ids of the tools that contain it. */
  readonly places: number[];
  /** How often each of them contains it. */
  readonly times: number[];
}

/** Holds tools of the type `T`, by identity. A changed tool is another one. */
export interface ToolIndex<T> {
  /** Makes the index hold exactly these tools. Tools that it already holds cost little. */
  hold(tools: Iterable<T>): void;
  /** Adds one tool, unless the index holds it. */
  add(tool: T): void;
  /** The words of the tools that it holds. Some of their entries may belong to removed tools. */
  readonly terms: ReadonlyMap<string, Term>;
  /** The id of each tool, from 0. */
  readonly ids: ReadonlyMap<T, number>;
  /** How many ids have been assigned. */
  size(): number;
  /** How many different words each tool has, by id. */
  readonly lengths: readonly number[];
  /** Changes with the ids. */
  version(): number;
}

/** Most words of each text of a tool that are indexed. */
const maxWordsOfATool = 2_000;

/** Up to this many tools may be gone before their entries are removed. */
const fewGone = 64;

/**
 * Longer than 60 lines, since its functions share the terms and the ids.
 * @param read The searchable part of a tool.
 */
export function createToolIndex<T extends object>(read: (tool: T) => Searchable): ToolIndex<T> {
  const terms = new Map<string, Term>();
  const ids = new Map<T, number>();
  const lengths: number[] = [];
  const known: KnownWords = new Map();
  let nextId = 0;
  let version = 0;

  const add = (tool: T): void => {
    if (ids.has(tool)) return;
    const text = toolText(read(tool));
    const id = nextId++;
    ids.set(tool, id);
    version++;
    const counts = new Map<string, number>();
    for (const field of fields)
      for (const { stem } of wordsOf(text[field], maxWordsOfATool, known))
        counts.set(stem, (counts.get(stem) ?? 0) + weights[field]);
    lengths[id] = counts.size;
    for (const [stem, times] of counts) {
      let term = terms.get(stem);
      if (term === undefined) {
        term = { stem, letters: lettersOf(stem), places: [], times: [] };
        terms.set(stem, term);
      }
      term.places.push(id);
      term.times.push(times);
    }
  };

  /** Gives the remaining tools new ids, and removes the entries of those that are gone. */
  const clear = (): void => {
    const moved = new Map<number, number>();
    for (const [tool, id] of ids) {
      moved.set(id, moved.size);
      ids.set(tool, moved.size - 1);
    }
    for (const [stem, { places, times }] of terms) {
      let kept = 0;
      for (const [at, place] of places.entries()) {
        const id = moved.get(place);
        if (id === undefined) continue;
        places[kept] = id;
        times[kept++] = times[at] as number;
      }
      places.length = kept;
      times.length = kept;
      if (kept === 0) terms.delete(stem);
    }
    for (const [from, to] of moved) lengths[to] = lengths[from] as number;
    nextId = moved.size;
    lengths.length = nextId;
    version++;
  };

  return {
    add,
    terms,
    ids,
    lengths,
    size: () => nextId,
    version: () => version,

    hold(tools) {
      const wanted = new Set(tools);
      for (const tool of ids.keys()) if (!wanted.has(tool)) ids.delete(tool);
      if (nextId - ids.size > fewGone + ids.size / 4) clear();
      for (const tool of wanted) add(tool);
    },
  };
}
