/** Distinguishes a refused answer, which leaves its question open, from one that counted. */
import type { ToolResult } from '../../api/result.ts';

const reasons: ReadonlySet<string | undefined> = new Set([
  'unknown_approval',
  'four_eyes',
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
export function refusalOf(result: ToolResult): string | undefined {
  if (result.success || result.metadata.status !== 'rejected') return undefined;
  const { code, reason } = result.error;
  if (code === 'duplicate_call_id') return code;
  if (code === 'invalid_input' && reason === 'invalid_edit') return reason;
  const isRefusal = code === 'approval_denied' || code === 'approval_timeout';
  return isRefusal && reasons.has(reason) ? reason : undefined;
}
