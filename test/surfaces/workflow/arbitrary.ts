/** Streams of events that nobody would write by hand. */
import fc from 'fast-check';
import type { JsonObject } from '../../../src/index.ts';
import type { WorkflowEvent } from '../../../src/surfaces/workflow/index.ts';
import { succeeded, tools } from './events.ts';

export const name = fc.constantFrom(
  'read',
  'grep',
  'write',
  'edit',
  'exec',
  'deploy',
  'nothing',
  '__proto__',
  'constructor',
);
const names = fc.uniqueArray(name, { maxLength: 3 });
export const callId = fc.constantFrom('c1', 'c2', 'c3', 'c4', 'toString');
export const event: fc.Arbitrary<WorkflowEvent> = fc.oneof(
  fc.constant<WorkflowEvent>({ type: 'run_requested' }),
  fc.constant<WorkflowEvent>({ type: 'run_requested', runId: 'own', provider: 'reader' }),
  fc.constant<WorkflowEvent>({ type: 'run_completed' }),
  fc.constant<WorkflowEvent>({ type: 'run_cancelled' }),
  fc.record({
    type: fc.constant('tool_profile_selected' as const),
    profile: fc.constantFrom('all', 'reader', 'toString'),
  }),
  fc.record({
    type: fc.constant('tool_overrides_set' as const),
    scope: fc.constantFrom('session' as const, 'run' as const),
    enable: names,
    disable: names,
    force: names,
  }),
  fc.record({
    type: fc.constant('tools_listed' as const),
    names: fc.option(fc.uniqueArray(fc.constantFrom('read', 'write', 'unknown', 'toString'))),
  }),
  fc.record({
    type: fc.constant('facts_updated' as const),
    facts: fc.dictionary(
      fc.constantFrom('network', 'a', '__proto__'),
      fc.constantFrom(true, null, 1),
    ) as fc.Arbitrary<JsonObject>,
  }),
  fc.record({
    type: fc.constant('host_session_updated' as const),
    hostSessionId: fc.constantFrom('h', null),
    status: fc.constantFrom('ready' as const, 'closed' as const, null),
  }),
  fc.record({
    type: fc.constant('tool_registry_set' as const),
    tools: fc.constantFrom(tools, tools.slice(0, 3)),
    profiles: fc.constantFrom({ all: ['read', 'write'], reader: ['read'] }, {}),
  }),
  fc.record({
    type: fc.constant('tool_calls_observed' as const),
    calls: fc.array(
      fc.record({
        id: callId,
        name,
        arguments: fc.constantFrom({}, { path: 'a', deep: { z: 1, a: 2 } }),
      }),
      { maxLength: 5 },
    ),
  }),
  callId.map(
    (id): WorkflowEvent => ({ type: 'tool_call_settled', callId: id, result: succeeded(id) }),
  ),
);
export const events = fc.array(event, { maxLength: 40 });

/** The same value, every object's keys in reverse. */
export function shuffled<T>(value: T): T {
  if (Array.isArray(value)) return value.map(shuffled) as T;
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .reverse()
      .map(([key, item]) => [key, shuffled(item)]),
  ) as T;
}
