/** Reads what comes to a workflow from outside: a frozen JSON copy, checked field by field. */

import { own } from '../../core/toolset/tool-spec.ts';
import { describe, MisuseError } from '../../values/errors/index.ts';
import { isJsonObject, type JsonObject } from '../../values/json/index.ts';
import { readMembers } from '../../values/options/index.ts';
import {
  any,
  budget,
  type Check,
  calls,
  checkFields,
  copied,
  names,
  object,
  optional,
  profiles,
  scope,
  text,
  textOrNull,
  toolResult,
  toolSpecs,
  wrong,
} from './shape.ts';
import type { WorkflowEvent } from './workflow-events.ts';
import type { WorkflowOptions } from './workflow-state.ts';

/**
 * An event as frozen JSON.
 * @throws MisuseError `invalid_option` for a value that is not an event, and for an unknown field
 */
export function readEvent(event: unknown): WorkflowEvent {
  const read = copied(event, 'the event');
  if (!isJsonObject(read)) throw wrong('the event', 'an object with a `type`', read);
  const type = own(read, 'type');
  const fields =
    typeof type === 'string' && Object.hasOwn(events, type)
      ? events[type as WorkflowEvent['type']]
      : undefined;
  if (fields === undefined) throw wrong('type', `one of ${Object.keys(events).join(', ')}`, type);
  checkFields(read, { type: any, ...fields }, type as string);
  return read as unknown as WorkflowEvent;
}

/** @throws MisuseError `invalid_option` for a value that cannot be iterated */
export function checkEvents(events: unknown, where: string): void {
  if (
    typeof events === 'object' &&
    events !== null &&
    typeof (events as Partial<Iterable<unknown>>)[Symbol.iterator] === 'function'
  )
    return;
  throw new MisuseError(
    'invalid_option',
    `${where}: expected \`events\` to be an array or another iterable, got ` +
      `${describe(events)}.`,
  );
}

/** The options of `createWorkflow` as frozen JSON. @throws MisuseError `invalid_option` */
export function readWorkflowOptions(options: unknown): WorkflowOptions {
  const copy = copied(options, 'the workflow');
  if (!isJsonObject(copy)) throw wrong('createWorkflow', 'an object with `tools`', copy);
  const read = readMembers('createWorkflow', copy, Object.keys(workflowFields)) as JsonObject;
  for (const [key, check] of Object.entries(workflowFields))
    check(read[key], `createWorkflow.${key}`);
  return read as unknown as WorkflowOptions;
}

const workflowFields: Readonly<Record<keyof WorkflowOptions, Check>> = {
  tools: toolSpecs,
  profiles: optional(profiles),
  profile: optional(text),
  facts: optional(object),
  budget: optional(budget),
};

const namesOrNull: Check = (value, at) => {
  if (value !== null) names(value, at);
};

/** The fields of each event other than `type`. */
const events: Readonly<Record<WorkflowEvent['type'], Readonly<Record<string, Check>>>> = {
  tool_registry_set: { tools: toolSpecs, profiles: optional(profiles), profile: optional(text) },
  tool_profile_selected: { profile: text },
  tool_overrides_set: {
    scope,
    enable: optional(names),
    disable: optional(names),
    force: optional(names),
  },
  host_session_updated: { hostSessionId: textOrNull, status: textOrNull },
  facts_updated: { facts: object },
  tools_listed: { names: namesOrNull },
  run_requested: { runId: optional(text), profile: optional(text), provider: optional(text) },
  tool_calls_observed: { calls },
  tool_call_settled: { batchId: optional(text), callId: text, result: toolResult },
  run_completed: {},
  run_cancelled: {},
};
