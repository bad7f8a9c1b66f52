/** Approvals that outlive their call as a part of a registry. */

import type { ApprovalAnswer } from '../../api/approval.ts';
import type { RegistryOptions } from '../../api/registry.ts';
import type { Store } from '../../api/store.ts';
import type { Part } from '../../core/part.ts';
import { definePart } from '../../core/registry/define-part.ts';
import type { Ports } from '../../core/registry/ports.ts';
import type { RegistryState } from '../../core/registry/registry-state.ts';
import { checkOf } from '../../core/rules/rule-check.ts';
import type { SessionSetup } from '../../core/session/session-setup.ts';
import type { SessionState } from '../../core/session/session-state.ts';
import { questionsOf } from '../../core/session/view.ts';
import { internalsOf } from '../../core/tool/definition.ts';
import { expectUse, storeOption } from '../../stores/shared/use-store.ts';
import { MisuseError } from '../../values/errors/index.ts';
import { anything, object } from '../../values/options/index.ts';
import { callSummary } from '../../values/text/call-summary.ts';
import { approversOf, distinct, lacksPeople, ofProfile, readApprovers } from './approvers.ts';
import {
  type DurableState,
  durableSlot,
  logUnsharedStores,
  readApprovals,
} from './durable-state.ts';
import { loggedIn, maySuspend } from './logins.ts';
import { pendingOf } from './pending-approvals.ts';
import { fourEyesMessage, isOwnAnswer } from './people.ts';
import { registryApprovals } from './registry-approvals.ts';
import { resumeCall, withdrawCall } from './resume.ts';
import { approvalsPort } from './session-port.ts';
import { outcomeIn } from './settle-approval.ts';
import { changedSince, crowded, suspend } from './suspend.ts';
import type { TokenClaims } from './token.ts';

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
    profile: { approvers: object() },
    profileTool: { approvers: object() },
  },
  askKeys: { approvers: (value, check) => readApprovers(value, check) },
  install(ports, registry, { approvals, store }) {
    expectUse(ports, store);
    const state = readApprovals(
      approvals as RegistryOptions['approvals'],
      registry,
      store as Store | undefined,
      ports,
    );
    durableSlot.set(registry, state);
    approvalsPort.set(registry, {
      resume: (session, token, answer, options) =>
        resumeCall(session, token, answer, 'surface', options),
      read: (session, token) => madeBy(session, state.signer?.verify(token)),
      withdraw: (session, token) => withdrawCall(session, token),
      needed: (session) => state.suspending.needed(session),
      session: (sessionId, principal) => state.suspending.find(sessionId, principal),
    });
    ports.sessions.options.push((setup) => checkSuspension(setup, state));
    ports.sessions.opened.push((session) => {
      if (session.setup.approvalMode === 'suspend') state.suspending.add(session);
    });
    ports.calls.summary = callSummary;
    readWhoMayAnswer(ports, registry);
    ports.loggedIn = loggedIn;
    ports.calls.answers = {
      store: () => state.store,
      details({ approvers: named }) {
        try {
          const check = checkOf('requiresApproval', registry.parts, 'invalid_option');
          return Object.freeze({ approvers: Object.freeze([readApprovers(named, check)]) });
        } catch {
          return undefined;
        }
      },
      isReserved: (call) => approversOf(call).length > 0,
      lacks: lacksPeople,
      approvers: approversOf,
      suspend,
      maySuspend,
      crowded,
      pending: (session) => pendingOf(session),
      async withdraw(id) {
        await state.approvals.take(id, 0);
      },
      found: changedSince,
      resumed: logUnsharedStores,
      refusal: ({ principal }, by) =>
        state.fourEyes && isOwnAnswer(principal, by) ? ownAnswer : undefined,
    };
    for (const [name, method] of Object.entries(registryApprovals))
      ports.methods.set(`approvals.${name}`, method);
    ports.sessions.methods
      .set('approvals.pending', questionsOf)
      .set('approvals.resume', (session, token: string, answer: ApprovalAnswer) =>
        resumeCall(session, token, answer, 'host'),
      )
      .set('approvals.outcome', outcomeIn);
  },
});

/** The call that a model has made: of a call in a program, the one that runs the program. */
function madeBy({ tools: { brought } }: SessionState, claims: TokenClaims | undefined) {
  const [, callId] = /^(.*)\/\d+$/s.exec(claims?.callId ?? '') ?? [];
  const program = [...(brought?.values() ?? [])].find(({ isProgram }) => isProgram);
  return callId === undefined || program === undefined ? claims : { tool: program.name, callId };
}

/** Reads `approvers` of profiles and of tools; those of rules are read with them. */
function readWhoMayAnswer(ports: Ports, { parts }: RegistryState): void {
  ports.details.add('approvers');
  ports.profiles.options.push((profile, { approvers: given }, parents) => {
    const check = checkOf(`profile \`${profile.id}\``, parts, 'invalid_option');
    const own = given === undefined ? [] : [readApprovers(given, check)];
    const all = [...parents.flatMap((parent) => ofProfile.of(parent) ?? []), ...own];
    if (all.length > 0) ofProfile.set(profile, Object.freeze(distinct(all)));
  });
  ports.profiles.tools.push({
    read(keys, where, path) {
      if (keys.approvers === undefined) return;
      const check = checkOf(where, parts, 'invalid_option');
      // A list, so that those of a parent are kept.
      const own = readApprovers(keys.approvers, check, `${path}.approvers`);
      Object.assign(keys, { approvers: [own] });
    },
    check() {},
  });
  ports.tools.definitions.push((definition) => {
    const { requiresApproval } = internalsOf(definition);
    if (typeof requiresApproval !== 'object' || requiresApproval.approvers === undefined) return;
    const check = checkOf(`Tool \`${definition.name}\``, parts, 'invalid_definition');
    readApprovers(requiresApproval.approvers, check, 'requiresApproval.approvers');
  });
}

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
