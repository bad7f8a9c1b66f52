/** The texts about the quotas of a call, for people and models. */

import type { QuotaLevel } from '../../api/quotas.ts';
import type { Store } from '../../api/store.ts';
import { deniedError, type ToolError, withCause } from '../../values/errors/index.ts';
import { waitText } from '../../values/text/duration.ts';
import { isOver, type NoAnswer } from './ask-quota-store.ts';
import type { CompiledQuota } from './quota-layers.ts';
import { maxValues } from './quota-reader.ts';
import type { Spending, UnreadableQuota } from './quota-spending.ts';
import { numberOf } from './units.ts';

/** A quota as the call finds it, and whether the call would exceed it. */
export interface Compared {
  readonly quota: CompiledQuota;
  readonly level: QuotaLevel;
  readonly over: boolean;
}

/**
 * One level for each quota. If it has several values, that is the one that is exceeded, or else the
 * one with the highest use.
 */
export function compare(
  spendings: readonly Spending[],
  uses: readonly Store.Use[],
): readonly Compared[] {
  const worst = new Map<CompiledQuota, number>();
  const weightOf = (index: number): bigint => {
    const { used } = uses[index] as Store.Use;
    const { amount } = (spendings[index] as Spending).spend;
    return used + amount;
  };
  for (const [index, { quota }] of spendings.entries()) {
    const known = worst.get(quota);
    if (known === undefined || weightOf(index) > weightOf(known)) worst.set(quota, index);
  }
  return [...worst].map(([quota, index]) => {
    const spending = spendings[index] as Spending;
    const use = uses[index] as Store.Use;
    return { quota, level: levelOf(spending, use), over: isOver(spending, use) };
  });
}

function levelOf({ quota, spend }: Spending, { used, retryAfterMs }: Store.Use): QuotaLevel {
  return Object.freeze({
    quota: quota.id,
    source: quota.layer,
    max: quota.max,
    used: numberOf(used),
    amount: numberOf(spend.amount),
    retryAfterMs: retryAfterMs ?? null,
  });
}

/** The error of a call that would exceed a quota. */
export function exceededError({ quota, level }: Compared): ToolError {
  const { id, layer, max, per, reason } = quota;
  const { used, amount, retryAfterMs } = level;
  const waiting =
    retryAfterMs === null
      ? 'Do not retry it unchanged.'
      : `Try again in ${waitText(retryAfterMs)}.`;
  const error = deniedError(
    'policy_denied',
    `The call was denied: the quota \`${id}\` allows ${max} per ${per}, of which ${used} is ` +
      `used, and this call needs ${amount}. ${waiting}`,
    reason,
    id,
    layer,
  );
  error.retryable = retryAfterMs !== null;
  error.details = { quota: id, max, used, retryAfterMs };
  return error;
}

/** The text for a person who is asked whether a call may exceed a quota. */
export function exceededText({ quota, level }: Compared): string {
  return (
    `The quota \`${quota.id}\` allows ${quota.max} per ${quota.per}. ${level.used} is used, and ` +
    `this call needs ${level.amount}.`
  );
}

/** The text for a call whose amounts cannot be read. */
export function unreadableText({ quota, unreadable, path }: UnreadableQuota): string {
  const start = `The call was denied, since the quota \`${quota.id}\` cannot be applied to it: `;
  const place = path === undefined ? 'the input' : `\`${path.join('.')}\``;
  switch (unreadable) {
    case 'sum':
      return `${start}the values at ${place} must be numbers from 0, and not too many.`;
    case 'by':
      return `${start}${place} must be there, as text, a number or a boolean.`;
    case 'when':
      return `${start}the arguments are too large. Send less.`;
    case 'too many':
      return `${start}${place} has more than ${maxValues} values to count for. Send fewer.`;
  }
}

export const unreadableReason = 'quota_unreadable';
export const unavailableReason = 'quota_unavailable';
export const unavailableText =
  'The call was denied, since its quotas cannot be checked at the moment. Try again later.';

/** The error of a call whose amounts cannot be read. */
export function unreadableError(fault: UnreadableQuota): ToolError {
  const { id, layer } = fault.quota;
  const error = deniedError('policy_denied', unreadableText(fault), unreadableReason, id, layer);
  error.details = { quota: id };
  return error;
}

/** The error of a call for which the store did not return the quotas. */
export function unavailableError({ quota }: Spending, { cause }: NoAnswer): ToolError {
  const error = deniedError(
    'policy_denied',
    unavailableText,
    unavailableReason,
    quota.id,
    quota.layer,
  );
  error.retryable = true;
  return withCause(error, cause);
}
