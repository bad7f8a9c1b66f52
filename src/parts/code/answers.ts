/** What a program gets for its calls. Values cross as JSON, so nothing of the host comes along. */

import type { CodeAnswer, CodeError } from '../../api/code.ts';
import type { ToolResult } from '../../api/result.ts';
import type { ToolError } from '../../values/errors/index.ts';
import type { JsonValue } from '../../values/json/index.ts';

/** Most characters of one answer. */
const maxAnswerChars = 2_000_000;

/** Of a result: its output, or the error that the model would have read. */
export function answerOf(result: ToolResult): CodeAnswer {
  return result.success ? valueAnswer(result.output as JsonValue) : errorAnswer(result.error);
}

/** @param value JSON that a call has copied. */
export function valueAnswer(value: JsonValue | undefined): CodeAnswer {
  const text = JSON.stringify(value ?? null);
  return text.length <= maxAnswerChars
    ? { ok: true, value: text }
    : refusal(
        'invalid_output',
        'output_too_large',
        `The tool ran, and its output is longer than ${maxAnswerChars} characters.`,
      );
}

export function errorAnswer({ code, reason, retryable, message }: ToolError): CodeAnswer {
  const error: CodeError = {
    code,
    ...(reason === undefined ? {} : { reason }),
    retryable,
    message,
  };
  return { ok: false, error };
}

export function refusal(
  code: string,
  reason: string,
  message: string,
  retryable = false,
): CodeAnswer {
  return { ok: false, error: { code, reason, retryable, message } };
}

/** For what comes after the end. */
export const programEnded: CodeAnswer = refusal('cancelled', 'ended', 'The program has ended.');
