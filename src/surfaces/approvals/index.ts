/** An inbox for approvals: stores that it reads, answers over HTTP, and messages by webhook. */

export { durableApprovals } from '../../parts/durable-approvals/part.ts';
export {
  type FileApprovalsOptions,
  fileApprovals,
  type MemoryApprovalsOptions,
  memoryApprovals,
} from './approval-stores.ts';
export {
  type ApprovalsHandler,
  type ApprovalsHandlerOptions,
  createApprovalsHandler,
  type SignedIn,
} from './handler.ts';
export {
  type ApprovalOutcomeInput,
  type ApprovalOutcomeToolOptions,
  approvalOutcomeTool,
} from './outcome-tool.ts';
export { type WebhookNotifier, type WebhookNotifierOptions, webhookNotifier } from './webhook.ts';
export type { WebhookFetch, WebhookRequest, WebhookResponse } from './webhook-queue.ts';
