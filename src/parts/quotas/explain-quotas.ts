/** What `explain` shows of the quotas of a call. Nothing is reserved. */

import type { FoundCall } from '../../core/call/call.ts';
import type { ToolError } from '../../values/errors/index.ts';
import { hasOwn } from '../../values/json/own-member.ts';
import { callEnded, lookAll } from './ask-quota-store.ts';
import type { QuotaLevel } from './level.ts';
import { compare, exceededError, unavailableError, unreadableError } from './quota-levels.ts';
import { type Spending, spendingsOf, spendingsWithoutInput } from './quota-spending.ts';

export interface ExplainedQuotas {
  readonly levels: readonly QuotaLevel[];
  /**
   * The error with which the call would end when it reserves its amounts; undefined if it would
   * not.
   */
  readonly error: ToolError | undefined;
}

/** Looks at all quotas of a call. Without an input, it looks only at those that need none. */
export async function explainQuotas(call: FoundCall): Promise<ExplainedQuotas> {
  const { quotas = [] } = call.binding;
  const spendings =
    call.input === undefined ? spendingsWithoutInput(call, quotas) : spendingsOf(call, quotas);
  if (hasOwn(spendings, 'unreadable')) return { levels: [], error: unreadableError(spendings) };
  if (spendings.length === 0) return { levels: [], error: undefined };
  const looked = await lookAll(call, spendings);
  if (looked === callEnded) return { levels: [], error: undefined };
  if (hasOwn(looked, 'unavailable'))
    return { levels: [], error: unavailableError(spendings[0] as Spending, looked) };
  const compared = compare(spendings, looked);
  const refused = compared.find(({ quota, over }) => over && quota.over === 'deny');
  return {
    levels: compared.map(({ level }) => level),
    error: refused === undefined ? undefined : exceededError(refused),
  };
}
