/**
 * Cuts secret values out of JSON that was sent as text. The rest of the text stays as it was
 * written: a reader who has to judge it sees members that are given twice, every digit of a number,
 * and whatever stands where the text stops being JSON.
 */
import { type Budget, spend, valueSteps } from './budget.ts';
import { readString, scanJson } from './json-scan.ts';
import type { SecretState, SecretStates } from './secret-states.ts';
import { redacted } from './spellings.ts';

/** What leads to secrets, and who is told of those that are found. */
export interface SecretFinder {
  readonly states: SecretStates;
  /** Keys that are secret at any depth. */
  readonly anyDepth: ReadonlySet<string>;
  readonly budget: Budget;
  /** Told of each outermost secret value, by the keys and places below the text that lead to it. */
  readonly hidden: ((path: readonly (string | number)[]) => void) | undefined;
  /** Told of each string and number within secret values; a number as it was written. */
  readonly found: ((kind: 'string' | 'number', text: string) => void) | undefined;
}

/** Characters of a text, and what stands in their place. */
interface Cut {
  readonly start: number;
  readonly end: number;
  readonly by: string;
}

/** An object or array that has begun. */
interface Frame {
  readonly isArray: boolean;
  readonly state: SecretState;
  readonly isSecret: boolean;
  /** Where it begins, if it is an outermost secret value; else -1. */
  readonly cutFrom: number;
  /** The member or element that is being read. */
  at: string | number;
}

/** Steps for writing one key of a path. */
const pathSteps = 5;

/**
 * From this depth on, each object and array costs three times as much: the engine has to keep all
 * that are open at once.
 */
const usualDepth = 1_000;

/** True for a text that begins as JSON with fields in it does. */
export function looksLikeJson(text: string): boolean {
  return /^\s*[[{"]/.test(text);
}

/**
 * Reads the text as strict JSON as far as it is, and cuts the secrets out of that part; strings
 * that are JSON themselves are read as well. Only a value that ends is cut: nothing can be hidden
 * behind one that does not.
 */
export function cutText(
  text: string,
  state: SecretState,
  finder: SecretFinder,
): { readonly text: string; readonly isJson: boolean } {
  const { cuts, isJson } = findCuts(text, state, finder, []);
  if (cuts.length === 0) return { text, isJson };
  let out = '';
  let done = 0;
  for (const { start, end, by } of cuts) {
    out += text.slice(done, start) + by;
    done = end;
  }
  return { text: out + text.slice(done), isJson };
}

function findCuts(
  text: string,
  root: SecretState,
  finder: SecretFinder,
  above: readonly (string | number)[],
): { cuts: Cut[]; isJson: boolean } {
  const { states, anyDepth, budget, hidden, found } = finder;
  spend(budget, text.length);
  const cuts: Cut[] = [];
  const frames: Frame[] = [];

  const path = (): (string | number)[] => {
    if (hidden === undefined) return [];
    spend(budget, (above.length + frames.length) * pathSteps);
    return [...above, ...frames.map((frame) => frame.at)];
  };
  const cut = (start: number, end: number): void => {
    hidden?.(path());
    if (text[start] === '"') cuts.push({ start: start + 1, end: end - 1, by: redacted });
    else cuts.push({ start, end, by: `"${redacted}"` });
  };
  /** What is known of the value that begins. */
  const here = (): { state: SecretState; isSecret: boolean; isOutermost: boolean } => {
    const frame = frames.at(-1);
    if (frame?.isSecret === true) return { state: frame.state, isSecret: true, isOutermost: false };
    let state = root;
    if (typeof frame?.at === 'string') {
      if (anyDepth.has(frame.at)) return { state, isSecret: true, isOutermost: true };
      state = states.child(frame.state, frame.at, budget);
    } else if (frame !== undefined) state = states.item(frame.state, frame.at as number, budget);
    return { state, isSecret: state.marked, isOutermost: state.marked };
  };

  const isJson = scanJson(text, {
    open(isArray, start) {
      spend(budget, frames.length < usualDepth ? valueSteps : valueSteps * 3);
      const { state, isSecret, isOutermost } = here();
      frames.push({ isArray, state, isSecret, cutFrom: isOutermost ? start : -1, at: -1 });
    },
    close(end) {
      const { cutFrom } = frames.pop() as Frame;
      if (cutFrom !== -1) cut(cutFrom, end);
    },
    key(start, end) {
      (frames.at(-1) as Frame).at = readString(text, start, end);
    },
    element() {
      const frame = frames.at(-1) as Frame;
      frame.at = (frame.at as number) + 1;
    },
    leaf(start, end) {
      spend(budget, valueSteps);
      const { state, isSecret, isOutermost } = here();
      const isString = text[start] === '"';
      if (isSecret && isString) found?.('string', readString(text, start, end));
      else if (isSecret && /[-0-9]/.test(text[start] as string))
        found?.('number', text.slice(start, end));
      if (isOutermost) cut(start, end);
      else if (!isSecret && isString && (state.deep || anyDepth.size > 0)) {
        const inner = readString(text, start, end);
        if (looksLikeJson(inner))
          cuts.push(...asWritten(findCuts(inner, state, finder, path()).cuts, text, start));
      }
    },
  });
  return { cuts, isJson };
}

/** Cuts of a string's own text as cuts of the literal that begins at `start`. */
function asWritten(cuts: readonly Cut[], text: string, start: number): Cut[] {
  let read = 0;
  let written = start + 1;
  const to = (place: number): number => {
    for (; read < place; read++) {
      if (text[written] !== '\\') written += 1;
      else written += text[written + 1] === 'u' ? 6 : 2;
    }
    return written;
  };
  return cuts.map((cut) => ({
    start: to(cut.start),
    end: to(cut.end),
    by: JSON.stringify(cut.by).slice(1, -1),
  }));
}
