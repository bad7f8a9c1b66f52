/**
 * Finds the lines of a long text that match a pattern, in linear time, with pauses for other work.
 */

import type { TextRange } from '../../core/call/ports.ts';
import { isNativePattern } from '../../values/json-schema/pattern-budget.ts';
import { nextTurn } from '../../values/limits/next-turn.ts';
import { between, head } from '../../values/text/code-points.ts';
import { compilePattern } from '../../values/text/regex.ts';

/** Most lines in an answer. */
const maxLines = 50;
/**
 * Characters of a window. A longer line is searched in several windows. Each begins with the last
 * characters of the one before it, so that a match of up to this length is never missed.
 */
const windowChars = 500;
const overlapChars = 100;
/** Most instructions of a pattern. */
const patternSize = 2_000;
/** Instructions that run before other work gets a turn. They take a few milliseconds. */
const turnSteps = 2_000_000;
/** The cost of a line in addition to its characters, in instructions. */
const lineSteps = 2_000;
/** Most instructions of one search. After that, the answer says where to continue. */
const maxSteps = 200_000_000;

export interface Search {
  readonly pattern: string;
  readonly start: number;
  readonly end: number;
  /** Most characters of the answer. */
  readonly room: number;
}

/** What a search has found. */
export interface Found {
  /** The lines that match, each after its position. */
  readonly answer: string;
  /** Where they are in the text. */
  readonly ranges: readonly TextRange[];
}

/**
 * @param isOver Asked between turns.
 * @throws MisuseError for a pattern that cannot run in linear time, or is too complex.
 */
export async function searchText(
  text: string,
  { pattern, start, end, room }: Search,
  isOver: () => boolean,
): Promise<Found> {
  isNativePattern(pattern, {
    trusted: false,
    limits: { patterns: 1, patternSize },
    native: new Map(),
    size: 0,
  });
  const { matcher, size } = compilePattern(pattern, { trusted: false });
  const found: string[] = [];
  const ranges: TextRange[] = [];
  let [chars, steps, turn, at] = [0, 0, 0, start];
  while (at < end && found.length < maxLines && steps < maxSteps) {
    const lineEnd = endOfLine(text, at, end);
    const stop = between(text, Math.min(lineEnd, at + windowChars));
    const line = text.slice(at, stop);
    if (matcher.test(line)) {
      const shown = `[${at}] ${line}`;
      if (chars + shown.length > room && found.length > 0) break;
      const kept = head(shown, room);
      found.push(kept);
      ranges.push({ start: at, end: stop - shown.length + kept.length });
      chars += shown.length + 1;
    }
    const cost = line.length * size + lineSteps;
    steps += cost;
    turn += cost;
    at = stop < lineEnd ? between(text, stop - overlapChars) : stop + 1;
    if (turn < turnSteps) continue;
    turn = 0;
    await nextTurn();
    if (isOver()) break;
  }
  const searched = Math.min(at, end);
  const rest = searched < end ? `; search on with start ${searched}` : '';
  found.push(
    `[${ranges.length} matching, characters ${start} to ${searched} of ${text.length}${rest}]`,
  );
  return { answer: found.join('\n'), ranges };
}

/** Looks no further than a window, because a text may be one line of millions of characters. */
function endOfLine(text: string, from: number, end: number): number {
  const most = Math.min(end, from + windowChars + 1);
  for (let at = from; at < most; at++) if (text.charCodeAt(at) === 0x0a) return at;
  return most;
}
