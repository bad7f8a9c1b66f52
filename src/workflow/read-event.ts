/** Reading what comes to a workflow from outside: a frozen copy as JSON, checked field by field. */
import { isJsonObject, type JsonObject } from '../json.ts';
import { nearestNames } from '../names.ts';
import {
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

/** An event as frozen JSON. Fields that no event has are kept and mean nothing. @throws MisuseError `invalid_option` */
export function readEvent(event: unknown): WorkflowEvent {
  const read = copied(event, 'the event');
  if (!isJsonObject(read)) throw wrong('the event', 'an object with a `type`', read);
  const { type } = read;
  const fields = typeof type === 'string' && Object.hasOwn(events, type) ? events[type as WorkflowEvent['type']] : undefined;
  if (fields === undefined) throw wrong('type', `one of ${Object.keys(events).join(', ')}`, type);
  checkFields(read, fields, type as string);
  // A misspelt list would lift what it was to disable.
  if (type === 'tool_overrides_set') checkKeys(read, ['type', ...Object.keys(fields)], type);
  return read as unknown as WorkflowEvent;
}

/** What `createWorkflow` is given, as frozen JSON. @throws MisuseError `invalid_option` */
export function readWorkflowOptions(options: unknown): WorkflowOptions {
  const read = copied(options, 'the workflow');
  if (!isJsonObject(read)) throw wrong('createWorkflow', 'an object with `tools`', read);
  checkFields(
    read,
    { tools: toolSpecs, profiles: optional(profiles), profile: optional(text), facts: optional(object), budget: optional(budget) },
    'createWorkflow',
  );
  return read as unknown as WorkflowOptions;
}

function checkKeys(read: JsonObject, known: readonly string[], at: string): void {
  const unknown = Object.keys(read).find((key) => !known.includes(key));
  if (unknown === undefined) return;
  const [near] = nearestNames(unknown, known);
  throw wrong(at, `no field but ${known.join(', ')}`, `\`${unknown}\`${near === undefined ? '' : ` (did you mean \`${near}\`?)`}`, true);
}

/** Each event's fields beside `type`. */
const events: Readonly<Record<WorkflowEvent['type'], Readonly<Record<string, Check>>>> = {
  tool_registry_set: { tools: toolSpecs, profiles: optional(profiles), profile: optional(text) },
  tool_profile_selected: { profile: text },
  tool_overrides_set: { scope, enable: optional(names), disable: optional(names), force: optional(names) },
  host_session_updated: { hostSessionId: textOrNull, status: textOrNull },
  facts_updated: { facts: object },
  run_requested: { runId: optional(text), profile: optional(text), provider: optional(text) },
  tool_calls_observed: { calls },
  tool_call_settled: { batchId: optional(text), callId: text, result: toolResult },
  run_completed: {},
  run_cancelled: {},
};
