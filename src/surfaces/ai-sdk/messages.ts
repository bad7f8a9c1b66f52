/**
 * What the SDK's messages say about approvals. The messages may come from a client, so they are not
 * trusted: they only show what the SDK is about to do.
 */
import type { JsonObject } from '../../core.ts';
import { isJsonObject } from '../../values/json/index.ts';

/** A reviewer's answer as the messages contain it. */
export interface ReportedAnswer {
  readonly toolCallId: string;
  readonly approved: boolean;
  readonly reason: string | undefined;
}

/**
 * True if the SDK runs this call because its messages contain an approval of it, and not because
 * the model has just made it.
 */
export function isReplayed(messages: readonly unknown[] | undefined, toolCallId: string): boolean {
  const last = messages?.at(-1);
  if (messages === undefined || !isJsonObject(last) || last.role !== 'tool' || !hasAnswer(last))
    return false;
  return reportedAnswers(messages, [last]).some(
    (answer) => answer.toolCallId === toolCallId && answer.approved,
  );
}

/** The answers in messages, in order. @param where the messages from which answers are read */
export function reportedAnswers(
  messages: readonly unknown[],
  where: readonly unknown[] = messages,
): ReportedAnswer[] {
  const calls = new Map<unknown, string>();
  for (const part of partsOf(messages, 'assistant', 'tool-approval-request'))
    if (typeof part.toolCallId === 'string') calls.set(part.approvalId, part.toolCallId);
  const answers: ReportedAnswer[] = [];
  for (const { approvalId, approved, reason } of partsOf(where, 'tool', 'tool-approval-response')) {
    const toolCallId = calls.get(approvalId);
    if (toolCallId !== undefined)
      answers.push({
        toolCallId,
        approved: approved === true,
        reason: typeof reason === 'string' ? reason : undefined,
      });
  }
  return answers;
}

/** The texts of a message of the user; none of any other message. */
export function userTexts(message: object): readonly string[] {
  const { role, content } = message as { role?: unknown; content?: unknown };
  if (role !== 'user') return [];
  if (typeof content === 'string') return [content];
  if (!Array.isArray(content)) return [];
  return (content as readonly unknown[]).flatMap((part) =>
    isJsonObject(part) && part.type === 'text' && typeof part.text === 'string' ? [part.text] : [],
  );
}

function hasAnswer(message: JsonObject): boolean {
  return (
    Array.isArray(message.content) &&
    message.content.some(
      (part: unknown) => isJsonObject(part) && part.type === 'tool-approval-response',
    )
  );
}

function partsOf(messages: readonly unknown[], role: string, type: string): JsonObject[] {
  return messages.flatMap((message) => {
    if (!isJsonObject(message) || message.role !== role || !Array.isArray(message.content))
      return [];
    return (message.content as readonly unknown[]).filter(
      (part): part is JsonObject => isJsonObject(part) && part.type === type,
    );
  });
}
