/** Whether a shelf has a value, and whether it has it as a value of its own. */
import { isCutOut } from './cut-out.ts';
import type { Shelf, Sought, Visit } from './shelf.ts';
import type { Steps } from './text.ts';

/** Steps for looking at what surrounds a place. */
export const cutOutSteps = 40;

/** Whether one of the spellings occurs; undefined if the search was not completed. */
export function occurs(
  shelf: Shelf<undefined>,
  spellings: readonly Sought[],
  steps: Steps,
): boolean | undefined {
  return finds(shelf, spellings, steps, () => true);
}

/** Whether one of them surely occurs, and not only in a longer address or number. */
export function confirms(
  shelf: Shelf<undefined>,
  spellings: readonly Sought[],
  steps: Steps,
): boolean {
  const isFound = finds(shelf, spellings, steps, ({ text }, range) => {
    steps.left -= cutOutSteps;
    return !isCutOut(text, range);
  });
  return isFound === true;
}

function finds(
  shelf: Shelf<undefined>,
  spellings: readonly Sought[],
  steps: Steps,
  accepts: Visit<undefined>,
): boolean | undefined {
  let isFound = false;
  let isComplete = true;
  const note: Visit<undefined> = (block, range) => {
    isFound = accepts(block, range);
    return isFound;
  };
  for (const spelling of spellings) {
    if (!shelf.find(spelling, steps, note)) isComplete = false;
    if (isFound) return true;
  }
  return isComplete ? false : undefined;
}
