/** The results of suspended calls, put into the messages of a chat once a person has answered. */
import type { JsonObject, ToolFailure, ToolSession } from '../../core.ts';
import { isJsonObject } from '../../values/json/index.ts';
import { markedResult } from './model-output.ts';
import type { AiSdkResult } from './tool.ts';

/** A message of the SDK's UI, as far as it is read here. */
export interface AiSdkMessage {
  /** Its texts, calls and so on. */
  readonly parts: readonly unknown[];
}

/** Most approvals that are looked up for one list of messages, which may come from a client. */
const maxLookups = 200;

/** Returns the messages with the results of suspended calls that have ended. See `AiSdkTools`. */
export async function withOutcomes<M extends AiSdkMessage>(
  session: ToolSession,
  messages: readonly M[],
): Promise<M[]> {
  const waiting = messages.flatMap((message) => partsOf(message).filter(isWaiting));
  const ended = new Map<unknown, object>();
  await Promise.all(
    waiting.slice(-maxLookups).map(async (part) => {
      const output = await endOf(session, part);
      if (output !== undefined) ended.set(part, { ...part, output });
    }),
  );
  return messages.map((message) =>
    partsOf(message).some((part) => ended.has(part))
      ? { ...message, parts: partsOf(message).map((part) => ended.get(part) ?? part) }
      : message,
  );
}

function partsOf(message: unknown): readonly unknown[] {
  return isJsonObject(message) && Array.isArray(message.parts) ? message.parts : [];
}

/** A call that was suspended, in a message of the SDK's UI. */
interface WaitingPart {
  readonly toolCallId?: unknown;
  readonly output: ToolFailure & { readonly approvalId: string };
}

function isWaiting(part: unknown): part is JsonObject & WaitingPart {
  if (!isJsonObject(part) || part.state !== 'output-available') return false;
  const { output } = part;
  return (
    isJsonObject(output) &&
    output.success === false &&
    // Another tool of the chat may have approvals of its own.
    isJsonObject(output.error) &&
    output.error.code === 'approval_pending' &&
    typeof output.approvalId === 'string' &&
    output.approvalId.length <= 512
  );
}

/** How the call has ended; undefined while it has not. */
async function endOf(
  session: ToolSession,
  { toolCallId, output: { approvalId, ...pending } }: WaitingPart,
): Promise<AiSdkResult | undefined> {
  const { status, result } = await session.approvals.outcome(approvalId);
  if (status === 'pending' || (status === 'settled' && result === undefined)) return undefined;
  // The messages may name the approval of another call.
  if (result?.metadata.callId === toolCallId && result !== undefined) return markedResult(result);
  return { ...pending, error: status === 'expired' ? expired : forgotten };
}

const expired = {
  code: 'approval_timeout',
  reason: 'expired',
  message: 'Nobody answered in time, so the call did not run. Call the tool again if it is needed.',
  retryable: true,
} as const;

const forgotten = {
  code: 'approval_denied',
  reason: 'unknown_approval',
  message: 'It is not known any more how the call ended. It may have run.',
  retryable: false,
} as const;
