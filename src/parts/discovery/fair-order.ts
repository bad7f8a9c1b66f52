/** Keeps sources from filling the first places of a list. */

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
