/**
 * Cuts secret values out of JSON that was sent as text. The rest of the text is unchanged, so that
 * a person who judges it sees duplicate members, every digit of a number, and what follows where
 * the text stops being JSON.
 */
import { type Budget, spend, valueSteps } from './budget.ts';
import { readString, scanJson } from './json-scan.ts';
import type { SecretState, SecretStates } from './secret-states.ts';
import { redacted } from './spellings.ts';

/** How secrets are found, and what receives those that are. */
export interface SecretFinder {
  readonly states: SecretStates;
  /** Keys that are secret at any depth. */
  readonly anyDepth: ReadonlySet<string>;
  readonly budget: Budget;
  /** Receives the path of each outermost secret value, from the text on. */
  readonly hidden: ((path: readonly (string | number)[]) => void) | undefined;
  /** Receives each string and number in secret values; numbers as they were written. */
  readonly found: ((kind: 'string' | 'number', text: string) => void) | undefined;
}

/** A range of a text and its replacement. */
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
  /** Its start, if it is an outermost secret value; else -1. */
  readonly cutFrom: number;
  /** The member or element that is being read. */
  at: string | number;
}

/** Steps for writing one key of a path. */
const pathSteps = 5;

/**
 * From this depth on, each object and array costs three times as many steps, since all that are
 * open take memory at the same time.
 */
const usualDepth = 1_000;

/** Whether a text starts like JSON that can have fields in it. */
export function looksLikeJson(text: string): boolean {
  return /^\s*[[{"]/.test(text);
}

/**
 * Reads the text as strict JSON up to where it stops being that, and cuts the secrets out of that
 * part. Strings that are JSON themselves are read as well. Only complete values are cut, so that an
 * incomplete one cannot hide what follows.
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

/** Longer than 60 lines, since the handlers of the scanner share its state. */
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
  /** What is known about the value that starts here. */
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

/** Converts cuts of a string's text to cuts of its literal, which begins at `start`. */
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
