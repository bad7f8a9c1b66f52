/** The changes of an edit, line by line. */

/** A line of a diff. */
export interface DiffLine {
  readonly kind: 'same' | 'gone' | 'new';
  readonly text: string;
}

/** Lines that did not change, of which only the number is shown. */
export interface LeftOut {
  readonly kind: 'left-out';
  readonly count: number;
}

/**
 * If two texts differ by more than this many lines, everything between the common ends counts as
 * different.
 */
const maxEdits = 500;

/** The lines of both texts, with removed and new lines beside those that are the same. */
export function diffLines(before: string, after: string): DiffLine[] {
  const a = before.split('\n');
  const b = after.split('\n');
  let start = 0;
  while (start < a.length && start < b.length && a[start] === b[start]) start++;
  let end = 0;
  while (
    end < a.length - start &&
    end < b.length - start &&
    a[a.length - 1 - end] === b[b.length - 1 - end]
  )
    end++;
  const lines = (kind: DiffLine['kind'], of: readonly string[]): DiffLine[] =>
    of.map((text) => ({ kind, text }));
  return [
    ...lines('same', a.slice(0, start)),
    ...between(a.slice(start, a.length - end), b.slice(start, b.length - end)),
    ...lines('same', a.slice(a.length - end)),
  ];
}

/** The shortest path from one to the other, by the greedy algorithm of Myers. */
function between(a: readonly string[], b: readonly string[]): DiffLine[] {
  const furthest = waysOf(a, b);
  if (furthest === undefined)
    return [
      ...a.map((text): DiffLine => ({ kind: 'gone', text })),
      ...b.map((text): DiffLine => ({ kind: 'new', text })),
    ];
  // Follows the path back from the ends of both texts to their starts.
  const found: DiffLine[] = [];
  let x = a.length;
  let y = b.length;
  for (let edits = furthest.length - 1; edits >= 0; edits--) {
    const before = furthest[edits - 1];
    const diagonal = x - y;
    const isNew = before !== undefined && goesDown(before, edits, diagonal);
    const fromDiagonal = isNew ? diagonal + 1 : diagonal - 1;
    const fromX = before === undefined ? 0 : at(before, edits - 1, fromDiagonal);
    const fromY = before === undefined ? 0 : fromX - fromDiagonal;
    while (x > fromX && y > fromY) {
      found.push({ kind: 'same', text: a[x - 1] as string });
      x--;
      y--;
    }
    if (before === undefined) break;
    found.push(
      isNew
        ? { kind: 'new', text: b[fromY] as string }
        : { kind: 'gone', text: a[fromX] as string },
    );
    x = fromX;
    y = fromY;
  }
  return removedFirst(found.reverse());
}

/**
 * For each number of edits, the furthest position in the first text on each diagonal. The last
 * entry reaches the end of both; undefined if that takes too many edits.
 */
function waysOf(a: readonly string[], b: readonly string[]): Int32Array[] | undefined {
  const ways: Int32Array[] = [];
  for (let edits = 0; edits <= maxEdits; edits++) {
    const before = ways[edits - 1];
    const reached = new Int32Array(2 * edits + 1);
    ways.push(reached);
    for (let diagonal = -edits; diagonal <= edits; diagonal += 2) {
      let x = 0;
      if (before !== undefined)
        x = goesDown(before, edits, diagonal)
          ? at(before, edits - 1, diagonal + 1)
          : at(before, edits - 1, diagonal - 1) + 1;
      while (x < a.length && x - diagonal < b.length && a[x] === b[x - diagonal]) x++;
      reached[diagonal + edits] = x;
      if (x >= a.length && x - diagonal >= b.length) return ways;
    }
  }
  return undefined;
}

/** Whether the path to a diagonal takes a line of the second text, and not one of the first. */
function goesDown(before: Int32Array, edits: number, diagonal: number): boolean {
  return (
    diagonal === -edits ||
    (diagonal !== edits &&
      at(before, edits - 1, diagonal - 1) < at(before, edits - 1, diagonal + 1))
  );
}

function at(reached: Int32Array, edits: number, diagonal: number): number {
  return reached[diagonal + edits] ?? -1;
}

/** In a run of changes, removed lines come before new ones, so that they can be paired. */
function removedFirst(lines: readonly DiffLine[]): DiffLine[] {
  const ordered: DiffLine[] = [];
  let added: DiffLine[] = [];
  for (const line of lines) {
    if (line.kind === 'new') {
      added.push(line);
      continue;
    }
    if (line.kind === 'same') {
      ordered.push(...added);
      added = [];
    }
    ordered.push(line);
  }
  return [...ordered, ...added];
}

/** Leaves out the lines that are more than three away from a change. */
export function nearChanges(lines: readonly DiffLine[], near = 3): (DiffLine | LeftOut)[] {
  const keep = new Set<number>();
  lines.forEach(({ kind }, at) => {
    if (kind !== 'same') for (let by = -near; by <= near; by++) keep.add(at + by);
  });
  const shown: (DiffLine | LeftOut)[] = [];
  let count = 0;
  lines.forEach((line, at) => {
    if (!keep.has(at)) {
      count++;
      return;
    }
    if (count > 0) shown.push({ kind: 'left-out', count });
    count = 0;
    shown.push(line);
  });
  if (count > 0) shown.push({ kind: 'left-out', count });
  return shown;
}

/** A line in three parts. Only the middle one differs from the other line. */
export interface ChangedParts {
  readonly start: string;
  readonly changed: string;
  readonly end: string;
}

/** Where two lines differ. No character is cut in half. */
export function changedParts(a: string, b: string): readonly [ChangedParts, ChangedParts] {
  const most = Math.min(a.length, b.length);
  let start = 0;
  while (start < most && a[start] === b[start]) start++;
  if (isHigh(a.charCodeAt(start - 1))) start--;
  let end = 0;
  while (end < most - start && a[a.length - 1 - end] === b[b.length - 1 - end]) end++;
  if (isLow(a.charCodeAt(a.length - end))) end--;
  const parts = (text: string): ChangedParts => ({
    start: text.slice(0, start),
    changed: text.slice(start, text.length - end),
    end: text.slice(text.length - end),
  });
  return [parts(a), parts(b)];
}

function isHigh(code: number): boolean {
  return code >= 0xd800 && code <= 0xdbff;
}

function isLow(code: number): boolean {
  return code >= 0xdc00 && code <= 0xdfff;
}
