/** Delegation as a part of a registry: sessions for sub-agents, and rules about who acts. */

import type { DelegateOptions } from '../../api/delegation.ts';
import type { Part } from '../../core/part.ts';
import { definePart } from '../../core/registry/define-part.ts';
import { wholeSession } from '../../core/session/session-state.ts';
import { MisuseError } from '../../values/errors/index.ts';
import { wholeNumber, withDefault } from '../../values/options/index.ts';
import { compileActor } from './actor-rule.ts';
import { delegate, maxDepth } from './delegate.ts';
import { acting } from './narrow.ts';
import { forgetOuter, outerJudges } from './outer-judge.ts';

/**
 * The part that adds `session.delegate`, which makes a session for a sub-agent: it may do what the
 * session may do, or less. Also `actor` in rules, and the registry's option `maxDelegationDepth`.
 *
 * @example
 * ```ts
 * import { HostToolRegistry } from 'host-tools/core';
 * import { delegation } from 'host-tools/delegation';
 *
 * const registry = new HostToolRegistry({ parts: [delegation()] });
 * const session = registry.createSession({ sessionId: 's1' });
 * const researcher = session.delegate({ agent: 'researcher', expiresAt: Date.now() + 60_000 });
 * ```
 */
export function delegation(): Part {
  return part;
}

const part = definePart({
  name: 'delegation',
  // The outer session is asked before all others.
  rank: -1,
  options: { registry: { maxDelegationDepth: withDefault(wholeNumber(1, 64), 4) } },
  ruleKeys: { actor: compileActor },
  install(ports, registry, { maxDelegationDepth }) {
    maxDepth.set(registry, maxDelegationDepth as number);
    ports.sessions.acting = acting;
    ports.calls.first.push(outerJudges);
    ports.calls.again.push(forgetOuter);
    ports.calls.delegate = (call, options) => {
      if (call.state !== 'running')
        throw new MisuseError(
          'closed',
          'context.delegate: expected the call to run, got one that has ended.',
        );
      return delegate(wholeSession(call.session), options, call);
    };
    ports.sessions.methods.set('delegate', (session, options: DelegateOptions) =>
      delegate(session, options),
    );
  },
});
