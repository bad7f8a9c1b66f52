/** How a model with many tools finds those that it needs. */

/** What a session lists from the start, and how much it may find. */
export interface DiscoveryOptions {
  /** Names or globs of tools that are always listed. @default none */
  readonly keep?: string | readonly string[] | undefined;
  /**
   * The most tokens of the tools that were found, counted as one token for every four characters of
   * their names, descriptions and schemas. When more are found, those that have not been called for
   * the longest time are removed. From 1.
   * @default 8_000
   */
  readonly maxTokens?: number | undefined;
  /** The most tools that one call to `find_tools` returns. From 1 to 100. @default 8 */
  readonly limit?: number | undefined;
  /**
   * The host's own embedding model. Its ranking is merged with the ranking by words. Each tool is
   * embedded once. If it fails, only words count, and the error is logged.
   * @default words alone
   */
  readonly embed?: Embed | undefined;
}

/** Computes the meaning of each text, as a list of numbers. All lists have the same length. */
export type Embed = (
  texts: readonly string[],
) => Promise<readonly (readonly number[] | Float32Array | Float64Array)[]>;

/** Options of `session.search`. */
export interface SearchOptions {
  /** The most tools that are returned. From 1 to 100. @default 8 */
  readonly limit?: number | undefined;
}

/** A tool that a query describes. */
export interface FoundTool {
  /** The tool's name. */
  readonly name: string;
  /** The tool's description, as a model sees it. */
  readonly description: string;
  /**
   * How well the query describes the tool, from 0 to 1, where 1 is the best of this answer. Scores
   * of two answers cannot be compared.
   */
  readonly score: number;
  /** Whether a call to it needs an approval, or may need one. */
  readonly requiresApproval: boolean;
  /** The words of the query that were found in the tool. */
  readonly why: readonly string[];
}
