/** When a session begins to remember texts. Until then, it keeps nothing. */

import type { CallSession } from '../../core/call/session-port.ts';
import { type RegistryState, wholeRegistry } from '../../core/registry/registry-state.ts';
import type { CompiledRule } from '../../core/rules/rule.ts';
import type { SessionSetup } from '../../core/session/session-setup.ts';
import { type SessionState, wholeSession } from '../../core/session/session-state.ts';
import { remember } from './remember.ts';
import { SessionOrigins } from './session-origins.ts';
import { ofProfile, ofRegistry, ofSession } from './session-port.ts';

/** The own limits of sessions. With a slot in its setup instead, one would share no view. */
export const ownMaxChars = new WeakMap<SessionSetup, number>();

/** Whether a rule tests the origins of values. */
export function testsOrigins({ conditions, when }: CompiledRule): boolean {
  return (
    conditions.origins !== undefined ||
    when.some(({ test }) => test.ofArguments?.includes('origin') === true)
  );
}

/** Whether a rule of the registry or of its scopes tests the origins of values. */
export function isTestedIn(registry: RegistryState): boolean {
  const known = ofRegistry.of(registry);
  if (known === undefined) return false;
  if (known.epoch !== registry.epoch) {
    known.isTested = registry.allRules().some(testsOrigins);
    known.epoch = registry.epoch;
  }
  return known.isTested;
}

/** Whether the session has a rule about origins or a label. */
export function usesOrigins({ registry, profile, rules }: SessionState): boolean {
  return (
    isTestedIn(wholeRegistry(registry)) ||
    ofRegistry.of(registry)?.isLabelled === true ||
    (profile !== undefined && ofProfile.of(profile) === true) ||
    rules.some(testsOrigins)
  );
}

/** Begins to remember if the session has a use for it. Once begun, it does not stop. */
export function followOrigins(session: SessionState): SessionOrigins | undefined {
  return usesOrigins(session) ? beginOrigins(session) : ofSession.of(session);
}

/** Whether a handler has run, so that the model may have been shown an output. */
function haveRun(counters: SessionState['calls']['counts']): boolean {
  if (counters === undefined) return false;
  for (const counts of [counters.others, ...(counters.byTool?.values() ?? [])])
    for (let one: typeof counts | undefined = counts; one !== undefined; one = one.twin)
      if (one.succeeded + one.failed + one.cancelled > 0) return true;
  return false;
}

/** Begins to remember. */
export function beginOrigins(session: CallSession): SessionOrigins {
  const known = ofSession.of(session);
  if (known !== undefined) return known;
  const state = wholeSession(session);
  const { registry, setup } = state;
  const begun = new SessionOrigins(
    ownMaxChars.get(setup) ?? ofRegistry.of(registry)?.maxChars,
    haveRun(state.calls.counts),
  );
  ofSession.set(session, begun);
  state.calls.atReturn ??= [];
  state.calls.atReturn.push(remember);
  state.atClosing(() => begun.free());
  return begun;
}
