/** The end of a question. */
import type { ApprovalChoice } from './request.ts';

/** What the event `approval:settled` contains about a question. */
export interface ApprovalSettled {
  /** The id of the approval request. */
  readonly id: string;
  /** Who answered, if the answer said so. */
  readonly by?: string;
  /** The answer; absent if there was none that counts. */
  readonly decision?: ApprovalChoice;
  /** The `metadata.status` of the call's result. */
  readonly status: string;
}
