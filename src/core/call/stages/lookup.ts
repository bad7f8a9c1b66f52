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
      call.surface?.outside === true || isOfProgram(call)
        ? session.tools.gone?.has(toolName) === true
        : session.knew(toolName);
    return knew ? removedMeanwhile(call) : notFound(call);
  }
  // What a person has answered was allowed to begin.
  const isInside = call.options?.inside === true || call.resumed?.answer !== undefined;
  if (binding.entry.internals.internal && !isInside && (parent === undefined || isOfProgram(call)))
    return notFound(call);
  call.binding = binding;
  call.entry = binding.entry;
  // What changes from here on makes the call be judged again.
  call.judgedAt = binding.stamp;
  call.counted = true;
  binding.entry.inFlight++;
  if (
    typeof call.options?.elsewhere === 'function' &&
    binding.entry.internals.runsIn !== 'external'
  )
    return notAvailable(call, 'not_external');
  if (call.resumed === undefined) return undefined;
  return session.registry.ports.calls.answers?.found(call as FoundCall);
}

/** Refuses a tool that is disabled, withdrawn, outside the profile, or waits for a fact. */
export function checkAvailable(call: FoundCall): Outcome {
  const { binding } = call;
  const { drop } = binding.status;
  const withdrawn = binding.entry.internals.outside?.withdrawn();
  if (withdrawn !== undefined) return notAvailable(call, withdrawn);
  const { parent, surface } = call;
  if (surface?.name === 'app' && parent === undefined) {
    const { source, internals } = binding.entry;
    // A call that waited for a person was judged with its source before.
    const isOwn = call.resumed !== undefined || surface.source === source;
    if (!isOwn) return notAvailable(call, 'other_app');
    if (internals.ui?.only === 'model') return notAvailable(call, 'model_only');
    if (drop === 'app_only') return undefined;
  }
  if (drop === undefined) return undefined;
  if (isOfProgram(call)) return notAvailable(call, drop);
  // `decide` refuses the call with the text of the rule that hides the tool.
  if (drop === 'denied') return undefined;
  if (drop === 'external' && call.options?.elsewhere !== undefined) return undefined;
  if (drop === 'not_in_profile' && parent?.session === call.session) {
    // `uses` replaces the profile, but not that of a sub-agent. The checks after the profile still
    // apply.
    const fact = unmetFact(binding.entry.internals.requires, call.session.facts);
    if (fact !== undefined) return notAvailable(call, `fact_unmet:${fact}`);
    return binding.status.knobs === undefined ? notAvailable(call, 'knobs_missing') : undefined;
  }
  return notAvailable(call, drop);
}

/** Whether a program makes the call. It may use what its session shows, and nothing else exists. */
function isOfProgram({ parent }: Call): boolean {
  return parent?.entry.isProgram === true;
}

function notFound(call: Call): ToolError {
  const { session, toolName } = call;
  const { registry } = session;
  return notFoundError(
    toolName,
    registry.catalogue.hints.take(registry.monotonic()) ? callable(call) : [],
    (name) => shownNameOf(call, name),
  );
}

/** The names that a caller may have meant: for an app, the tools of its source that it may call. */
function callable({ session, surface, parent }: Call): readonly string[] {
  const { names } = session.view();
  if (surface?.name !== 'app' || parent !== undefined) return names;
  return names.filter((name) => {
    const entry = session.binding(name)?.entry;
    return entry?.source === surface.source && entry?.internals.ui?.only !== 'model';
  });
}

function notAvailable(call: Call, drop: string): ToolError {
  const { session, toolName } = call;
  const prerequisites = drop.startsWith('fact_unmet:') ? session.view().prerequisites : [];
  const error = notAvailableError(
    toolName,
    drop,
    prerequisites,
    (name) => shownNameOf(call, name),
    session.outer !== undefined,
  );
  const isUnseen =
    drop === 'app_only' ||
    drop === 'other_app' ||
    ((drop === 'not_in_profile' || drop === 'not_delegated') && call.surface?.outside === true);
  if (!isUnseen && !isOfProgram(call)) return error;
  // A model, a caller from outside and a program must not learn that the tool exists. Events carry
  // the real error.
  const outcome = call.more.ensureOutcome();
  outcome.unmasked = error;
  outcome.hidden = true;
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
