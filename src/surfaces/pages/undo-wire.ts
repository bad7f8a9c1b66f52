/** What servers and pages send each other about calls that are taken back, as JSON. */

/** What has become of a call that somebody wanted to take back. */
export interface UndoOutcome {
  /** How that ended, or `running`. */
  readonly status: string;
  readonly code?: string;
  readonly reason?: string;
  /** Of the error. */
  readonly message?: string;
  /** How many of its own calls were taken back; absent for a call that was taken back itself. */
  readonly reverted?: number;
  /** The calls that stay, at most 100 of them. */
  readonly left?: readonly {
    readonly callId: string;
    readonly toolName: string;
    readonly reason: string;
  }[];
}
