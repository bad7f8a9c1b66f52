/** Further parses of the canonical input, so that a gate cannot change the handler's object. */
import { cloneJson } from '../../values/json/index.ts';
import type { Validated } from '../../values/schema/bind.ts';
import type { FoundCall } from './call.ts';
import { inPolicyTime } from './in-policy-time.ts';

/** A parse for one gate. The input is valid by then, and with a raw schema it is its own parse. */
export function freshParse(call: FoundCall): unknown | Promise<unknown> {
  const { input } = call.binding.entry.internals;
  const copy = cloneJson(call.canonical);
  if (input.kind === 'json') return copy;
  const validated = input.validate(copy);
  return validated instanceof Promise
    ? inPolicyTime(call, validated).then(parseOf)
    : parseOf(validated);
}

/** Throws for a schema that accepts an input once and refuses it the next time. */
function parseOf(validated: Validated): unknown {
  if (validated.issues === undefined) return validated.value;
  const { issues, fault } = validated;
  const message =
    'The schema accepted the arguments and then refused them: ' +
    `${issues[0]?.message ?? 'without an issue'}`;
  throw new Error(message, fault === undefined ? undefined : { cause: fault.thrown });
}
