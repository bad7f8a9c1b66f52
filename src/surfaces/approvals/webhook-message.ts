/** The messages of webhooks about approvals, and their signatures. */
import { createHmac, randomUUID } from 'node:crypto';
import type { ApprovalRequest, ToolEvents } from '../../core.ts';
import { wireText } from '../../values/json/index.ts';
import { head } from '../../values/text/characters.ts';

/** One message, the same at each attempt. */
export interface WebhookMessage {
  /** Receivers recognise a repeated message by it. */
  readonly id: string;
  /** The JSON text. */
  readonly body: string;
}

/** Most characters of a message. Receivers commonly take less than a megabyte. */
const maxChars = 200_000;
/** Most characters of a text in a message that would be longer than {@link maxChars}. */
const maxOfText = 2_000;

type Required = ToolEvents['approval:required'];

export function messageOfRequired(event: Required): WebhookMessage {
  const { request } = event;
  const { program } = request;
  const forms = [
    () => (request.approvers === undefined ? sentRequest(request) : forApprovers(request)),
    // What runs is the input. Where it is asked for is told by the line, too.
    () => program && { ...sentRequest(request), program: { line: program.line } },
    () => shortened(request),
  ];
  let body = '';
  for (const form of forms) {
    const sent = form();
    if (sent !== undefined) body = bodyOf('approval.required', event, { request: sent });
    if (body.length <= maxChars) break;
  }
  return messageOf(body);
}

/** Others may read the message: it says who has to answer, and nothing of the call's input. */
function forApprovers(request: Required['request']): object {
  const { id, sessionId, principal, actor, callId, tool, title } = request;
  const { risk, ruleId, source, approvers, requestedAt, expiresAt } = request;
  return {
    id,
    sessionId,
    principal,
    actor,
    callId,
    tool: { name: tool.name, source: tool.source, fingerprint: tool.fingerprint },
    title: head(title, maxOfText),
    risk,
    ruleId,
    source,
    approvers,
    requestedAt,
    expiresAt,
  };
}

export function messageOfSettled(event: ToolEvents['approval:settled']): WebhookMessage {
  const { id, by, answers, decision, status, callId, toolName } = event;
  return messageOf(
    bodyOf('approval.settled', event, { id, by, answers, decision, status, callId, toolName }),
  );
}

/** The value of `webhook-signature`. @param seconds The value of `webhook-timestamp`. */
export function signatureOf(key: Buffer, { id, body }: WebhookMessage, seconds: number): string {
  return `v1,${createHmac('sha256', key).update(`${id}.${seconds}.${body}`).digest('base64')}`;
}

function messageOf(body: string): WebhookMessage {
  return { id: `msg_${randomUUID()}`, body };
}

function bodyOf(
  type: string,
  { at, sessionId, principal, surface }: Omit<Required, 'request'>,
  members: object,
): string {
  const data = Object.assign({ sessionId, principal, surface }, members);
  return wireText({ type, timestamp: timeOf(at), data });
}

/** A question without its long parts. `shortened` means that a person has to look elsewhere. */
function shortened(request: Required['request']): object {
  const { id, sessionId, principal, actor, callId, tool, risk, ruleId, source } = request;
  const { title, summary, message, requestedAt, expiresAt } = request;
  return {
    id,
    sessionId,
    principal,
    actor,
    callId,
    program: request.program && { line: request.program.line },
    tool: { name: tool.name, source: tool.source, fingerprint: tool.fingerprint },
    title: head(title, maxOfText),
    summary,
    message: message && head(message, maxOfText),
    risk,
    ruleId,
    source,
    shortened: true,
    requestedAt,
    expiresAt,
  };
}

/** The host's clock may return a value that no date can represent. */
function timeOf(at: number): string {
  const time = new Date(at);
  return Number.isNaN(time.getTime()) ? new Date(0).toISOString() : time.toISOString();
}

// What of a question leaves the process, in a webhook and for the page.

/** What JSON leaves out is absent. */
export type SentRequest = {
  [Name in keyof ApprovalRequest]: ApprovalRequest[Name] | undefined;
} & Pick<ApprovalRequest, 'tool'>;

/** A list has requests without their input. */
type Sendable = Omit<ApprovalRequest, 'input'> & Partial<Pick<ApprovalRequest, 'input'>>;

/** Member by member, because a token, or a future member, must not be sent by accident. */
export function sentRequest(request: Sendable): SentRequest {
  const { id, sessionId, principal, actor, callId, parent, tool, input, title } = request;
  const { summary, message, risk, ruleId, source, quotas, origins, hiddenFields } = request;
  const { approvers, program, requestedAt, expiresAt } = request;
  return {
    id,
    sessionId,
    principal,
    actor,
    callId,
    parent,
    program,
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
    approvers,
    requestedAt,
    expiresAt,
  };
}
