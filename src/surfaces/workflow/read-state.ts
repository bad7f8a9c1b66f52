/** Reads a state from outside: from a file, a database or another process. */

import { describe, isMisuseError } from '../../values/errors/index.ts';
import { checkInventory, checkOverrides, checkProfile } from './inventory.ts';
import {
  amount,
  any,
  budget,
  type Check,
  checkFields,
  copied,
  factsRule,
  fields,
  list,
  names,
  optional,
  profiles,
  strings,
  text,
  toolResult,
  toolSpecs,
  wrong,
} from './shape.ts';
import { type BatchState, effectiveOf, notAState, type WorkflowState } from './workflow-state.ts';

/**
 * A state as frozen JSON, checked field by field. A frozen state was made by this library and is
 * returned unchanged.
 * @throws MisuseError `invalid_option` for a value that `serializeState` could not have written
 */
export function readState(state: unknown): WorkflowState {
  if (typeof state === 'object' && state !== null && Object.isFrozen(state))
    return state as WorkflowState;
  try {
    const read = copied(state, 'a workflow state');
    checkFields(read, stateFields, 'state');
    const made = read as unknown as WorkflowState;
    checkNamesIn(made);
    if (made.batch !== null) checkBatch(made.batch);
    return made;
  } catch (error) {
    if (isMisuseError(error)) throw notAState(error.message);
    throw error;
  }
}

const whole: Check = (value, at) => {
  amount(value, at);
  if (!Number.isSafeInteger(value)) throw wrong(at, 'a whole number', value);
};
const anyText: Check = (value, at) => {
  if (typeof value !== 'string') throw wrong(at, 'a string', value);
};
const version: Check = (value, at) => {
  if (value !== 1) throw wrong(at, '1', value);
};
const howEnded: Check = (value, at) => {
  if (value !== 'completed' && value !== 'cancelled')
    throw wrong(at, '"completed" or "cancelled"', value);
};

const overrides = fields({
  enable: optional(names),
  disable: optional(names),
  force: optional(names),
});
const effective = fields({
  names: strings,
  dropped: list(fields({ name: text, code: text })),
  prerequisites: list(fields({ tool: text, fact: text, unlocks: strings })),
  hash: text,
});
const call = fields({
  id: text,
  name: anyText,
  arguments: any,
  resourceKey: optional(text),
  accepted: (value, at) => {
    if (typeof value !== 'boolean') throw wrong(at, 'true or false', value);
  },
  result: nullable(toolResult),
});

/** The members of a state. All but `listed` are required. */
const stateFields: Readonly<Record<keyof WorkflowState, Check>> = {
  version,
  tools: toolSpecs,
  profiles,
  profile: nullable(text),
  facts: factsRule,
  overrides: nullable(overrides),
  budget: nullable(budget),
  listed: optional(names),
  run: nullable(
    fields({
      id: text,
      profile: nullable(text),
      overrides: nullable(overrides),
      turns: whole,
      effective,
      tools: toolSpecs,
    }),
  ),
  batch: nullable(
    fields({ id: text, groups: list(strings), group: whole, calls: list(call), planHash: text }),
  ),
  lastRun: nullable(fields({ id: text, ended: howEnded })),
  lastPlanHash: nullable(text),
  runs: whole,
  batches: whole,
};

function nullable(check: Check): Check {
  return (value, at) => {
    if (value !== null) check(value, at);
  };
}

/** @throws MisuseError for a name that does not exist, since the tools of a run depend on them */
function checkNamesIn(state: WorkflowState): void {
  const { run, batch } = state;
  checkInventory(state);
  if (run !== null) {
    checkOverrides(run.overrides, new Set(state.tools.map(({ name }) => name)), 'run');
    if (run.profile !== null) checkProfile(run.profile, state.profiles);
  } else if (batch !== null) throw notAState('`state.batch`: expected null without a run.');
  effectiveOf(state);
}

/** @throws MisuseError for a batch that could never be settled */
function checkBatch({ groups, group, calls }: BatchState): void {
  const planned = groups.flat();
  const accepted = calls.filter((one) => one.accepted);
  if (planned.length !== accepted.length || accepted.some(({ id }, index) => id !== planned[index]))
    throw notAState('`state.batch.groups`: expected the ids of the accepted calls, in order.');
  if (new Set(planned).size !== planned.length)
    throw notAState('`state.batch.groups`: expected every id once.');
  if (calls.some((one) => !one.accepted && one.result === null))
    throw notAState('`state.batch.calls`: expected a result for every refused call.');
  const open = new Set(accepted.filter(({ result }) => result === null).map(({ id }) => id));
  const isOpen = (ids: readonly string[]): boolean => ids.some((id) => open.has(id));
  if (groups.findIndex(isOpen) !== group)
    throw notAState(
      `\`state.batch.group\`: expected the first group with a call that waits, got ` +
        `${describe(group)}.`,
    );
}
