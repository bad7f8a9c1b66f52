/**
 * Applies events to a workflow: the next state, and what the host has to do. Pure: no clock, no
 * randomness, no I/O.
 */

import type { Overrides } from '../../api/session-options.ts';
import { mergeFacts } from '../../core/toolset/facts.ts';
import type { ToolSpec } from '../../core/toolset/tool-spec.ts';
import { ownMembers } from '../../core/toolset/tool-spec.ts';
import { describe, isMisuseError, type MisuseError } from '../../values/errors/index.ts';
import { deepFreeze } from '../../values/json/index.ts';
import { checkInventory, checkOverrides, checkProfile } from './inventory.ts';
import { checkEvents, readEvent } from './read-event.ts';
import { readState } from './read-state.ts';
import { cancelBatch, openBatch, settleCall } from './reduce-batch.ts';
import type {
  RunRequested,
  ToolOverridesSet,
  ToolRegistrySet,
  WorkflowCommand,
  WorkflowError,
  WorkflowEvent,
} from './workflow-events.ts';
import {
  effectiveOf,
  notAState,
  type Reduction,
  type RunState,
  type WorkflowState,
} from './workflow-state.ts';

/**
 * Applies one event. It never throws because of an event: a refused one gives an `error` and leaves
 * the state unchanged.
 * @example
 * ```ts
 * import { createWorkflow, reduce } from 'host-tools/workflow';
 *
 * const workflow = createWorkflow({ tools: [{ name: 'add' }], profiles: { all: ['add'] } });
 * const { state, commands, error } = reduce(workflow, {
 *   type: 'tool_profile_selected',
 *   profile: 'all',
 * });
 * ```
 * @throws MisuseError `invalid_option` for a `state` that is not a workflow state
 */
export function reduce(state: WorkflowState, event: WorkflowEvent): Reduction {
  const known = readState(state);
  let read: WorkflowEvent;
  try {
    read = readEvent(event);
  } catch (error) {
    return refused(state, error);
  }
  const reduction = reduceRead(known, read);
  return reduction.state === known && known !== state ? { ...reduction, state } : reduction;
}

/** Applies an event to a state. Both were read before. */
export function reduceRead(state: WorkflowState, event: WorkflowEvent): Reduction {
  try {
    // Without a prototype, so that a polluted `Object.prototype` gives the event no optional field.
    const reduction = apply(state, ownMembers(event));
    return 'code' in reduction ? { state, commands: [], error: reduction } : reduction;
  } catch (error) {
    return refused(state, error);
  }
}

function refused(state: WorkflowState, error: unknown): Reduction {
  if (isMisuseError(error))
    return { state, commands: [], error: { code: refusalCode(error), message: error.message } };
  // Only a state that the host froze gets here unread.
  throw notAState(`Applying an event to it failed: ${describe(error)}.`);
}

/**
 * Applies events one after another. Refused events are skipped, as they were the first time.
 * `commands` are those of all events, in order.
 * @example
 * ```ts
 * import { createWorkflow, replay } from 'host-tools/workflow';
 *
 * const workflow = createWorkflow({ tools: [{ name: 'add' }], profiles: { all: ['add'] } });
 * const { state } = replay(workflow, [
 *   { type: 'tool_profile_selected', profile: 'all' },
 *   { type: 'run_requested' },
 * ]);
 * ```
 * @throws MisuseError `invalid_option` for a `state` that is not a workflow state, and for `events`
 * that cannot be iterated
 */
export function replay(
  state: WorkflowState,
  events: Iterable<WorkflowEvent>,
): { readonly state: WorkflowState; readonly commands: readonly WorkflowCommand[] } {
  checkEvents(events, 'replay');
  const commands: WorkflowCommand[] = [];
  let current: WorkflowState = readState(state);
  for (const event of events) {
    const reduction = reduce(current, event);
    current = reduction.state;
    for (const command of reduction.commands) commands.push(command);
  }
  return { state: current, commands };
}

function refusalCode({ code }: MisuseError): WorkflowError['code'] {
  return code === 'unknown_tool' || code === 'unknown_profile' ? code : 'invalid_event';
}

const noTools: readonly ToolSpec[] = Object.freeze([]);
const noRun: WorkflowError = {
  code: 'run_not_active',
  message: 'Expected an active run. Send `run_requested` first.',
};

function unsettled(batchId: string, before: string): WorkflowError {
  return {
    code: 'batch_already_active',
    message:
      `Expected every call of \`${batchId}\` to be settled before ${before}. ` +
      'Settle them, or cancel the run.',
  };
}

