/** Lookup and availability: which tool is meant, and whether this caller may have it now. */

import { type ToolError, toolError } from '../../errors.ts';
import type { Binding } from '../../state/binding.ts';
import type { Call } from '../../state/call.ts';
import { unmetFact } from '../../toolset/effective.ts';
import { notAvailableError, notFoundError } from '../../toolset/unavailable.ts';
import type { Step } from '../step.ts';
import { toldName } from '../told-name.ts';

/** Finds the tool. What is unknown here, internal or another session's does not exist. */
export function lookup(call: Call): Step {
  const { session, toolName, parent } = call;
  const binding = session.binding(toolName);
  if (binding === undefined) {
    // An outsider may never have been shown a tool of the registry; the session's own it was.
    const knew =
      call.surface?.outside === true
        ? session.gone?.has(toolName) === true
        : session.knew(toolName);
    return knew ? removedMeanwhile(call) : notFound(call);
  }
  if (binding.entry.internals.internal && parent === undefined) return notFound(call);
  call.binding = binding;
  call.entry = binding.entry;
  call.counted = true;
  binding.entry.inFlight++;
  if (call.resumed === undefined) return undefined;
  const { fingerprint, source } = call.resumed;
  if (binding.entry.source === source && binding.entry.definition.fingerprint === fingerprint)
    return undefined;
  return toolError('approval_denied', 'The tool changed since it was asked about. Call it again.', {
    reason: 'definition_changed',
  });
}

/** Refuses a tool that is gated, disabled, out of the profile or replaced while the call waited. */
export function checkAvailable(call: Call): Step {
  const binding = call.binding as Binding;
  const { drop } = binding;
  const withdrawn = binding.entry.internals.outside?.withdrawn();
  if (withdrawn !== undefined) return notAvailable(call, withdrawn);
  if (drop === undefined) return undefined;
  // A call of a hidden name is told what the rule says; `decide` words it.
  if (drop === 'denied') return undefined;
  if (drop === 'not_in_profile' && call.parent !== undefined) {
    // `uses` stands for the profile, and for nothing that would have been asked after it.
    const fact = unmetFact(binding.entry.internals.requires, call.session.facts);
    if (fact !== undefined) return notAvailable(call, `fact_unmet:${fact}`);
    return binding.knobs === undefined ? notAvailable(call, 'knobs_missing') : undefined;
  }
  return notAvailable(call, drop);
}

function notFound(call: Call): ToolError {
  const { session, toolName } = call;
  const { registry } = session;
  return notFoundError(
    toolName,
    registry.hints.take(registry.monotonic()) ? registry.viewOf(session).names : [],
    (name) => toldName(call, name),
  );
}

function notAvailable(call: Call, drop: string): ToolError {
  const { session, toolName } = call;
  const prerequisites = drop.startsWith('fact_unmet:')
    ? session.registry.viewOf(session).prerequisites
    : [];
  const error = notAvailableError(toolName, drop, prerequisites, (name) => toldName(call, name));
  if (drop !== 'not_in_profile' || call.surface?.outside !== true) return error;
  // An outsider learns nothing of it; events keep the truth.
  call.more.unmasked = error;
  call.more.hidden = true;
  return notFound(call);
}

/** The tool was removed or replaced since the session, or the call, began. */
export function removedMeanwhile(call: Call): ToolError {
  return toolError(
    'tool_not_available',
    `\`${toldName(call)}\` was removed or replaced meanwhile. List the tools again.`,
    { reason: 'removed' },
  );
}
