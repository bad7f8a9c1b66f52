/** One thing that is tried. */
export interface Check {
  /** With the version of the tool. */
  readonly name: string;
  /** Rejects if it fails. */
  run(): Promise<void>;
}
