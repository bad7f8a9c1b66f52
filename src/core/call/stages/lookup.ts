/** Lookup and availability: which tool the name means, and whether this caller may use it now. */

import { type ToolError, toolError } from '../../../values/errors/index.ts';
import { unmetFact } from '../../toolset/effective.ts';
import { notAvailableError, notFoundError } from '../../toolset/unavailable.ts';
import type { Call, FoundCall } from '../call.ts';
import { shownNameOf } from '../shown.ts';
import type { Outcome } from '../step.ts';

/** Finds the tool. An internal tool, or one of another session, does not exist for the caller. */
export function lookup(call: Call): Outcome {
  const { session, toolName, parent } = call;
  const binding = session.binding(toolName);
  if (binding === undefined) {
    // A caller from outside may never have seen a tool of the registry, so it must not learn that
    // the tool was removed. It has seen the session's own tools.
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
  if (
    typeof call.options?.elsewhere === 'function' &&
    binding.entry.internals.runsIn !== 'external'
  )
    return notAvailable(call, 'not_external');
  if (call.resumed === undefined) return undefined;
  const { fingerprint, source } = call.resumed;
  if (binding.entry.source === source && binding.entry.definition.fingerprint === fingerprint)
    return undefined;
  return toolError(
    'approval_denied',
    'The tool has changed since approval was requested. Call it again.',
    { reason: 'definition_changed' },
  );
}

/** Refuses a tool that is disabled, withdrawn, outside the profile, or waits for a fact. */
export function checkAvailable(call: FoundCall): Outcome {
  const { binding } = call;
  const { drop } = binding;
  const withdrawn = binding.entry.internals.outside?.withdrawn();
  if (withdrawn !== undefined) return notAvailable(call, withdrawn);
  if (drop === undefined) return undefined;
  // `decide` refuses the call with the text of the rule that hides the tool.
  if (drop === 'denied') return undefined;
  if (drop === 'external' && call.options?.elsewhere !== undefined) return undefined;
  if (drop === 'not_in_profile' && call.parent !== undefined) {
    // `uses` replaces the profile. The checks after the profile still apply.
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
    (name) => shownNameOf(call, name),
  );
}

function notAvailable(call: Call, drop: string): ToolError {
  const { session, toolName } = call;
  const prerequisites = drop.startsWith('fact_unmet:')
    ? session.registry.viewOf(session).prerequisites
    : [];
  const error = notAvailableError(toolName, drop, prerequisites, (name) => shownNameOf(call, name));
  if (drop !== 'not_in_profile' || call.surface?.outside !== true) return error;
  // A caller from outside must not learn that the tool exists. Events carry the real error.
  call.more.unmasked = error;
  call.more.hidden = true;
  return notFound(call);
}

/** The tool was removed or replaced after the session was created or the call started. */
export function removedMeanwhile(call: Call): ToolError {
  return toolError(
    'tool_not_available',
    `\`${shownNameOf(call)}\` was removed or replaced in the meantime. List the tools again.`,
    { reason: 'removed' },
  );
}
