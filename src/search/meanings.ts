/** Ranks tools by what a host's model says about meanings, together with the words. */
import type { Hit } from './rank.ts';

/** Says of each text what it means, as a list of numbers. All lists have the same length. */
export type Embed = (texts: readonly string[]) => Promise<readonly (readonly number[])[]>;

/** What is known of the meanings of tools, by the model that said it. */
export type Meanings<T extends object> = WeakMap<Embed, WeakMap<T, readonly number[]>>;

/** How many texts are given to the model at a time. */
const batch = 256;

/** The usual constant of reciprocal rank fusion: how fast a place counts less than the one before. */
const slope = 60;

/**
 * Fuses the ranking by words with one by meanings: what is high in either is high in the result.
 * Meanings of tools are asked for once.
 * @throws what `embed` throws, and for an answer that is not one list of numbers for each text.
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
    known = new WeakMap();
    meanings.set(embed, known);
  }
  const vectors = known;
  const unknown = tools.filter((tool) => !vectors.has(tool));
  for (let at = 0; at < unknown.length; at += batch) {
    const some = unknown.slice(at, at + batch);
    const answers = await ask(embed, some.map(textOf));
    for (const [index, tool] of some.entries()) vectors.set(tool, answers[index] as number[]);
  }
  const [wanted] = await ask(embed, [query]);
  const likeness = new Map(
    tools.map((tool) => [tool, cosine(wanted as number[], vectors.get(tool) as number[])]),
  );
  const byMeaning = [...tools].sort((a, b) => (likeness.get(b) ?? 0) - (likeness.get(a) ?? 0));
  const points = new Map<T, number>();
  const add = (tool: T, place: number): void => {
    points.set(tool, (points.get(tool) ?? 0) + 1 / (slope + place));
  };
  for (const [place, { tool }] of byWords.entries()) add(tool, place);
  for (const [place, tool] of byMeaning.entries()) add(tool, place);
  const why = new Map(byWords.map((hit) => [hit.tool, hit.why]));
  const ranked = [...points].sort(([, a], [, b]) => b - a);
  const best = ranked[0]?.[1] ?? 1;
  return ranked.map(([tool, sum]) => ({ tool, score: sum / best, why: why.get(tool) ?? [] }));
}

async function ask(embed: Embed, texts: readonly string[]): Promise<readonly number[][]> {
  const answers: unknown = await embed(texts);
  if (!Array.isArray(answers) || answers.length !== texts.length)
    throw new TypeError(`embed: expected ${texts.length} lists of numbers, one for each text.`);
  return answers.map((numbers: unknown) => {
    if (!Array.isArray(numbers) || numbers.length === 0 || !numbers.every(Number.isFinite))
      throw new TypeError('embed: expected each text to get a list of finite numbers.');
    return [...(numbers as number[])];
  });
}

/** From -1 to 1. Lists of different lengths, of which one model gives none, have no likeness. */
function cosine(left: readonly number[], right: readonly number[]): number {
  if (left.length !== right.length) return 0;
  let product = 0;
  let leftSquares = 0;
  let rightSquares = 0;
  // Counted by hand: iterators take ten times as long for all tools.
  for (let index = 0; index < left.length; index++) {
    const value = left[index] as number;
    const other = right[index] as number;
    product += value * other;
    leftSquares += value * value;
    rightSquares += other * other;
  }
  const size = Math.sqrt(leftSquares * rightSquares);
  return size > 0 ? product / size : 0;
}
