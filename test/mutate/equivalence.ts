/** How the lists of equivalent mutants name one. */
export interface Equivalent {
  readonly file: string;
  /** The line as it stands in the source, without what is before and after it. */
  readonly line: string;
  readonly was: string;
  readonly becomes: string;
  readonly why: string;
}

export const same = (file: string, line: string, was: string, becomes: string, why: string): Equivalent => ({ file, line, was, becomes, why });
