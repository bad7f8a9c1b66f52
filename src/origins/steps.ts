/**
 * What a search may still cost, in steps of about ten nanoseconds. Comparing a character takes one.
 * It is counted, so that the bound is the same on every machine.
 */
export interface Steps {
  left: number;
}
