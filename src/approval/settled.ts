/** The end of a question. */
import type { ApprovalChoice } from './request.ts';

/** What the event `approval:settled` says of a question. */
export interface ApprovalSettled {
  /** The id of the approval request. */
  readonly id: string;
  /** Who answered, if the answer said so. */
  readonly by?: string;
  /** What was answered; absent if there was no answer that counts. */
  readonly decision?: ApprovalChoice;
  /** The `metadata.status` of the call's result. */
  readonly status: string;
}
