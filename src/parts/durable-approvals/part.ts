/** Approvals that outlive their call as a part of a registry. */

import type { ApprovalAnswer } from '../../api/approval.ts';
import type { RegistryOptions } from '../../api/registry.ts';
import type { Store } from '../../api/store.ts';
import { definePart, type Part } from '../../core/part.ts';
import { questionsOf } from '../../core/session/questions-of.ts';
import type { SessionSetup } from '../../core/session/session-setup.ts';
import { storeOption } from '../../stores/shared/use-store.ts';
import { MisuseError } from '../../values/errors/index.ts';
import { anything } from '../../values/options/index.ts';
import { callSummary } from '../../values/text/call-summary.ts';
import {
  type DurableState,
  durableSlot,
  logUnsharedStores,
  readApprovals,
} from './durable-state.ts';
import { pendingOf } from './pending-approvals.ts';
import { registryApprovals } from './registry-approvals.ts';
import { resumeCall } from './resume.ts';
import { approvalsPort } from './session-port.ts';
import { fourEyesMessage, isOwnAnswer, outcomeIn } from './settle-approval.ts';
import { crowded, suspend } from './suspend.ts';

/**
 * The part that adds approvals for which a call need not wait: the option `approvals` and the inbox
 * `registry.approvals` of a registry, and of sessions `approvalMode: "suspend"` and
 * `session.approvals.pending`, `resume` and `outcome`.
 *
 * @example
 * ```ts
 * import { durableApprovals } from 'host-tools/approvals';
 * import { HostToolRegistry } from 'host-tools/core';
 *
 * declare const secret: string; // yours, at least 32 bytes
 * const registry = new HostToolRegistry({
 *   parts: [durableApprovals()],
 *   approvals: { secret },
 *   rules: [{ effect: 'ask', tools: 'refund' }],
 * });
 * ```
 */
export function durableApprovals(): Part {
  return part;
}

const part = definePart({
  name: 'durableApprovals',
  // Answers find a session as soon as the other parts have let it open.
  rank: 1,
  options: {
    registry: {
      approvals: anything<NonNullable<RegistryOptions['approvals']>>(),
      store: storeOption,
    },
  },
  install(ports, registry, { approvals, store }) {
    const state = readApprovals(
      approvals as RegistryOptions['approvals'],
      registry,
      store as Store | undefined,
      ports,
    );
    durableSlot.set(registry, state);
    approvalsPort.set(registry, {
      resume: resumeCall,
      read: (token) => state.signer?.verify(token),
      session: (sessionId, principal) => state.suspending.find(sessionId, principal),
    });
    ports.sessions.push((setup) => checkSuspension(setup, state));
    ports.opened.push((session) => {
      if (session.setup.approvalMode === 'suspend') state.suspending.add(session);
    });
    ports.summary = callSummary;
    ports.answers = {
      suspend,
      crowded,
      pending: (session) => pendingOf(session),
      resumed: logUnsharedStores,
      refusal: ({ principal }, by) =>
        state.fourEyes && isOwnAnswer(principal, by) ? ownAnswer : undefined,
    };
    for (const [name, method] of Object.entries(registryApprovals))
      ports.registryMethods.set(`approvals.${name}`, method);
    ports.sessionMethods
      .set('approvals.pending', questionsOf)
      .set('approvals.resume', (session, token: string, answer: ApprovalAnswer) =>
        resumeCall(session, token, answer),
      )
      .set('approvals.outcome', outcomeIn);
  },
});

const ownAnswer = { reason: 'four_eyes', message: fourEyesMessage, option: 'fourEyes' };

/** A suspended call is resumed by a signed token that is bound to a principal. */
function checkSuspension(
  { approvalMode, principal }: SessionSetup,
  { signer }: DurableState,
): void {
  if (approvalMode !== 'suspend') return;
  if (signer === undefined)
    throw new MisuseError(
      'invalid_option',
      'createSession: `approvalMode: "suspend"` needs a key to sign tokens with. Give the ' +
        'registry `approvals: { secret }`.',
    );
  if (principal === undefined)
    throw new MisuseError(
      'invalid_option',
      'createSession: `approvalMode: "suspend"` needs a `principal`, to which tokens are bound.',
    );
}
