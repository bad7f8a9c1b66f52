/**
 * The batch of a run: planned when its calls are observed, run group by group, settled when every
 * call has a result.
 */

import type { ToolCall } from '../../api/batch.ts';
import type { ToolResult } from '../../api/result.ts';
import { planOf } from '../../core/toolset/batch-plan.ts';
import { notDiscovered } from '../../core/toolset/effective.ts';
import { notAvailableError, notFoundError } from '../../core/toolset/unavailable.ts';
import { type codes, type ToolError, toolError } from '../../values/errors/index.ts';
import { frozenJson } from '../../values/json/index.ts';
import { beginBatch, nextGroup, openCalls, withResult } from './settlements.ts';
import type { CallOutcome, WorkflowCommand } from './workflow-events.ts';
import type {
  BatchCall,
  BatchState,
  Reduction,
  RunState,
  WorkflowState,
} from './workflow-state.ts';

/**
 * How many unknown names of a batch get a suggestion. Each one is compared with all known names,
 * and a model that invents more will not benefit from suggestions.
 */
const maxHints = 32;

/**
 * Plans the calls of the model and asks the host to run the first group. A batch without a call to
 * run is settled at once.
 */
export function openBatch(
  state: WorkflowState,
  run: RunState,
  observed: readonly ToolCall[],
): Reduction {
  // Tools that were added since the model was asked are known, but not available until it sees
  // them.
  const known = new Map([...state.tools, ...run.tools].map((tool) => [tool.name, tool]));
  const plan = planOf(observed, known, callable(run));
  let hints = maxHints;
  const calls = plan.calls.map(({ accepted, code }, index): BatchCall => {
    const call = observed[index] as ToolCall;
    const error = accepted
      ? undefined
      : refusal(run, call, code as ToolError['code'], code === 'tool_not_found' && hints-- > 0);
    return Object.freeze({
      ...call,
      accepted,
      result: error === undefined ? null : failed(call, error, 'rejected'),
    });
  });
  const batches = state.batches + 1;
  const batch = beginBatch({
    id: `batch-${batches}`,
    groups: frozenJson(plan.groups) as BatchState['groups'],
    calls: Object.freeze(calls),
    planHash: plan.hash,
  });
  return goOn({ ...state, batches, lastPlanHash: plan.hash }, batch);
}

/** The tools that the model saw, and those that it could have found. */
function callable({ effective: { names, dropped } }: RunState): readonly string[] {
  const others = dropped.filter(({ code }) => code === notDiscovered);
  return others.length === 0 ? names : [...names, ...others.map(({ name }) => name)];
}

/** Records a result. An unknown call, or one that already has a result, changes nothing. */
export function settleCall(
  state: WorkflowState,
  batch: BatchState,
  callId: string,
  result: ToolResult,
): Reduction {
  const next = withResult(batch, callId, result);
  if (next === undefined) return { state, commands: [] };
  return openCalls(next) === 0
    ? goOn(state, next)
    : { state: withBatch(state, next), commands: [] };
}

/** Ends the open calls of a batch as cancelled. */
export function cancelBatch(state: WorkflowState, batch: BatchState): Reduction {
  const started = toolError(
    'cancelled',
    'The run was cancelled before the call ended. It may have run.',
  );
  const waited = toolError('cancelled', 'The run was cancelled before the call started.');
  const handedOut = new Set(batch.groups.slice(0, batch.group + 1).flat());
  const calls = batch.calls.map((call) =>
    call.result === null
      ? Object.freeze({
          ...call,
          result: failed(call, handedOut.has(call.id) ? started : waited, 'cancelled'),
        })
      : call,
  );
  return settled(state, batch.id, calls);
}

/**
 * Asks for the next group with a call to run, or settles the batch. Calls that were settled before
 * their group started are not run again.
 */
function goOn(state: WorkflowState, batch: BatchState): Reduction {
  const next = nextGroup(batch);
  if (next === undefined) return settled(state, batch.id, batch.calls);
  return {
    state: withBatch(state, next.batch),
    commands: [{ type: 'execute_calls', batchId: batch.id, calls: next.calls.map(asObserved) }],
  };
}

function settled(state: WorkflowState, id: string, calls: readonly BatchCall[]): Reduction {
  const results = calls.map(
    ({ id: callId, name: toolName, result }): CallOutcome => ({
      callId,
      toolName,
      result: result as ToolResult,
    }),
  );
  const command: WorkflowCommand = { type: 'batch_settled', batchId: id, results };
  return { state: Object.freeze({ ...state, batch: null }), commands: [command] };
}

function asObserved({ accepted: _, result: __, ...call }: BatchCall): ToolCall {
  return call;
}

function withBatch(state: WorkflowState, batch: BatchState): WorkflowState {
  return Object.freeze({ ...state, batch });
}

function refusal(
  run: RunState,
  { id, name }: ToolCall,
  code: ToolError['code'],
  hinted: boolean,
): ToolError {
  if (code === 'duplicate_call_id')
    return toolError(
      code,
      `The id \`${id}\` occurs twice in the batch. Only the first call was run; give each call ` +
        'its own id.',
    );
  if (code === 'tool_not_found') return notFoundError(name, hinted ? run.effective.names : []);
  const drop = run.effective.dropped.find((dropped) => dropped.name === name)?.code ?? 'not_listed';
  return notAvailableError(name, drop, run.effective.prerequisites);
}

function failed(
  { id, name }: ToolCall,
  error: ToolError,
  status: (typeof codes)[ToolError['code']]['status'],
): ToolResult {
  const result: ToolResult = {
    success: false,
    error,
    metadata: { callId: id, toolName: name, status, attempt: 1, durationMs: 0 },
  };
  return frozenJson(result) as ToolResult;
}
