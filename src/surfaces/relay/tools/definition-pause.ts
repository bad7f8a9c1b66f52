/** The turns that long lists of definitions leave to other work of the node. */
import { createPause, type Pause } from '../../../limits/stretches.ts';

/** Milliseconds. Short, because the steps before and after a list take as long again. */
const stretchMs = 5;

/** Makes a pause for the steps between definitions. */
export function definitionPause(): Pause {
  return createPause(stretchMs);
}
