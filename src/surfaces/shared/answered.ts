/** What a person learns about an answer: how the call ended, but not what it returned. */
import type { ToolResult } from '../../api/result.ts';
import type { ApprovalRequest, HostToolRegistry } from '../../core.ts';
import { inspectRegistry } from '../../extend.ts';
import type { JsonObject, JsonValue } from '../../values/json/index.ts';

/** Why nothing was answered, and the HTTP status for it. */
const refusals: ReadonlyMap<string, number> = new Map([
  ['unknown_approval', 404],
  ['four_eyes', 403],
  ['not_an_approver', 403],
  ['standing_answer', 403],
  ['invalid_edit', 400],
  ['token_used', 409],
  ['token_invalid', 409],
  ['expired', 409],
  ['definition_changed', 409],
  ['duplicate_call_id', 409],
  ['token_foreign', 503],
  ['session_unavailable', 503],
  ['store_unavailable', 503],
]);

/** What came of an answer. */
export type Answered =
  | { readonly outcome: JsonObject; readonly status: 200 | 202 }
  /** Nothing was answered. `issues` say what is wrong with an edit, by path. */
  | { readonly refused: string; readonly status: number; readonly issues: JsonValue | undefined };

/** Waits for the end of the call that was answered, but no longer than this many milliseconds. */
export async function answeredBy(
  id: string,
  decision: string,
  answer: () => Promise<ToolResult>,
  waitMs: number,
): Promise<Answered> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), waitMs);
  });
  try {
    const result = await Promise.race([answer(), late]);
    if (result === undefined) return { outcome: { id, decision, status: 'running' }, status: 202 };
    const { status } = result.metadata;
    if (result.success) return { outcome: { id, decision, status }, status: 200 };
    const { code, reason, message, details } = result.error;
    const refusal = refusalOf(result);
    if (refusal !== undefined)
      return {
        refused: message,
        status: refusals.get(refusal) ?? 409,
        issues: refusal === 'invalid_edit' ? details : undefined,
      };
    const ended = { id, decision, status, code };
    return { outcome: reason === undefined ? ended : { ...ended, reason }, status: 200 };
  } finally {
    clearTimeout(timer);
  }
}

/** Distinguishes a refused answer, which leaves its question open, from one that counted. */
const reasons: ReadonlySet<string | undefined> = new Set([
  'unknown_approval',
  'four_eyes',
  'not_an_approver',
  'standing_answer',
  'token_used',
  'token_invalid',
  'token_foreign',
  'definition_changed',
  'expired',
  'session_unavailable',
  'store_unavailable',
]);

/**
 * Why `registry.approvals.answer` or `session.approvals.resume` has answered nothing: a reason, or
 * a code if there is none. Undefined if the answer counted, whatever the result of the call was.
 */
function refusalOf(result: ToolResult): string | undefined {
  if (result.success || result.metadata.status !== 'rejected') return undefined;
  const { code, reason } = result.error;
  if (code === 'duplicate_call_id') return code;
  if (code === 'invalid_input' && reason === 'invalid_edit') return reason;
  const isRefusal = code === 'approval_denied' || code === 'approval_timeout';
  return isRefusal && reasons.has(reason) ? reason : undefined;
}

// The schema of the tool of an approval, for a form in which a person edits the input.

/** Most characters of a schema that is sent. */
const maxChars = 60_000;

/**
 * Whether a person may change the input of a call that is asked about. Hidden fields are not in the
 * input that was shown, so an edit would lose them. What takes a call back would take back another.
 */
export function mayEdit({ hiddenFields, tool }: Pick<ApprovalRequest, 'hiddenFields' | 'tool'>) {
  return hiddenFields.length === 0 && !tool.name.endsWith('.revert');
}

/**
 * The JSON schema of the input of the tool that a person is asked about. Undefined if this registry
 * does not have exactly this tool, so that an edit would not be accepted, or if the schema is long.
 */
export function schemaOfAsked(
  registry: HostToolRegistry<never>,
  request: Pick<ApprovalRequest, 'tool' | 'sessionId' | 'principal'>,
): JsonValue | undefined {
  const schema = inspectRegistry(registry).askedTool(request)?.parameters;
  if (schema === undefined) return undefined;
  const text = JSON.stringify(schema);
  return text.length <= maxChars ? (JSON.parse(text) as JsonValue) : undefined;
}
