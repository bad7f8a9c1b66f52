/** Reads the result of a Rego policy as a decision. */

import { allow, ask, type Decision, deny } from '../../../core.ts';
import { PolicyFault } from '../../../extend.ts';
import { describe } from '../../../values/errors/index.ts';
import { isJsonObject, type JsonObject } from '../../../values/json/index.ts';
import { shortened } from '../../../values/text/characters.ts';

/** Models and people read these texts. */
const maxChars = 2_000;
const members: readonly string[] = ['effect', 'reason', 'message', 'prompt'];

/**
 * The decision.
 * @param result The result; undefined if the policy has none for the call.
 * @throws PolicyFault if it is anything else than a decision.
 */
export function decisionOf(result: unknown): Decision {
  if (result === undefined)
    return deny(
      'opa_undefined',
      'The call was denied, because the policy has no answer for it. Do not retry it unchanged.',
    );
  if (result === true) return allow();
  if (result === false) return deny('opa_denied');
  if (!isJsonObject(result)) throw nonsense(describe(result));
  // A policy may have added a condition, which would be ignored here.
  const unknown = Object.keys(result).find((name) => !members.includes(name));
  if (unknown !== undefined)
    throw nonsense(`an object with the member \`${unknown.slice(0, 60)}\``);
  const [reason, message, prompt] = ['reason', 'message', 'prompt'].map((name) =>
    textIn(result, name),
  );
  switch (Object.hasOwn(result, 'effect') ? result.effect : undefined) {
    case 'allow':
      return allow();
    case 'ask':
      return ask(prompt ?? message);
    case 'deny':
      return deny(wordOf(reason), message);
    default:
      throw nonsense('an object without such an `effect`');
  }
}

function textIn(result: JsonObject, name: string): string | undefined {
  if (!Object.hasOwn(result, name)) return undefined;
  const value = result[name];
  if (typeof value !== 'string') throw nonsense(`a \`${name}\` that is not a string`);
  return shortened(value, maxChars);
}

function wordOf(reason: string | undefined): string {
  if (reason === undefined) return 'opa_denied';
  if (!/^[a-z][a-z0-9_]{0,127}$/.test(reason))
    throw nonsense('a `reason` with other characters than `a` to `z`, `0` to `9` and `_`');
  return reason;
}

function nonsense(got: string): PolicyFault {
  return opaFault(
    'expected the policy to answer true, false or ' +
      `{ effect: "allow" | "ask" | "deny", reason?, message?, prompt? }, got ${got}`,
  );
}

/** A failure to get a decision. It denies the call, and is logged. */
export function opaFault(message: string, cause?: unknown): PolicyFault {
  return new PolicyFault('opa_error', message, cause === undefined ? undefined : { cause });
}
