/** The budget of characters, for an output and for what was sent in addition to it. */
import { contentParts } from '../../values/content.ts';
import type { JsonObject } from '../../values/json/index.ts';
import type { Alongside } from '../result.ts';
import type { FoundCall } from './call.ts';
import type { Shaped, Shown } from './output-snapshot.ts';
import { isWithin, withinBudget, withinParts } from './stages/output-limits.ts';

/**
 * Cuts an output to its budget, and what was sent in addition to it. A client shows a model one of
 * them, so each may take the whole budget.
 */
export function allWithinBudget(call: FoundCall, shaped: Shown): Shaped | Promise<Shaped> {
  const fitted = withinBudget(call, shaped);
  const alongside = call.extra?.alongside;
  if (alongside === undefined || call.binding.maxOutputChars === Number.POSITIVE_INFINITY)
    return fitted;
  return fitted instanceof Promise
    ? fitted.then((settled) => fitAlongside(call, alongside, settled))
    : fitAlongside(call, alongside, fitted);
}

/** Data cannot be cut, so data that does not fit is left out. */
function fitAlongside(
  call: FoundCall,
  alongside: Alongside,
  shaped: Shaped,
): Shaped | Promise<Shaped> {
  if (!shaped.ok) return shaped;
  const { binding } = call;
  const { content, ...data } = alongside;
  const entries = Object.entries(data) as [string, JsonObject][];
  const isKept = ([, value]: [string, JsonObject]): boolean =>
    isWithin(value, binding.maxOutputChars);
  const leftOut = entries.filter((entry) => !isKept(entry)).map(([name]) => name);
  const kept: Alongside = {
    ...Object.fromEntries(entries.filter(isKept)),
    ...(leftOut.length === 0 ? {} : { leftOut }),
  };
  const parts = contentParts(content);
  if (parts === undefined) {
    call.more.alongside = kept;
    return shaped;
  }
  const take = (fitted: Shaped): Shaped => {
    if (!fitted.ok) return fitted;
    const { output, truncated } = fitted;
    call.more.alongside = {
      content: output as readonly JsonObject[],
      ...kept,
      ...(truncated === undefined ? {} : { truncated }),
    };
    return shaped;
  };
  const fitted = withinParts(call, parts);
  return fitted instanceof Promise ? fitted.then(take) : take(fitted);
}
