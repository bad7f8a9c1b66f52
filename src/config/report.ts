/** What a load says of itself. */

/** The part of a file that an entry stands in. */
export type FileSection = 'tools' | 'profiles' | 'rules';

/** An entry that was not loaded. */
export interface LoadFailure {
  /** Its place in its section, from 0. */
  readonly index: number;
  /** The tool's name, the profile's id or the rule's id, where it has one. */
  readonly name?: string;
  /** What was expected, what was got, and what to do. One line. */
  readonly reason: string;
  /** The line on which the entry begins, from 1. Absent for what a module exports. */
  readonly line?: number;
  /** The section that it stands in; `tools` for what a module exports. */
  readonly section: FileSection;
  /** Path of the file. */
  readonly file: string;
}

/** What was loaded, and what was not. */
export interface LoadReport {
  /** Path of the file or module. */
  readonly file: string;
  /** Names of tools; of `loadProfiles`, ids of profiles. In the order of the file. */
  readonly loaded: readonly string[];
  /** Entries that were not loaded, in the order of the file: rules, tools, profiles. */
  readonly failed: readonly LoadFailure[];
}

/** What a whole file gave. */
export interface FileReport extends LoadReport {
  /** Ids of the profiles that it defined, parents before those that extend them. */
  readonly profiles: readonly string[];
  /** How many rules it added. */
  readonly rules: number;
}
