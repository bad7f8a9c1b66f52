/** What a call would spend of the quotas that apply to it. */

import type { QuotaLevel } from '../../api/quotas.ts';
import type { FoundCall } from '../../core/call/call.ts';
import { JudgedCall } from '../../core/call/judged.ts';
import { type Judged, maxFurtherSteps } from '../../core/rules/rule.ts';
import { hasOwn } from '../../values/json/value.ts';
import type { CompiledQuota } from './quota-layers.ts';
import { maxSpendings, maxValues, QuotaReader } from './quota-reader.ts';
import { readQuota } from './quota-state.ts';
import { unreadable } from './quota-values.ts';
import { subjectKey } from './quotas.ts';
import type { QuotaSpend } from './quotas-in.ts';
import { one } from './units.ts';

/** An amount of one quota, for one session, principal or value. */
export interface Spending {
  readonly quota: CompiledQuota;
  readonly spend: QuotaSpend;
}

/** A quota for which it is unknown what the call spends, and the part that is not readable. */
export interface UnreadableQuota {
  readonly quota: CompiledQuota;
  readonly unreadable: 'when' | 'sum' | 'by' | 'too many';
  /** The path that cannot be read; undefined if it is not about one. */
  readonly path?: readonly string[] | undefined;
}

/** What the call spends of each quota, including amounts of 0. */
export function spendingsOf(
  call: FoundCall,
  quotas: readonly CompiledQuota[],
): readonly Spending[] | UnreadableQuota {
  const spendings: Spending[] = [];
  let judged: Judged | undefined;
  for (const quota of quotas) {
    if (quota.hasWhen) {
      judged ??= new JudgedCall(call, maxFurtherSteps);
      const counts = matches(quota, judged);
      if (counts === unreadable) return { quota, unreadable: 'when' };
      if (!counts) continue;
    }
    const amount = quota.sum === undefined ? one : readerOf(call).sum(quota.sum);
    if (amount === unreadable) return { quota, unreadable: 'sum', path: quota.sum };
    const subjects = subjectsOf(call, quota);
    if (hasOwn(subjects, 'unreadable')) return subjects;
    for (const subject of subjects) {
      if (spendings.length === maxSpendings) return { quota, unreadable: 'too many' };
      spendings.push({ quota, spend: spendOf(call, quota, subject, amount) });
    }
  }
  return spendings;
}

/**
 * What any call would spend, whatever its input: 0 if that depends on the input, and nothing for a
 * quota that needs an input to be found.
 */
export function spendingsWithoutInput(
  call: FoundCall,
  quotas: readonly CompiledQuota[],
): readonly Spending[] {
  return quotas.flatMap((quota) => {
    const subjects = quota.paths.length > 0 ? [] : subjectsOf(call, quota);
    return hasOwn(subjects, 'unreadable')
      ? []
      : subjects.map((subject) => {
          const amount = quota.sum === undefined && !quota.hasWhen ? one : 0n;
          return { quota, spend: spendOf(call, quota, subject, amount) };
        });
  });
}

/** The input does not change while the call is judged, unless a person edits it. */
function readerOf(call: FoundCall): QuotaReader {
  const { canonical, parsed, more } = call;
  const known = readQuota.of(more);
  if (known !== undefined && known.input === canonical && known.parsed === parsed) return known;
  const reader = new QuotaReader(canonical, parsed);
  readQuota.set(more, reader);
  return reader;
}

function spendOf(
  call: FoundCall,
  quota: CompiledQuota,
  subject: string,
  amount: bigint,
): QuotaSpend {
  const { key, windowMs, maxUnits } = quota;
  const session = quota.session ?? call.session;
  return {
    key: key + subject,
    amount,
    max: isAgreed(call, quota) ? undefined : maxUnits,
    windowMs,
    session: windowMs === undefined ? session : undefined,
    holder: session.principal,
  };
}

function matches(quota: CompiledQuota, judged: Judged): boolean | typeof unreadable {
  try {
    return quota.counts(judged);
  } catch {
    // Comparing the input with the conditions takes too many steps.
    return unreadable;
  }
}

const everyone: readonly string[] = Object.freeze(['']);

/** The ends of the store keys that the call spends from: one for each combination of values. */
function subjectsOf(call: FoundCall, quota: CompiledQuota): readonly string[] | UnreadableQuota {
  const { by, paths } = quota;
  const session = quota.session ?? call.session;
  if (by.length === 0 && paths.length === 0) return everyone;
  const own = by.map((one) => (one === 'session' ? session.sessionId : session.actor.principal));
  let combinations: readonly (readonly string[])[] = [own];
  for (const path of paths) {
    const values = readerOf(call).subjects(path);
    if (values === unreadable) return { quota, unreadable: 'by', path };
    if (combinations.length * values.length > maxValues)
      return { quota, unreadable: 'too many', path };
    combinations = combinations.flatMap((start) => values.map((value) => [...start, value]));
  }
  return combinations.map(subjectKey);
}

/** Whether a person has allowed the call to exceed a quota. */
export function isAgreed(call: FoundCall, { id, layer }: CompiledQuota): boolean {
  const agreed = call.actual.extra?.approval?.agreed?.quotas as readonly QuotaLevel[] | undefined;
  return agreed?.some(({ quota, source }) => quota === id && source === layer) === true;
}
