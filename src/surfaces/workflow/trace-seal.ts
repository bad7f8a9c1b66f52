/** What a trace records of each event, so that a replay finds the first difference. */

import { digest } from '../../core/toolset/effective.ts';
import type { JsonObject, JsonValue } from '../../values/json/index.ts';
import { openCalls } from './settlements.ts';
import type { WorkflowCommand } from './workflow-events.ts';
import type { Reduction, WorkflowState } from './workflow-state.ts';

/**
 * Makes the part of a line that is compared: the outcome of the event, and a hash over everything
 * up to it.
 */
export type Seal = (event: JsonValue, reduction: Reduction) => JsonObject;

/**
 * The hash of a line covers the previous line, the event, and the parts of the state. A part that
 * the event did not change is not hashed again, and neither are the calls of a batch at each
 * settlement: they come from events, which the hash covers, and their results are in the line that
 * ends the batch. So the cost of a trace depends on what its events change.
 */
export function createSeal(workflow: WorkflowState): Seal {
  let before = digest(workflow);
  const hashes: Hashes = new WeakMap();
  return (event, { state, commands, error }) => {
    before = digest([before, event, partsOf(state, hashes)]);
    return {
      commands: commands.map(shortened),
      ...(error === undefined ? {} : { error: error.code }),
      state: before,
    };
  };
}

/** The hashes of parts that many states share, such as the inventory. */
type Hashes = WeakMap<object, string>;

function partsOf(state: WorkflowState, hashes: Hashes): JsonObject {
  const hashOf = (value: JsonValue, make: () => JsonValue): JsonValue => {
    if (typeof value !== 'object' || value === null) return value;
    const known = hashes.get(value);
    if (known !== undefined) return known;
    const hash = digest(make());
    hashes.set(value, hash);
    return hash;
  };
  const part = (value: unknown): JsonValue => hashOf(value as JsonValue, () => value as JsonValue);
  const list = (items: readonly unknown[]): JsonValue =>
    hashOf(items as readonly JsonValue[], () => items.map(part));
  const parts = (value: object): Record<string, JsonValue> =>
    Object.fromEntries(Object.entries(value).map(([key, item]) => [key, part(item)]));
  const { run, batch, tools, ...rest } = state;
  return {
    ...parts(rest),
    tools: list(tools),
    run: run === null ? null : { ...parts({ ...run, tools: null }), tools: list(run.tools) },
    batch:
      batch === null
        ? null
        : {
            id: batch.id,
            group: batch.group,
            groups: part(batch.groups),
            planHash: batch.planHash,
            open: openCalls(batch),
          },
  };
}

/** A command without what other lines already hold. */
function shortened(command: WorkflowCommand): JsonObject {
  switch (command.type) {
    case 'llm_generate':
      return { type: command.type, runId: command.runId, toolNames: command.toolNames };
    case 'execute_calls':
      return {
        type: command.type,
        batchId: command.batchId,
        calls: command.calls.map(({ id }) => id),
      };
    case 'batch_settled':
      return {
        type: command.type,
        batchId: command.batchId,
        results: command.results.map(({ callId, result }) => ({
          callId,
          outcome: result.success ? 'succeeded' : result.error.code,
          hash: digest(result),
        })),
      };
  }
}
