/** The origins of a call's values, as events and observers get them. */

import type { JudgedOrigin, OriginTold } from '../../api/origins.ts';
import type { Call, FoundCall } from '../../core/call/call.ts';
import { shownJson } from '../../core/call/shown.ts';
import { deepFreeze, type JsonValue } from '../../values/json/index.ts';
import { knownOrigins, originsOf } from './call-origins.ts';
import { ofSession } from './origin-slots.ts';

/** Most arguments whose origins are reported. */
const maxOrigins = 100;

/**
 * The origins that rules and questions saw. Looking them up now would include the call's own
 * output.
 */
export function originsTold(call: Call): readonly OriginTold[] | undefined {
  const judged = knownOrigins(call)?.last;
  if (judged === undefined) return undefined;
  const told = judged.slice(0, maxOrigins).map(({ path, origin, seen, approvedBy }) => ({
    path,
    origin,
    seen,
    approvedBy,
  }));
  // Paths contain keys, which are chosen by the model.
  return shownJson(call, JSON.parse(JSON.stringify(told)) as JsonValue) as never;
}

/** The origins of an explained call, once all texts can be found. */
export async function originsInExplanation(call: FoundCall): Promise<object | undefined> {
  await ofSession.of(call.session)?.settled;
  const judged = originsOf(call)?.judged() ?? [];
  return judged.length === 0 ? undefined : { origins: originsShown(call, judged) };
}

/** The judged values for the host, without the secrets of the call. */
export function originsShown(call: Call, judged: readonly JudgedOrigin[]): readonly JudgedOrigin[] {
  const plain = JSON.parse(JSON.stringify(judged)) as JsonValue;
  return deepFreeze(shownJson(call, plain)) as unknown as readonly JudgedOrigin[];
}
