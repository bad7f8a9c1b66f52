/** Lets other work of the node run while a long list of definitions is processed. */
import { createPause, type Pause } from '../../../values/limits/stretches.ts';

/** Milliseconds between two pauses. The steps before and after a list take about as long again. */
const stretchMs = 5;

/** Makes a pause for the steps between definitions. */
export function definitionPause(): Pause {
  return createPause(stretchMs);
}
