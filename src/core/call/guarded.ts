/** Runs a gate that is the host's code. Whatever goes wrong denies the call. */
import { describe, MisuseError } from '../../values/errors/index.ts';
import { isThenable } from '../../values/maybe-promise.ts';
import { PolicyFault } from '../rules/policies.ts';
import { makeVerdict } from '../rules/verdict.ts';
import type { FoundCall } from './call.ts';
import { reportFault } from './report-fault.ts';
import type { Answer, Gate, Tally } from './tally.ts';
import { answerInTime, tooLate } from './with-deadline.ts';

/**
 * Runs one gate within its time. Whatever goes wrong denies the call. Its functions take the call
 * as an argument, so that a gate that answers at once needs no closure per call.
 */
export function guarded(
  call: FoundCall,
  tally: Tally,
  gate: Gate,
  run: (call: FoundCall) => unknown,
  read: (call: FoundCall, tally: Tally, gate: Gate, answer: unknown) => void,
): void | Promise<Answer> {
  try {
    const answer = run(call);
    if (!isThenable(answer)) return read(call, tally, gate, answer);
    return answerInTime(call, answer, call.session.registry.settings.policyTimeoutMs).then(
      (settled): Answer =>
        (to) =>
          settled === tooLate ? late(call, to, gate) : read(call, to, gate, settled),
      (thrown: unknown): Answer =>
        (to) =>
          threw(call, to, gate, thrown),
    );
  } catch (error) {
    return threw(call, tally, gate, error);
  }
}

function threw(call: FoundCall, tally: Tally, gate: Gate, thrown: unknown): void {
  reportFault(call, thrown, gate.what, `\`${gate.id ?? gate.what}\` threw${soThat(gate)}`);
  refuse(tally, gate, PolicyFault.reasonOf(thrown) ?? 'policy_threw', thrown);
}

function late(call: FoundCall, tally: Tally, gate: Gate): void {
  // A call that is only explained never ends, so nothing else would abort its signal.
  if (gate.trial !== true)
    call.extra?.controller?.abort(new DOMException('The gate took too long.', 'TimeoutError'));
  refuse(tally, gate, 'policy_timeout');
}

function soThat({ trial }: Gate): string {
  return trial === true
    ? ', so the shadow rules that read it were not tried'
    : ', so the call was refused';
}

/** Denies a call because a gate failed, as opposed to a gate that decided. */
function refuse(tally: Tally, { source, id }: Gate, reason: string, cause?: unknown): void {
  tally.steps?.push({ source, effect: 'deny', reason });
  tally.deny = makeVerdict('deny', { code: 'policy_error', reason, source, ruleId: id, cause });
}

/** Denies a call because a gate returned no decision, and logs what it returned for the host. */
export function nonsense(
  call: FoundCall,
  tally: Tally,
  gate: Gate,
  expected: string,
  answer: unknown,
): void {
  const name = gate.id ?? gate.what;
  const fault = new MisuseError(
    'invalid_option',
    `Expected \`${name}\` to return ${expected}, got ${describe(answer)}.`,
  );
  reportFault(
    call,
    fault,
    gate.what,
    `\`${name}\` did not return ` +
      `${gate.what === 'attributes' ? 'JSON' : 'a decision'}${soThat(gate)}`,
  );
  refuse(tally, gate, 'policy_nonsense', fault);
}
