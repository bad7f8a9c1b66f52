/**
 * Globs for rules. They match whole texts, case-sensitively, with `*` and `?` as the only
 * wildcards.
 */

const star = -1;
const anyOne = -2;
const surrogate = /[\ud800-\udfff]/;
const loneSurrogate = /\p{Cs}/u;

/**
 * Whether a text matches a glob. `over_budget` means that deciding it would take too many steps,
 * which happens only with a text made for that purpose.
 */
export type GlobAnswer = boolean | 'over_budget';

/** Counts steps, for tests. */
export interface GlobTally {
  steps: number;
}

/**
 * The most steps for a text of this many UTF-16 units. An ordinary text takes about two steps per
 * character.
 */
export function globBudget(textLength: number): number {
  return 10_000 + 8 * textLength;
}

/**
 * The product of both lengths is the worst case of the engine's own search. Up to this product it
 * is fast enough.
 */
const nativeProduct = 10_000_000;

/**
 * Compiles a glob to a test of whole texts. `*` matches any run of characters, including none, line
 * breaks and `/`; `?` matches exactly one character (a code point). Every other character matches
 * itself: there are no escapes, classes or braces. Matching is case-sensitive, by code points,
 * without normalisation. Since the text may come from a model, steps are bounded by
 * {@link globBudget}. Beyond that, the caller decides: a rule that forbids must treat it as a
 * match, and one that permits as no match.
 */
export function compileGlob(glob: string): (text: string, tally?: GlobTally) => GlobAnswer {
  const literal =
    glob.includes('?') || loneSurrogate.test(glob)
      ? undefined
      : compileLiteralParts(glob.split('*'));
  const pattern: number[] = [];
  for (const char of glob) {
    if (char === '*') {
      if (pattern.at(-1) !== star) pattern.push(star);
    } else pattern.push(char === '?' ? anyOne : (char.codePointAt(0) as number));
  }
  return (text, tally) =>
    literal !== undefined && glob.length * text.length <= nativeProduct
      ? literal(text)
      : matchPoints(pattern, points(text), globBudget(text.length), tally);
}

/**
 * Compiles a glob to a test that answers yes or no.
 * @param overBudget the answer for a text that exceeds the budget: true if a match restricts, false
 * if it permits
 */
export function globTest(glob: string, overBudget: boolean): (text: string) => boolean {
  const matches = compileGlob(glob);
  return (text) => {
    const answer = matches(text);
    return answer === 'over_budget' ? overBudget : answer;
  };
}

/**
 * A glob with only `*` has a start, an end, and parts in between that are found one after another.
 * Well-formed parts can only match at character boundaries.
 */
function compileLiteralParts(parts: readonly string[]): (text: string) => boolean {
  const head = parts[0] ?? '';
  if (parts.length === 1) return (text) => text === head;
  const tail = parts.at(-1) as string;
  const between = parts.slice(1, -1).filter((part) => part !== '');
  const shortest = head.length + tail.length;
  return (text) => {
    if (text.length < shortest || !text.startsWith(head) || !text.endsWith(tail)) return false;
    let from = head.length;
    const end = text.length - tail.length;
    for (const part of between) {
      const found = text.indexOf(part, from);
      if (found === -1 || found + part.length > end) return false;
      from = found + part.length;
    }
    return true;
  };
}

function points(text: string): readonly number[] {
  const list: number[] = [];
  if (surrogate.test(text)) for (const char of text) list.push(char.codePointAt(0) as number);
  else for (let index = 0; index < text.length; index++) list.push(text.charCodeAt(index));
  return list;
}

/**
 * The earliest match of each part is always right, so backtracking goes only to the latest star.
 */
function matchPoints(
  pattern: readonly number[],
  text: readonly number[],
  budget: number,
  tally: GlobTally | undefined,
): GlobAnswer {
  let at = 0;
  let sign = 0;
  let afterStar = -1;
  let retryAt = 0;
  let steps = 0;
  let answer: GlobAnswer | undefined;
  while (at < text.length && answer === undefined) {
    const expected = pattern[sign];
    if (++steps > budget) answer = 'over_budget';
    else if (expected === star) {
      afterStar = ++sign;
      retryAt = at;
      if (afterStar === pattern.length) answer = true;
    } else if (expected === anyOne || expected === text[at]) {
      sign++;
      at++;
    } else if (afterStar !== -1) {
      sign = afterStar;
      at = ++retryAt;
    } else answer = false;
  }
  if (tally !== undefined) tally.steps += steps;
  if (answer !== undefined) return answer;
  if (pattern[sign] === star) sign++;
  return sign === pattern.length;
}

/** The texts of a list of globs, if none of them has a wildcard. */
export function literalsIn(globs: unknown): readonly string[] | undefined {
  const list: readonly unknown[] = Array.isArray(globs) ? globs : [globs];
  const isLiteral = (glob: unknown): glob is string =>
    typeof glob === 'string' && !/[*?]/.test(glob);
  return list.every(isLiteral) ? list : undefined;
}
