/** An inbox for approvals: answers by HTTP, and messages by webhook. */
export {
  type ApprovalsHandler,
  type ApprovalsHandlerOptions,
  createApprovalsHandler,
} from './handler.ts';
export { type WebhookNotifier, type WebhookNotifierOptions, webhookNotifier } from './webhook.ts';
export type { WebhookFetch, WebhookRequest, WebhookResponse } from './webhook-queue.ts';
