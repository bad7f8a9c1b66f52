/** What the inspector's server sends to its page about a quota. */

/** A quota. Its use depends on the call, so explaining a call shows it. */
export interface QuotaLine {
  readonly id: string;
  readonly layer: string;
  readonly max: number;
  /** `day`, `session`, `1500 ms`, … */
  readonly per: string;
  /** What it counts for: `each principal`, `each session and value of payee`, `all calls`. */
  readonly by: string;
  /** The path of the summed number; absent if calls are counted. */
  readonly sum?: string;
  /** What happens to a call that would exceed it. */
  readonly over: 'deny' | 'ask';
  /** How many of the registry's tools it applies to, and the first of them. */
  readonly tools: number;
  readonly toolNames: readonly string[];
}
