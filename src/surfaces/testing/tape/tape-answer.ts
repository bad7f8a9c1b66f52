/** The answer of a replayed handler. */
import { content, fail, type JsonValue, ok } from '../../../core.ts';
import { isJsonObject } from '../../../values/json/index.ts';
import type { TapeCall, TapeSuccess } from './tape.ts';

const executorFault = Symbol.for('host-tools.executor-fault');

/**
 * Returns or throws what makes the call end as it was recorded. Some recorded outcomes cannot come
 * from a handler; then it uses the nearest one that can.
 */
export function answerOf({ result }: TapeCall): unknown {
  if (result.success) return ok(outputOf(result), result.handler);
  const { error, masked } = result;
  const { code, message, reason, retryable, details } = error;
  switch (code) {
    case 'handler_error':
      if (masked) throw new Error(message);
      return fail({
        message,
        retryable,
        ...(reason === undefined ? {} : { reason }),
        ...(details === undefined ? {} : { details }),
      });
    case 'executor_lost':
    case 'sandbox_unavailable':
      throw Object.assign(new Error(message), { [executorFault]: true, code });
    default:
      return fail({
        message,
        reason: code,
        retryable,
        details: { recorded: error as unknown as JsonValue },
      });
  }
}

function outputOf({ output, content: isContent }: TapeSuccess): unknown {
  if (isContent !== true || !Array.isArray(output)) return output;
  const parts = output.map(partOf);
  // A part whose secrets were redacted may no longer be a content part.
  return parts.includes(undefined) ? output : parts;
}

function partOf(part: JsonValue): unknown {
  if (!isJsonObject(part)) return undefined;
  const { type, ...rest } = part as {
    readonly type: string;
    readonly text: string;
    readonly data: string;
    readonly mimeType: string;
  };
  switch (type) {
    case 'text':
      return content.text(rest.text);
    case 'image':
      return content.image(rest.data, rest.mimeType);
    case 'audio':
      return content.audio(rest.data, rest.mimeType);
    case 'resource':
      return content.resource((part as { readonly resource: { readonly uri: string } }).resource);
    case 'resource_link':
      return content.link(rest as unknown as { readonly uri: string });
    default:
      return undefined;
  }
}
