/**
 * Every place where `wanted` stands in `items`, overlapping ones too. Linear, whatever a model
 * makes up (Knuth, Morris and Pratt): `indexOf` is not.
 */
export function placesOf<T>(items: ArrayLike<T>, wanted: ArrayLike<T>): number[] {
  if (wanted.length === 0) return [];
  // border[i]: how much of the start of `wanted` is also the end of its first i + 1 items.
  const border = [0];
  for (let at = 1, matched = 0; at < wanted.length; at += 1) {
    while (matched > 0 && wanted[at] !== wanted[matched]) matched = border[matched - 1] as number;
    if (wanted[at] === wanted[matched]) matched += 1;
    border.push(matched);
  }
  const places: number[] = [];
  for (let at = 0, matched = 0; at < items.length; at += 1) {
    while (matched > 0 && items[at] !== wanted[matched]) matched = border[matched - 1] as number;
    if (items[at] === wanted[matched]) matched += 1;
    if (matched < wanted.length) continue;
    places.push(at + 1 - matched);
    matched = border[matched - 1] as number;
  }
  return places;
}

/** Whether a path from a folder matches a pattern of `*`, `?` and `**`. */
export function pathMatches(pattern: string, path: string): boolean {
  return wild(pattern.split('/'), path.split('/'), '**', (segment, name) =>
    wild([...segment], [...name], '*', (mark, char) => mark === '?' || mark === char),
  );
}

/**
 * `star` stands for any run of items. Going back to the last star alone is enough, so it takes no
 * more than pattern × items steps.
 */
function wild(
  pattern: readonly string[],
  items: readonly string[],
  star: string,
  fits: (mark: string, item: string) => boolean,
): boolean {
  let [mark, item, lastStar, retry] = [0, 0, -1, 0];
  while (item < items.length) {
    const here = pattern[mark];
    if (here === star) {
      lastStar = mark;
      retry = item;
      mark += 1;
    } else if (here !== undefined && fits(here, items[item] as string)) {
      mark += 1;
      item += 1;
    } else if (lastStar >= 0) {
      retry += 1;
      item = retry;
      mark = lastStar + 1;
    } else return false;
  }
  return pattern.slice(mark).every((rest) => rest === star);
}
