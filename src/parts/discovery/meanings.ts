/** Ranks tools by meanings, which the host's model computes, together with the words. */

import type { Embed } from '../../api/session-options.ts';
import { createPause } from '../../values/limits/stretches.ts';
import { withDeadline } from '../../values/limits/with-deadline.ts';
import type { Hit } from './rank.ts';

/** The known meanings of tools, by the model that computed them. */
export type Meanings<T extends object> = WeakMap<Embed, Known<T>>;

interface Known<T extends object> {
  /** Lists of length 1, so that the similarity of two is the sum of their products. */
  vectors: WeakMap<T, Float32Array>;
  /** Set while the model is asked about tools. */
  asking: Promise<void> | undefined;
}

/** How many texts are given to the model at a time, and how long each answer may take. */
const batch = 256;
const patienceMs = 10_000;

/**
 * The usual constant of reciprocal rank fusion. It decides how much less each further place counts.
 */
const slope = 60;

/**
 * Fuses the ranking by words with one by meanings. A tool that is high in either is high in the
 * result. The meanings of tools are computed once.
 * @throws what `embed` throws, for an answer that is not one list of numbers for each text, and if
 * it takes too long.
 */
export async function rankByMeaning<T extends object>(
  query: string,
  tools: readonly T[],
  byWords: readonly Hit<T>[],
  textOf: (tool: T) => string,
  embed: Embed,
  meanings: Meanings<T>,
): Promise<Hit<T>[]> {
  let known = meanings.get(embed);
  if (known === undefined) {
    known = { vectors: new WeakMap(), asking: undefined };
    meanings.set(embed, known);
  }
  const about = known;
  // Concurrent calls ask about a tool once, and if the model is not available, none of them waits
  // twice.
  while (about.asking !== undefined) await about.asking;
  about.asking = learn(about, tools, textOf, embed).finally(() => {
    about.asking = undefined;
  });
  await about.asking;
  const [wanted] = await ask(embed, [query]);
  const likeness = await likenessOf(about, tools, wanted as Float32Array);
  return fuse(byWords, tools, likeness);
}

async function learn<T extends object>(
  { vectors }: Known<T>,
  tools: readonly T[],
  textOf: (tool: T) => string,
  embed: Embed,
): Promise<void> {
  const unknown = tools.filter((tool) => !vectors.has(tool));
  for (let at = 0; at < unknown.length; at += batch) {
    const some = unknown.slice(at, at + batch);
    const answers = await ask(embed, some.map(textOf));
    for (const [index, tool] of some.entries()) vectors.set(tool, answers[index] as Float32Array);
  }
}

async function ask(embed: Embed, texts: readonly string[]): Promise<readonly Float32Array[]> {
  const answers: unknown = await withDeadline(Promise.resolve(embed(texts)), patienceMs, () => {
    throw new Error(`embed: expected an answer within ${patienceMs / 1_000} seconds.`);
  });
  if (!Array.isArray(answers) || answers.length !== texts.length)
    throw new TypeError(`embed: expected ${texts.length} lists of numbers, one for each text.`);
  return answers.map(unitOf);
}

/** The same direction with length 1. A list of zeros stays unchanged, and is similar to nothing. */
function unitOf(numbers: unknown): Float32Array {
  const isList =
    Array.isArray(numbers) || numbers instanceof Float32Array || numbers instanceof Float64Array;
  let squares = 0;
  // Counted by hand, because iterators take ten times as long for all tools.
  if (isList)
    for (let index = 0; index < numbers.length; index++)
      squares += typeof numbers[index] === 'number' ? numbers[index] ** 2 : Number.NaN;
  if (!isList || numbers.length === 0 || !Number.isFinite(squares))
    throw new TypeError('embed: expected each text to get a list of finite numbers.');
  const size = Math.sqrt(squares) || 1;
  const unit = new Float32Array(numbers.length);
  for (let index = 0; index < unit.length; index++) unit[index] = (numbers[index] as number) / size;
  return unit;
}

/** The similarity of each tool to the query, from -1 to 1. */
async function likenessOf<T extends object>(
  known: Known<T>,
  tools: readonly T[],
  wanted: Float32Array,
): Promise<Float64Array> {
  const likeness = new Float64Array(tools.length);
  const pause = createPause();
  for (let position = 0; position < tools.length; position++) {
    const vector = known.vectors.get(tools[position] as T);
    if (vector === undefined || vector.length !== wanted.length) {
      // The model has changed, so its earlier results cannot be compared.
      known.vectors = new WeakMap();
      throw new TypeError('embed: expected all lists of numbers to have the same length.');
    }
    let product = 0;
    for (let index = 0; index < wanted.length; index++)
      product += (wanted[index] as number) * (vector[index] as number);
    likeness[position] = product;
    const pausing = pause();
    if (pausing !== undefined) await pausing;
  }
  return likeness;
}

/** Reciprocal rank fusion. Tools with equal similarity have the same place. */
function fuse<T>(
  byWords: readonly Hit<T>[],
  tools: readonly T[],
  likeness: Float64Array,
): Hit<T>[] {
  const points = new Map<T, number>();
  const why = new Map<T, readonly string[]>();
  for (const [place, hit] of byWords.entries()) {
    points.set(hit.tool, 1 / (slope + place));
    why.set(hit.tool, hit.why);
  }
  const byMeaning = [...tools.keys()].sort(
    (a, b) => (likeness[b] as number) - (likeness[a] as number) || a - b,
  );
  let place = 0;
  for (const [at, position] of byMeaning.entries()) {
    const before = byMeaning[at - 1];
    if (before === undefined || likeness[before] !== likeness[position]) place = at;
    const tool = tools[position] as T;
    points.set(tool, (points.get(tool) ?? 0) + 1 / (slope + place));
  }
  const ranked = [...points].sort(([, a], [, b]) => b - a);
  const best = ranked[0]?.[1] ?? 1;
  return ranked.map(([tool, sum]) => ({ tool, score: sum / best, why: why.get(tool) ?? [] }));
}
