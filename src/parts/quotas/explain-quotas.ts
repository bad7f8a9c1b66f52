/** What `explain` shows of the quotas of a call. Nothing is reserved. */

import type { QuotaLevel } from '../../api/quotas.ts';
import type { FoundCall } from '../../core/call/call.ts';
import type { TriedStart } from '../../core/call/ports.ts';
import type { ToolError } from '../../values/errors/index.ts';
import { hasOwn } from '../../values/json/own-member.ts';
import { callEnded, lookAll } from './ask-quota-store.ts';
import type { CompiledQuota } from './quota.ts';
import { compare, exceededError, unavailableError, unreadableError } from './quota-levels.ts';
import { type Spending, spendingsOf, spendingsWithoutInput } from './quota-spending.ts';

/** Looks at all quotas of a call. Without an input, it looks only at those that need none. */
export async function tryReserve(
  call: FoundCall,
  quotas: readonly CompiledQuota[],
): Promise<TriedStart> {
  const spendings =
    call.input === undefined ? spendingsWithoutInput(call, quotas) : spendingsOf(call, quotas);
  if (hasOwn(spendings, 'unreadable')) return tried([], unreadableError(spendings));
  if (spendings.length === 0) return tried([], undefined);
  const looked = await lookAll(call, spendings);
  if (looked === callEnded) return tried([], undefined);
  if (hasOwn(looked, 'unavailable'))
    return tried([], unavailableError(spendings[0] as Spending, looked));
  const compared = compare(spendings, looked);
  const refused = compared.find(({ quota, over }) => over && quota.over === 'deny');
  return tried(
    compared.map(({ level }) => level),
    refused === undefined ? undefined : exceededError(refused),
  );
}

function tried(levels: readonly QuotaLevel[], error: ToolError | undefined): TriedStart {
  const shown = levels.length === 0 ? {} : { quotas: Object.freeze(levels) };
  return { stage: 'quotas', error, shown };
}
