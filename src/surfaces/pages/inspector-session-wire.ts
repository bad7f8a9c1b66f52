/** What the inspector sends to its page about sessions, as JSON. */

/**
 * What is known of a session. `dropped`: the host has let go of its object without closing it.
 * `unseen`: it began before the inspector, which sees only its events.
 */
export type SessionStatus = 'open' | 'closed' | 'dropped' | 'unseen';

/** A session. */
export interface SessionLine {
  readonly key: number;
  readonly sessionId: string;
  readonly principal: string;
  /** `""` if it has none. */
  readonly profile: string;
  /** Epoch milliseconds; absent if it began before the inspector. */
  readonly startedAt?: number;
  /** Whether it may still make calls. */
  readonly open: boolean;
  readonly status: SessionStatus;
  readonly calls: number;
  readonly denied: number;
}
