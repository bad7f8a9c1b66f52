/** Whether a shelf has a value, and whether it has it as a value of its own. */
import { isCutOut } from './cut-out.ts';
import type { Shelf, Sought, Visit } from './shelf.ts';
import type { Steps } from './steps.ts';

/** Steps for looking at what surrounds a place. */
const cutOutSteps = 40;

/** Whether one of the spellings occurs. */
export function stands(
  shelf: Shelf<undefined>,
  spellings: readonly Sought[],
  steps: Steps,
): boolean {
  return finds(shelf, spellings, steps, () => true);
}

/** Whether one of them occurs, and not only in a longer address or number. */
export function vouches(
  shelf: Shelf<undefined>,
  spellings: readonly Sought[],
  steps: Steps,
): boolean {
  return finds(shelf, spellings, steps, ({ text }, range) => {
    steps.left -= cutOutSteps;
    return !isCutOut(text, range);
  });
}

function finds(
  shelf: Shelf<undefined>,
  spellings: readonly Sought[],
  steps: Steps,
  accepts: Visit<undefined>,
): boolean {
  let isFound = false;
  const note: Visit<undefined> = (block, range) => {
    isFound = accepts(block, range);
    return isFound;
  };
  for (const spelling of spellings) {
    shelf.find(spelling, steps, note);
    if (isFound) return true;
  }
  return false;
}
