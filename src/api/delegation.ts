/** Delegation: sessions for sub-agents, and who acts in a call. */

import type { Quota } from './quotas.ts';
import type { Rule } from './rule.ts';

/** An agent that was delegated to, and its session. */
export interface DelegatedAgent {
  /** The name that the delegation gave it. */
  readonly agent: string;
  /** The id of its session. */
  readonly sessionId: string;
}

/** Who makes a call: a person, and the agents through which that person acts. Frozen. */
export interface Actor {
  /** The principal of the session; `""` if it acts for no one. */
  readonly principal: string;
  /** The first agent first, the one that makes the call last. Empty for a direct call. */
  readonly chain: readonly DelegatedAgent[];
  /** The `labels` of the session; absent if it has none. */
  readonly labels?: Readonly<Record<string, string>>;
}

/** Options of `session.delegate`. All but `agent` narrow what the new session may do. */
export interface DelegateOptions {
  /** Names the sub-agent in rules and records: 1 to 256 characters. */
  readonly agent: string;
  /**
   * The id of the new session.
   * @default the id of the outer session, the agent and a number: `chat-1/researcher/1`
   */
  readonly sessionId?: string | undefined;
  /** The names of the tools that it may use. @default those of the outer session */
  readonly tools?: readonly string[] | undefined;
  /** Rules of the new session. @default none */
  readonly rules?: readonly Rule[] | undefined;
  /** Quotas of the new session. Needs the part `quotas()`. @default none */
  readonly quotas?: readonly Quota[] | undefined;
  /** The id of a profile, which applies in addition to that of the outer session. @default none */
  readonly profile?: string | undefined;
  /**
   * The scopes of the new session, of which only those count that the outer session has. Needs the
   * part `scopes()`.
   * @default those of the outer session
   */
  readonly scopes?: readonly string[] | undefined;
  /**
   * When the session closes, in epoch milliseconds of the registry's `now`.
   * @default it closes with the outer session
   */
  readonly expiresAt?: number | undefined;
}
