/** Parses of the canonical input beside the handler's own: nobody changes anybody else's object. */
import { cloneJson } from '../json.ts';
import type { Validated } from '../schema/bind.ts';
import type { Binding } from '../state/binding.ts';
import type { Call } from '../state/call.ts';
import { inPolicyTime } from './in-policy-time.ts';

/**
 * A parse of its own for a gate. The input is valid by then: a raw schema's canonical input is its
 * own parse.
 */
export function freshParse(call: Call): unknown | Promise<unknown> {
  const { input } = (call.binding as Binding).entry.internals;
  const copy = cloneJson(call.canonical);
  if (input.kind === 'json') return copy;
  const validated = input.validate(copy);
  return validated instanceof Promise
    ? inPolicyTime(call, validated).then(parseOf)
    : parseOf(validated);
}

/**
 * A schema that takes an input once and refuses it the next time leaves a gate nothing to judge.
 */
function parseOf(validated: Validated): unknown {
  if (validated.issues === undefined) return validated.value;
  const { issues, fault } = validated;
  const message =
    'The schema accepted the arguments and then refused them: ' +
    `${issues[0]?.message ?? 'without an issue'}`;
  throw new Error(message, fault === undefined ? undefined : { cause: fault.thrown });
}
