/** Scopes as a part of a registry: tools that only callers with certain scopes may call. */

import type { FoundCall } from '../../core/call/call.ts';
import type { Judge } from '../../core/call/tally.ts';
import type { Part } from '../../core/part.ts';
import { definePart } from '../../core/registry/define-part.ts';
import { denied } from '../../core/rules/verdict.ts';
import { declareFacts } from '../../core/session/declared-facts.ts';
import { wholeSession } from '../../core/session/session-state.ts';
import { Slot } from '../../core/slot.ts';
import type { JsonObject } from '../../values/json/index.ts';
import { hasOwn } from '../../values/json/value.ts';
import { scopeFact, scopeNames } from '../../values/options/scope-names.ts';
import { neededScopes } from './needed.ts';

/**
 * The part that adds `scopes` of tools, of tools in profiles, and of sessions: a call by a caller
 * who lacks a scope is denied with the reason `scope_missing`.
 *
 * @example
 * ```ts
 * import { HostToolRegistry } from 'host-tools/core';
 * import { scopes } from 'host-tools/scopes';
 *
 * const registry = new HostToolRegistry({ parts: [scopes()] });
 * const session = registry.createSession({ sessionId: 's1', scopes: ['orders:read'] });
 * ```
 */
export function scopes(): Part {
  return part;
}

const granted = new Slot<readonly string[]>();

const part = definePart({
  name: 'scopes',
  options: { session: { scopes: scopeNames }, profileTool: { scopes: scopeNames } },
  install(ports) {
    ports.sessions.options.push((setup, { scopes: given }) => {
      if (given !== undefined) granted.set(setup, given as readonly string[]);
    });
    // Declared, so that a surface can replace them by those of the token that it sees next.
    ports.sessions.opened.push((session) => {
      const given = granted.of(session.setup);
      if (given !== undefined) declareFacts(session, scopeFacts(given));
    });
    ports.tools.gates.push((session, entry) => {
      const needed = neededScopes(session, entry);
      return needed.length === 0 ? undefined : { judges: [scopeJudge(needed)] };
    });
  },
});

function scopeFacts(given: readonly string[]): JsonObject {
  return Object.fromEntries(given.map((scope) => [scopeFact + scope, true]));
}

/** Denies a call by a caller who lacks one of the scopes. */
function scopeJudge(needed: readonly string[]): Judge {
  return (call, tally) => {
    const missing = needed.filter((scope) => !hasScope(call, scope));
    if (missing.length === 0) return;
    tally.steps?.push({ source: 'tool', effect: 'deny', reason, scopes: missing });
    tally.deny = denied(reason, messageFor(missing), 'tool', undefined);
  };
}

const reason = 'scope_missing';

/** The request's own scopes count, where the surface knows them. */
function hasScope({ surface, session }: FoundCall, scope: string): boolean {
  const ofRequest = surface?.scopes;
  // The scopes of a session that was delegated to are its own: a request cannot add any.
  const isWhole =
    session.outer === undefined || wholeSession(session).acting?.sharesScopes === true;
  if (ofRequest !== undefined && (isWhole || !ofRequest.includes(scope)))
    return ofRequest.includes(scope);
  const fact = scopeFact + scope;
  return hasOwn(session.facts, fact) && session.facts[fact] === true;
}

function messageFor(missing: readonly string[]): string {
  const names = missing.map((scope) => `\`${scope}\``).join(', ');
  return (
    `The call was denied, because the caller has not been granted the ` +
    `scope${missing.length === 1 ? '' : 's'} ${names}. Do not retry it unchanged.`
  );
}
