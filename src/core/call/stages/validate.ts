/** Repair and validation: the arguments match the schema, or the model learns what to correct. */

import type { DropNulls } from '../../../api/context.ts';
import { toolError } from '../../../values/errors/index.ts';
import type { JsonObject } from '../../../values/json/index.ts';
import type { MaybePromise } from '../../../values/maybe-promise.ts';
import type { Validated } from '../../../values/schema/bind.ts';
import type { Call, FoundCall } from '../call.ts';
import { inPolicyTime } from '../in-policy-time.ts';
import { invalidInput } from '../invalid-input.ts';
import { schemaError } from '../report-fault.ts';
import type { Outcome } from '../step.ts';

/** Repairs the canonical input if `repair` is `"safe"`, validates it, and keeps the parse. */
export function validate(call: FoundCall): MaybePromise<Outcome> {
  const { input } = call.entry.internals;
  if (call.session.setup.repair === 'safe') {
    const problem = call.session.registry.ports.calls.repair?.(call, input.json);
    if (problem !== undefined) return problem;
  }
  // Only the dialect of a surface adds these nulls. A resumed call has lost them already.
  const nulls = call.options?.surface?.strictNulls;
  if (nulls !== undefined && nulls !== false && call.resumed === undefined) {
    const problem = dropNulls(call, nulls, input.json);
    if (problem !== undefined) return problem;
  }
  if (call.unsafe && input.kind !== 'json') return unsafeKey();
  // A raw schema fills its defaults into the canonical input, and returns that same object.
  const { extra } = call;
  const validated =
    extra === undefined
      ? input.validate(call.canonical)
      : extra.approval?.wasEdited === true
        ? validateEdited(call)
        : extra.resumed === undefined
          ? input.validate(call.canonical)
          : input.revalidate(call.canonical);
  return takeValidated(call, validated);
}

/** Takes over what the schema says: keeps the parse, or tells what is wrong with the input. */
export function takeValidated(
  call: FoundCall,
  validated: MaybePromise<Validated>,
): MaybePromise<Outcome> {
  return validated instanceof Promise
    ? inPolicyTime(call, validated).then((settled) => read(call, settled))
    : read(call, validated as Validated);
}

/**
 * Validates an input that a person edited. Defaults are filled in as for any call. Defaults that
 * were filled in before the person saw the input need not match the schema.
 */
function validateEdited(call: FoundCall): Validated | Promise<Validated> {
  const { input } = call.entry.internals;
  const validated = input.validate(call.canonical);
  return validated instanceof Promise || validated.issues === undefined || input.kind !== 'json'
    ? validated
    : input.revalidate(call.canonical);
}

function read(call: FoundCall, validated: Validated): Outcome {
  if (validated.issues !== undefined) {
    const error = invalidInput(call, validated.issues);
    // A repair may have uncovered further values to hide.
    if (validated.fault !== undefined) call.binding.status.masking?.collectInput(call);
    return schemaError(call, validated, 'parameters', error);
  }
  call.parsed = validated.value;
  return undefined;
}

function unsafeKey(): Outcome {
  return toolError(
    'invalid_input',
    'The arguments contain a member named `__proto__`, which is not allowed. Remove it.',
    { reason: 'unsafe_key' },
  );
}

function dropNulls(call: FoundCall, nulls: true | DropNulls, schema: JsonObject): Outcome {
  const { ports, parts } = call.session.registry;
  const drop = nulls === true ? ports.calls.dropNulls : nulls;
  if (drop === undefined) {
    const { message } = parts.missing('call', 'strictNulls', '`strictNulls: true` of a surface');
    return toolError('invalid_input', message, { reason: 'invalid_option' });
  }
  call.canonical = drop(call.canonical, schema, (path) => noteRepair(call, path, 'strict_null'));
  return undefined;
}

/** Notes a change of the input, for `metadata.repaired`. */
export function noteRepair(call: Call, path: string, rule: string): void {
  const { more } = call;
  const outcome = more.ensureOutcome();
  outcome.repaired ??= [];
  outcome.repaired.push({ path, rule });
}
