/** Bounds how long a call waits for a schema that validates asynchronously. */
import type { Validated } from '../../values/schema/bind.ts';
import type { Call } from './call.ts';
import { reportFault } from './report-fault.ts';
import { answerInTime, tooLate } from './with-deadline.ts';

const tooSlow: Validated = Object.freeze({
  issues: Object.freeze([
    Object.freeze({ path: '', message: 'validation did not finish in time; correct the schema' }),
  ]),
  fault: undefined,
});

/**
 * Waits at most the registry's `policyTimeoutMs` for the schema. After that, the value is refused.
 */
export function inPolicyTime(call: Call, validated: Promise<Validated>): Promise<Validated> {
  return answerInTime(call, validated, call.session.registry.settings.policyTimeoutMs).then(
    (settled) => {
      if (settled !== tooLate) return settled;
      // The call no longer waits for the schema, but the host must still learn what it throws.
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
    },
  );
}
