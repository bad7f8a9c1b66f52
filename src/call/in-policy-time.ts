/** The bound of everything that host code answers later, apart from handlers and people. */
import type { Validated } from '../schema/bind.ts';
import type { Call } from '../state/call.ts';
import { reportFault } from './report-fault.ts';
import { answerInTime, tooLate } from './with-deadline.ts';

const tooSlow: Validated = Object.freeze({
  issues: Object.freeze([
    Object.freeze({ path: '', message: 'validation did not answer in time; correct the schema' }),
  ]),
  fault: undefined,
});

/**
 * A schema that validates asynchronously has the registry's `policyTimeoutMs`; one that never
 * answers refuses the value, and no call waits for ever.
 */
export function inPolicyTime(call: Call, validated: Promise<Validated>): Promise<Validated> {
  return answerInTime(call, validated, call.session.registry.policyTimeoutMs).then((settled) => {
    if (settled !== tooLate) return settled;
    // Nobody waits for it any more, but what it throws is still the host's to know.
    void validated.then((answer) => {
      if (answer.issues !== undefined && answer.fault !== undefined)
        reportFault(
          call,
          answer.fault.thrown,
          'gate',
          'a schema threw after the call had stopped waiting for it',
        );
    });
    return tooSlow;
  });
}
