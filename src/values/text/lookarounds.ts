/**
 * Patterns whose lookarounds are at their beginning or their end. Each of them is tested on its
 * own, so that an engine without lookaround can run the whole pattern.
 */

/** Patterns that together mean the same as one pattern with lookarounds. */
export interface SplitPattern {
  /** Each of these must match. */
  readonly all: readonly string[];
  /** None of these may match. */
  readonly none: readonly string[];
}

/**
 * Splits a pattern such as `^(?!\.)(?=.*\d)\S+(?<!-)$`. Lookaheads right after the first `^` and
 * lookbehinds right before the last `$` apply to one place of the text. So `^(?=A)B` matches
 * exactly if both `^A` and `^B` do. Undefined for a pattern with other lookarounds, or without any.
 */
export function splitLookarounds(source: string): SplitPattern | undefined {
  if (!/\(\?<?[=!]/.test(source)) return undefined;
  const known = rewritten.get(source);
  if (known !== undefined) return { all: [known], none: [] };
  const groups = groupsOf(source);
  if (groups === undefined) return undefined;
  const all: string[] = [];
  const none: string[] = [];
  let start = 0;
  if (source.startsWith('^')) {
    start = 1;
    for (const { from, to } of groups) {
      if (from !== start || !/^\(\?[=!]/.test(source.slice(from))) break;
      (source[from + 2] === '=' ? all : none).push(`^(?:${source.slice(from + 3, to - 1)})`);
      start = to;
    }
  }
  let end = source.length;
  if (source.endsWith('$')) {
    end--;
    for (const { from, to } of groups.toReversed()) {
      // A `$` that is escaped does not follow a group directly.
      if (to !== end || from < start || !/^\(\?<[=!]/.test(source.slice(from))) break;
      (source[from + 3] === '=' ? all : none).push(`(?:${source.slice(from + 4, to - 1)})$`);
      end = from;
    }
  }
  if (all.length + none.length === 0) return undefined;
  const [first, last] = [source.startsWith('^') ? '^' : '', source.endsWith('$') ? '$' : ''];
  return { all: [...all, first + source.slice(start, end) + last], none };
}

interface Group {
  readonly from: number;
  /** Behind the closing parenthesis. */
  readonly to: number;
}

/**
 * The outermost groups, in order. Undefined if a `|` is outside of them, because anchors then
 * belong to single alternatives, or if a lookaround is repeated.
 */
function groupsOf(source: string): readonly Group[] | undefined {
  const groups: Group[] = [];
  let depth = 0;
  let from = 0;
  let inClass = false;
  for (let at = 0; at < source.length; at++) {
    const char = source[at] as string;
    if (char === '\\') at++;
    else if (inClass) inClass = char !== ']';
    else if (char === '[') inClass = true;
    else if (char === '(') {
      if (depth++ === 0) from = at;
    } else if (char === ')') {
      if (--depth < 0) return undefined;
      if (depth > 0) continue;
      if (/^\(\?<?[=!]/.test(source.slice(from, from + 4)) && /[*+?{]/.test(source[at + 1] ?? ''))
        return undefined;
      groups.push({ from, to: at + 1 });
    } else if (char === '|' && depth === 0) return undefined;
  }
  return depth === 0 && !inClass ? groups : undefined;
}

const date = '(?:\\d+Y(?:\\d+M)?(?:\\d+D)?|\\d+M(?:\\d+D)?|\\d+D)';
const second = '\\d+(?:[.,]\\d+)?S';
const time = `T(?:\\d+H(?:\\d+M)?(?:${second})?|\\d+M(?:${second})?|${second})`;

/**
 * Patterns of widespread libraries with lookarounds in other places, and patterns without any that
 * match the same texts. The only one is that of `z.iso.duration()` in zod 4.
 */
const rewritten: ReadonlyMap<string, string> = new Map([
  [
    '^P(?:(\\d+W)|(?!.*W)(?=\\d|T\\d)(\\d+Y)?(\\d+M)?(\\d+D)?' +
      '(T(?=\\d)(\\d+H)?(\\d+M)?(\\d+([.,]\\d+)?S)?)?)$',
    `^P(?:\\d+W|${date}(?:${time})?|${time})$`,
  ],
]);
