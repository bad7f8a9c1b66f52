/** What of a question leaves the process, in a webhook and for the page. */
import type { ApprovalRequest } from '../../core.ts';

/** What JSON leaves out is absent. */
export type SentRequest = {
  [Name in keyof ApprovalRequest]: ApprovalRequest[Name] | undefined;
} & Pick<ApprovalRequest, 'tool'>;

/** A list has requests without their input. */
type Sendable = Omit<ApprovalRequest, 'input'> & Partial<Pick<ApprovalRequest, 'input'>>;

/** Member by member, because a token, or a future member, must not be sent by accident. */
export function sentRequest(request: Sendable): SentRequest {
  const { id, sessionId, principal, callId, parent, tool, input, title, summary } = request;
  const { message, risk, ruleId, source, quotas, origins, hiddenFields } = request;
  const { requestedAt, expiresAt } = request;
  return {
    id,
    sessionId,
    principal,
    callId,
    parent,
    tool,
    title,
    summary,
    message,
    risk,
    ruleId,
    source,
    input,
    hiddenFields,
    origins,
    quotas,
    requestedAt,
    expiresAt,
  };
}
