/** What the server of the inspector tells its page of a quota. */

/** A quota. What is used of it depends on the call: a call is explained for that. */
export interface QuotaLine {
  readonly id: string;
  readonly layer: string;
  readonly max: number;
  /** `day`, `session`, `1500 ms`, … */
  readonly per: string;
  /** What it counts for, in words: `each principal`, `each value of payee`, `all calls`. */
  readonly by: string;
  /** The path of what is added; absent if calls are counted. */
  readonly sum?: string;
  /** What happens to a call that would exceed it. */
  readonly over: 'deny' | 'ask';
  /** How many of the registry's tools it concerns, and the first of them. */
  readonly tools: number;
  readonly toolNames: readonly string[];
}
