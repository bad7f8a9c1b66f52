/** The batch of a run: planned when it is observed, run group by group, settled when every call has its one result. */
import { type errorCodes, type ToolError, toolError } from '../errors.ts';
import { frozenJson, type JsonValue } from '../json.ts';
import type { ToolResult } from '../result.ts';
import { planBatch, type ToolCall } from './plan.ts';
import { notAvailableError, notFoundError } from './unavailable.ts';
import type { CallOutcome, WorkflowCommand } from './workflow-events.ts';
import type { BatchCall, BatchState, Reduction, RunState, WorkflowState } from './workflow-state.ts';

/** Plans what the model asked for and asks the host for the first group; a batch in which nothing is to be run is settled at once. */
export function openBatch(state: WorkflowState, run: RunState, observed: readonly ToolCall[]): Reduction {
  // Tools that came meanwhile are known, and not available before the model is shown them.
  const known = new Map([...state.tools, ...run.tools].map((tool) => [tool.name, tool]));
  const plan = planBatch(observed, known, run.effective.names);
  const calls = plan.calls.map(({ accepted, code }, index): BatchCall => {
    const call = observed[index] as ToolCall;
    return Object.freeze({ ...call, accepted, result: accepted ? null : failed(call, refusal(run, call, code as ToolError['code']), 'rejected') });
  });
  const batches = state.batches + 1;
  const batch: BatchState = {
    id: `batch-${batches}`,
    groups: frozenJson(plan.groups as unknown as JsonValue) as unknown as BatchState['groups'],
    group: -1,
    calls: Object.freeze(calls),
    planHash: plan.hash,
  };
  return nextGroup({ ...state, batches, lastPlanHash: plan.hash }, batch);
}

/** Takes a result. Unknown calls, and those that have their result already, change nothing. */
export function settleCall(state: WorkflowState, batch: BatchState, callId: string, result: ToolResult): Reduction {
  const place = batch.calls.findIndex((call) => call.id === callId && call.accepted && call.result === null);
  if (place === -1) return { state, commands: [] };
  const calls = Object.freeze(batch.calls.map((call, index) => (index === place ? Object.freeze({ ...call, result }) : call)));
  const settled = { ...batch, calls };
  return waiting(settled).length > 0 ? { state: withBatch(state, settled), commands: [] } : nextGroup(state, settled);
}

/** Ends the open calls of a batch as cancelled. */
export function cancelBatch(state: WorkflowState, batch: BatchState): Reduction {
  const error = toolError('cancelled', 'The run was cancelled before the call ended. It may have run.');
  const calls = batch.calls.map((call) => (call.result === null ? Object.freeze({ ...call, result: failed(call, error, 'cancelled') }) : call));
  return settled(state, { ...batch, calls });
}

/** Asks for the next group that has anything to run. Calls that were settled ahead of their group are not asked for again. */
function nextGroup(state: WorkflowState, batch: BatchState): Reduction {
  for (let group = batch.group + 1; group < batch.groups.length; group++) {
    const next = { ...batch, group };
    const calls = waiting(next);
    if (calls.length > 0) return { state: withBatch(state, next), commands: [{ type: 'execute_calls', batchId: batch.id, calls: calls.map(asObserved) }] };
  }
  return settled(state, batch);
}

function settled(state: WorkflowState, { id, calls }: BatchState): Reduction {
  const results = calls.map(({ id: callId, name: toolName, result }): CallOutcome => ({ callId, toolName, result: result as ToolResult }));
  const command: WorkflowCommand = { type: 'batch_settled', batchId: id, results };
  return { state: Object.freeze({ ...state, batch: null }), commands: [command] };
}

/** The calls of the group that runs which have no result yet. */
function waiting({ groups, group, calls }: BatchState): BatchCall[] {
  const ids = new Set(groups[group]);
  return calls.filter(({ id, accepted, result }) => accepted && result === null && ids.has(id));
}

function asObserved({ accepted: _, result: __, ...call }: BatchCall): ToolCall {
  return call;
}

function withBatch(state: WorkflowState, batch: BatchState): WorkflowState {
  return Object.freeze({ ...state, batch: Object.freeze(batch) });
}

function refusal(run: RunState, { id, name }: ToolCall, code: ToolError['code']): ToolError {
  if (code === 'duplicate_call_id')
    return toolError(code, `The id \`${id}\` stands twice in the batch. Only the first was run; give every call an id of its own.`);
  if (code === 'tool_not_found') return notFoundError(name, run.effective.names);
  const drop = run.effective.dropped.find((dropped) => dropped.name === name)?.code ?? 'not_listed';
  return notAvailableError(name, drop, run.effective.prerequisites);
}

function failed({ id, name }: ToolCall, error: ToolError, status: (typeof errorCodes)[ToolError['code']]['status']): ToolResult {
  const result: ToolResult = { success: false, error, metadata: { callId: id, toolName: name, status, attempt: 1, durationMs: 0 } };
  return frozenJson(result as unknown as JsonValue) as unknown as ToolResult;
}