function apply(state: WorkflowState, event: WorkflowEvent): Reduction | WorkflowError {
  const { run, batch } = state;
  switch (event.type) {
    case 'tool_registry_set':
      return changed(state, newInventory(state, event));
    case 'tool_profile_selected':
      checkProfile(event.profile, state.profiles);
      // The newest choice applies, even in a run that chose a profile for itself.
      return changed(state, {
        profile: event.profile,
        run: run === null ? null : Object.freeze({ ...run, profile: null }),
      });
    case 'tool_overrides_set':
      return newOverrides(state, event);
    case 'host_session_updated':
      return changed(state, {
        facts: mergeFacts(state.facts, {
          'hostSession.id': event.hostSessionId ?? null,
          'hostSession.status': event.status ?? null,
        }),
      });
    case 'facts_updated':
      return changed(state, { facts: mergeFacts(state.facts, event.facts) });
    case 'tools_listed': {
      const { listed: _, ...rest } = state;
      const { names: listed } = event;
      return { state: Object.freeze(listed === null ? rest : { ...rest, listed }), commands: [] };
    }
    case 'run_requested':
      return startRun(state, event);
    case 'tool_calls_observed': {
      if (run === null) return noRun;
      if (batch !== null) return unsettled(batch.id, 'new ones are observed');
      return continued(openBatch(state, run, event.calls));
    }
    case 'tool_call_settled':
      if (batch === null || (event.batchId !== undefined && event.batchId !== batch.id))
        return { state, commands: [] };
      return continued(settleCall(state, batch, event.callId, event.result));
    case 'run_completed':
      if (run === null) return noRun;
      if (batch !== null) return unsettled(batch.id, 'the run is completed');
      return changed(state, ended(run, 'completed'));
    case 'run_cancelled': {
      if (run === null) return noRun;
      const settled = batch === null ? { state, commands: [] } : cancelBatch(state, batch);
      return { ...settled, state: Object.freeze({ ...settled.state, ...ended(run, 'cancelled') }) };
    }
  }
}

function changed(state: WorkflowState, changes: Partial<WorkflowState>): Reduction {
  return { state: Object.freeze({ ...state, ...changes }), commands: [] };
}

function ended(
  run: RunState,
  how: 'completed' | 'cancelled',
): Pick<WorkflowState, 'run' | 'lastRun'> {
  return { run: null, lastRun: Object.freeze({ id: run.id, ended: how }) };
}

function newInventory(
  state: WorkflowState,
  { tools, profiles = state.profiles, profile = state.profile ?? undefined }: ToolRegistrySet,
): Partial<WorkflowState> {
  const inventory = { tools, profiles, profile: profile ?? null, overrides: state.overrides };
  checkInventory(inventory);
  const { run } = state;
  const names = new Set(tools.map(({ name }) => name));
  if (run !== null) {
    checkOverrides(run.overrides, names, 'run');
    if (run.profile !== null) checkProfile(run.profile, profiles);
  }
  // The tools that the budget requires must exist as well.
  effectiveOf({ ...state, ...inventory });
  return inventory;
}

function newOverrides(
  state: WorkflowState,
  { scope, enable = [], disable = [], force = [] }: ToolOverridesSet,
): Reduction | WorkflowError {
  const overrides: Overrides = Object.freeze({ enable, disable, force });
  checkOverrides(overrides, new Set(state.tools.map(({ name }) => name)), scope);
  if (scope === 'session') return changed(state, { overrides });
  return state.run === null
    ? noRun
    : changed(state, { run: Object.freeze({ ...state.run, overrides }) });
}

function startRun(
  state: WorkflowState,
  { runId, profile, provider }: RunRequested,
): Reduction | WorkflowError {
  if (state.run !== null)
    return {
      code: 'run_already_active',
      message: `Expected no active run, got \`${state.run.id}\`. Complete or cancel it first.`,
    };
  if (profile !== undefined) checkProfile(profile, state.profiles);
  const chosen =
    profile ??
    (provider !== undefined && Object.hasOwn(state.profiles, provider) ? provider : null);
  const runs = state.runs + 1;
  const idle = { names: [], dropped: [], prerequisites: [], hash: '' };
  const run: RunState = {
    id: runId ?? `run-${runs}`,
    profile: chosen,
    overrides: null,
    turns: 0,
    effective: idle,
    tools: noTools,
  };
  return askModel(Object.freeze({ ...state, runs, run }), run);
}

/** Asks the model again if the batch is settled. */
function continued(reduction: Reduction): Reduction {
  const { state, commands } = reduction;
  if (state.run === null || state.batch !== null || commands.length === 0) return reduction;
  const next = askModel(state, state.run);
  return { state: next.state, commands: [...commands, ...next.commands] };
}

/**
 * Asks the model for its next turn. Only here is the effective set computed; it applies until the
 * model is asked again.
 */
function askModel(state: WorkflowState, run: RunState): Reduction {
  const computed = effectiveOf(state);
  const byName = new Map(state.tools.map((tool) => [tool.name, tool]));
  const listed = computed.names.flatMap((name) => byName.get(name) ?? []);
  // Unchanged parts stay the same objects, so that comparing or hashing states can skip them.
  const effective = computed.hash === run.effective.hash ? run.effective : deepFreeze(computed);
  const tools =
    listed.length === run.tools.length && listed.every((tool, index) => tool === run.tools[index])
      ? run.tools
      : Object.freeze(listed);
  return {
    state: Object.freeze({
      ...state,
      run: Object.freeze({ ...run, turns: run.turns + 1, effective, tools }),
    }),
    commands: [{ type: 'llm_generate', runId: run.id, tools, toolNames: effective.names }],
  };
}
