/** What an edit changes, line by line. */

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

/** Comparing two texts costs the product of their changed lines. Above this, all count as changed. */
const mostCells = 1_000_000;

/** The lines of both texts: what is gone and what is new stands beside what is the same. */
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

/** By the longest common subsequence. */
function between(a: readonly string[], b: readonly string[]): DiffLine[] {
  const width = b.length + 1;
  const known = (a.length + 1) * width <= mostCells;
  // How many lines the rests have in common, from each place on.
  const common = new Uint32Array(known ? (a.length + 1) * width : 0);
  if (known)
    for (let i = a.length - 1; i >= 0; i--)
      for (let j = b.length - 1; j >= 0; j--)
        common[i * width + j] =
          a[i] === b[j]
            ? (common[(i + 1) * width + j + 1] ?? 0) + 1
            : Math.max(common[(i + 1) * width + j] ?? 0, common[i * width + j + 1] ?? 0);
  const found: DiffLine[] = [];
  let i = 0;
  let j = 0;
  while (known && i < a.length && j < b.length) {
    const text = a[i] as string;
    if (text === b[j]) {
      found.push({ kind: 'same', text });
      i++;
      j++;
    } else if ((common[(i + 1) * width + j] ?? 0) >= (common[i * width + j + 1] ?? 0)) {
      found.push({ kind: 'gone', text });
      i++;
    } else {
      found.push({ kind: 'new', text: b[j] as string });
      j++;
    }
  }
  for (; i < a.length; i++) found.push({ kind: 'gone', text: a[i] as string });
  for (; j < b.length; j++) found.push({ kind: 'new', text: b[j] as string });
  return goneFirst(found);
}

/** Within a run of changes, what is gone comes before what is new, so that they can be paired. */
function goneFirst(lines: readonly DiffLine[]): DiffLine[] {
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

/** A line in three parts, of which only the middle one differs from the other line. */
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
