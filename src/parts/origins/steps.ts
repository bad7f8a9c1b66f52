/**
 * The steps that a search may still take, at about ten nanoseconds each. Comparing a character
 * takes one. Steps are counted, so that the bound is the same on every machine.
 */
export interface Steps {
  left: number;
}
