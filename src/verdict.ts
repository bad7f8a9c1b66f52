/** What all gates together say of a call. The same code reaches it for `call` and for `explain`. */
import type { ApprovalPrompt } from './approval/request.ts';
import type { JsonObject } from './json.ts';

export interface Verdict {
  readonly effect: 'allow' | 'ask' | 'deny';
  /** Of a deny. `policy_error` where a gate failed rather than decided. */
  readonly code?: 'policy_denied' | 'policy_error';
  readonly reason?: string;
  readonly message?: string;
  /** What the model is told where there is no message; written beforehand where it never changes. */
  readonly text?: string;
  readonly ruleId?: string;
  readonly source?: string;
  /** Of an ask. */
  readonly prompt?: ApprovalPrompt;
  /** What each gate said, in order; kept only for `explain`. */
  readonly steps?: readonly JsonObject[];
}
