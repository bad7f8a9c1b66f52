/** The reports of loads. */

/** The part of a file that an entry is in. */
export type FileSection =
  | 'tools'
  | 'profiles'
  | 'rules'
  | 'quotas'
  | 'mcpServers'
  | 'store'
  | 'audit'
  | 'authorization'
  | 'approvals'
  | 'code'
  | 'credentials'
  | 'openapi'
  | 'network';

/** An entry that was not loaded. */
export interface LoadFailure {
  /** The index of the entry in its section, from 0. */
  readonly index: number;
  /** The name of the tool or server, or the id of the profile, rule or quota, if it has one. */
  readonly name?: string;
  /** What was expected, what was got, and what to do. One line. */
  readonly reason: string;
  /**
   * The line of the field that is wrong, or else of the entry, from 1. Absent for an export of a
   * module.
   */
  readonly line?: number;
  /** The section of the entry; `tools` for an export of a module. */
  readonly section: FileSection;
  /** The path of the file. */
  readonly file: string;
}

/** The outcome of a load: what was loaded, and what was not. */
export interface LoadReport {
  /** The path of the file or module. */
  readonly file: string;
  /**
   * The names of the loaded tools, in the order of the file. For `loadProfiles`, the ids of the
   * profiles, parents before those that extend them.
   */
  readonly loaded: readonly string[];
  /**
   * The entries that were not loaded: rules, quotas, servers, the store, the audit log,
   * authorization, approvals, code mode, credentials, HTTP APIs, the network, tools, then profiles,
   * each in the order of the file.
   */
  readonly failed: readonly LoadFailure[];
}

/** The outcome of loading a whole file. */
export interface FileReport extends LoadReport {
  /** The ids of the profiles that the file defined, parents before those that extend them. */
  readonly profiles: readonly string[];
  /** The number of rules that the file added. */
  readonly rules: number;
  /** The ids of the quotas that the file added; absent if it added none. */
  readonly quotas?: readonly string[];
}
