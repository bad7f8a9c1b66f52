/** Keeps one source from filling the first places of a list. */

/** The places that are shared out at a time, and how many of them one source may have. */
const places = 5;
const mostOfOne = 3;

/**
 * The first hits, in an order in which a source has at most three of each five places while others
 * have something to show.
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
    const round: T[] = [];
    const later: T[] = [];
    for (const hit of waiting) {
      const source = sourceOf(hit);
      const count = source === undefined ? 0 : (taken.get(source) ?? 0);
      if (round.length >= places || count >= mostOfOne) later.push(hit);
      else {
        round.push(hit);
        if (source !== undefined) taken.set(source, count + 1);
      }
    }
    // Places that nobody else can fill.
    ordered.push(...round, ...later.splice(0, places - round.length));
    waiting = later;
  }
  return ordered.slice(0, limit);
}
