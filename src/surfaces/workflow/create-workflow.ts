/** Makes a new workflow. */
import { mergeFacts } from '../../core/toolset/facts.ts';
import { checkInventory } from './inventory.ts';
import { readWorkflowOptions } from './read-event.ts';
import { effectiveOf, type WorkflowOptions, type WorkflowState } from './workflow-state.ts';

/**
 * Makes a workflow. `createWorkflow(codingAgentPreset())` needs no further events to set it up.
 * @example
 * ```ts
 * import { createWorkflow, reduce, toolSpecs } from 'host-tools/workflow';
 *
 * const workflow = createWorkflow({
 *   tools: toolSpecs(session),
 *   profiles: { all: ['add'] },
 *   profile: 'all',
 * });
 * const { state, commands } = reduce(workflow, { type: 'run_requested' });
 * ```
 * @throws MisuseError `invalid_option`, `duplicate_name`, `unknown_tool`, `unknown_profile`
 */
export function createWorkflow(options: WorkflowOptions): WorkflowState {
  const {
    tools,
    profiles = {},
    profile = null,
    facts = {},
    budget = null,
  } = readWorkflowOptions(options);
  const state: WorkflowState = {
    version: 1,
    tools,
    profiles,
    profile,
    facts: mergeFacts({}, facts),
    overrides: null,
    budget,
    run: null,
    batch: null,
    lastRun: null,
    lastPlanHash: null,
    runs: 0,
    batches: 0,
  };
  checkInventory(state);
  // Throws for an unknown required name now instead of in the first run.
  effectiveOf(state);
  return Object.freeze(state);
}
