/** A tool with which an agent learns how a call that needed an approval ended. */

import type { ToolResult } from '../../api/result.ts';
import {
  defineTool,
  type HostToolDefinition,
  type HostToolRegistry,
  type JsonObject,
  type JsonValue,
} from '../../core.ts';
import { outcomeReader } from '../../parts/durable-approvals/settle-approval.ts';
import { oneOf, readOptions, type TableOf, withDefault } from '../../values/options/index.ts';

/** Options of {@link approvalOutcomeTool}. */
export interface ApprovalOutcomeToolOptions {
  /**
   * `masked` hides why a handler failed, as a surface for callers outside does. The stored outcome
   * does not say for whom its message was meant. @default "masked"
   */
  readonly exposeErrors?: 'message' | 'masked' | undefined;
}

/** The input of the tool. */
export interface ApprovalOutcomeInput {
  /** The id of the approval, which the answer `approval_pending` names. */
  readonly id: string;
}

const where = 'approvalOutcomeTool';
const table = {
  exposeErrors: withDefault(oneOf('message', 'masked'), 'masked'),
} satisfies TableOf<ApprovalOutcomeToolOptions>;

const parameters = {
  type: 'object',
  properties: { id: { type: 'string', minLength: 1, maxLength: 512, 'x-role': 'free' } },
  required: ['id'],
  additionalProperties: false,
} as const;

const outputSchema = {
  type: 'object',
  properties: {
    status: { enum: ['pending', 'settled', 'expired', 'unknown'] },
    decision: { type: 'string' },
    // The tool that produced it knew its secrets. Here they are unknown, so events and logs hide
    // all of it.
    output: { 'x-secret': true },
    error: { type: 'object' },
  },
  required: ['status'],
} as const;

/**
 * Makes the tool `approval_outcome`: it tells an agent how a call that was `approval_pending` has
 * ended, only for the same session id and principal. Without it, an agent outside the process, such
 * as one over MCP, never learns this. Register the tool like any other; it passes the same gates.
 * Its output counts as untrusted, since it may be the output of any tool, and events hide it.
 * @throws MisuseError `invalid_option` for a registry without `approvals.secret`, or whose store
 * keeps no outcomes.
 *
 * @example
 * ```ts
 * import { approvalOutcomeTool } from 'host-tools/approvals';
 *
 * registry.register(approvalOutcomeTool(registry));
 * ```
 */
export function approvalOutcomeTool<S>(
  registry: HostToolRegistry<S>,
  options: ApprovalOutcomeToolOptions = {},
): HostToolDefinition<'approval_outcome', ApprovalOutcomeInput, unknown, unknown, unknown> {
  const { exposeErrors } = readOptions(where, options, table);
  const outcomeOf = outcomeReader(where, registry);
  return defineTool({
    name: 'approval_outcome',
    description:
      'Says how a call that ended as approval_pending was decided. `id` is the id of the ' +
      'approval, which that answer names. The status is `pending` while nobody has answered, ' +
      '`settled` once somebody has, `expired` if nobody did in time, and `unknown` for any other ' +
      'id. A settled one has the output or the error of the call, unless the call is still ' +
      'running. Do other work before you ask again.',
    parameters,
    outputSchema,
    annotations: { readOnly: true },
    origin: 'untrusted',
    async handler({ id }, { sessionId, principal }) {
      const { status, decision, result } = await outcomeOf({ sessionId, principal }, id);
      return {
        status,
        ...(decision === undefined ? {} : { decision }),
        ...(result === undefined ? {} : told(result, exposeErrors === 'masked')),
      };
    },
  });
}

function told(
  result: ToolResult,
  isMasked: boolean,
): { readonly output?: JsonValue; readonly error?: JsonObject } {
  // It was read from JSON.
  if (result.success) return { output: result.output as JsonValue };
  const { code, reason, message } = result.error;
  if (isMasked && code === 'handler_error')
    return { error: { code, message: 'The tool failed. The details are not shown here.' } };
  return { error: { code, ...(reason === undefined ? {} : { reason }), message } };
}
