import type { Listing } from './listing.ts';

/** What reading a command adds to. */
export interface Collected {
  /** Adds a command. @throws PolicyFault if there are too many */
  add(program: string, words: readonly string[]): true;
  /** Reads a patch. If it is left out, it is the input of the command. */
  patch(text?: string): void;
  /** What the input of the command lists, as far as it is known. */
  readonly listing: Listing | undefined;
  /** Refuses the line, which cannot be read as a whole. */
  tooDeep(): never;
  /** Adds a reason why the line is unclear. */
  unclear(why: string): void;
  /**
   * Reads text that is itself a command line.
   * @param inSameShell Whether it has the same variables
   */
  script(text: string, inSameShell?: boolean): void;
}
