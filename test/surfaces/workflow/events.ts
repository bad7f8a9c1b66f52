/** Short ways to write workflow events and read commands. */
import type { ToolResult } from '../../../src/index.ts';
import {
  createWorkflow,
  type LlmGenerate,
  type Reduction,
  reduce,
  type ToolSpec,
  type WorkflowEvent,
  type WorkflowState,
} from '../../../src/surfaces/workflow/index.ts';

export const succeeded = (callId: string, output: unknown = 'done'): ToolResult => ({
  success: true,
  output,
  metadata: { callId, toolName: 'any', status: 'succeeded', attempt: 1, durationMs: 1 },
});

export const settle = (callId: string, batchId?: string): WorkflowEvent => ({
  type: 'tool_call_settled',
  callId,
  result: succeeded(callId),
  ...(batchId === undefined ? {} : { batchId }),
});

export const observe = (
  ...calls: readonly (readonly [id: string, name: string])[]
): WorkflowEvent => ({
  type: 'tool_calls_observed',
  calls: calls.map(([id, name]) => ({ id, name, arguments: {} })),
});

/** Applies events; a refused one fails the test. */
export function applied(state: WorkflowState, ...events: readonly WorkflowEvent[]): Reduction {
  let reduction: Reduction = { state, commands: [] };
  for (const event of events) {
    reduction = reduce(reduction.state, event);
    if (reduction.error !== undefined)
      throw new Error(`${event.type}: ${reduction.error.code}: ${reduction.error.message}`);
  }
  return reduction;
}

/** The names in the last request for a model's turn. */
export function listed({ commands }: Reduction): readonly string[] | undefined {
  return commands.find((command): command is LlmGenerate => command.type === 'llm_generate')
    ?.toolNames;
}

/**
 * A read that may run beside others, a write with a lock, one that runs alone, one that waits for a
 * fact.
 */
export const tools: readonly ToolSpec[] = [
  { name: 'read', parallelSafe: true },
  { name: 'grep', parallelSafe: true },
  { name: 'write', parallelSafe: true, resourceKey: 'files' },
  { name: 'edit', parallelSafe: true, resourceKey: 'files' },
  { name: 'exec' },
  { name: 'deploy', requires: [{ fact: 'network', equals: true }] },
];
export const workflow = (): WorkflowState =>
  createWorkflow({
    tools,
    profiles: { all: tools.map(({ name }) => name), reader: ['grep', 'read'] },
    profile: 'all',
  });
