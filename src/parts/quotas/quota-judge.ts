/**
 * The gate that asks a person about a call that would exceed a quota with `over: "ask"`. It only
 * looks: the amounts are reserved once the call has its locks.
 */

import { promptOf, titleOf } from '../../core/call/approval-question.ts';
import type { FoundCall } from '../../core/call/call.ts';
import type { Judge, Tally } from '../../core/call/tally.ts';
import { joinDetails, makeVerdict, type Verdict } from '../../core/rules/verdict.ts';
import { hasOwn } from '../../values/json/value.ts';
import { callEnded, type Looked, lookAll } from './ask-quota-store.ts';
import type { CompiledQuota } from './quota-layers.ts';
import {
  type Compared,
  compare,
  exceededText,
  unavailableReason,
  unavailableText,
  unreadableReason,
  unreadableText,
} from './quota-levels.ts';
import { isAgreed, type Spending, spendingsOf, spendingsWithoutInput } from './quota-spending.ts';
import { reservedQuota } from './quota-state.ts';

export function quotaJudge(quotas: readonly CompiledQuota[]): Judge {
  const asking = quotas.filter(({ over }) => over === 'ask');
  return (call, tally) => {
    const open = asking.filter((quota) => !isAgreed(call, quota));
    return judge(call, tally, open);
  };
}

function judge(call: FoundCall, tally: Tally, asking: readonly CompiledQuota[]): ReturnType<Judge> {
  // `explain` was given no input.
  const isOpen = tally.steps !== undefined && call.input === undefined;
  const spendings = (isOpen ? spendingsWithoutInput : spendingsOf)(call, asking);
  if (hasOwn(spendings, 'unreadable')) {
    const { id: ruleId, layer: source } = spendings.quota;
    const reason = unreadableReason;
    tally.steps?.push({ source, ruleId, effect: 'deny', reason });
    const message = unreadableText(spendings);
    tally.deny = makeVerdict('deny', { reason, ruleId, source, message });
    return undefined;
  }
  // Otherwise, the amounts that the call reserved before it waited would count twice.
  const { extra } = call.actual;
  const held = extra === undefined ? undefined : reservedQuota.of(extra);
  const reserved = new Set(held?.spends.map(({ key }) => key));
  const due = spendings.filter(({ spend }) => spend.amount > 0n && !reserved.has(spend.key));
  if (due.length === 0) return undefined;
  const looked = lookAll(call, due);
  return looked instanceof Promise
    ? looked.then((settled) => (to: Tally) => vote(call, to, due, settled))
    : vote(call, tally, due, looked);
}

function vote(call: FoundCall, tally: Tally, spendings: readonly Spending[], looked: Looked): void {
  if (looked === callEnded) return;
  if (hasOwn(looked, 'unavailable')) {
    const { id: ruleId, layer: source } = (spendings[0] as Spending).quota;
    const reason = unavailableReason;
    tally.steps?.push({ source, ruleId, effect: 'deny', reason });
    const { cause } = looked;
    tally.deny = makeVerdict('deny', { reason, ruleId, source, message: unavailableText, cause });
    return;
  }
  const over = compare(spendings, looked).filter((one) => one.over);
  if (over.length === 0) return;
  for (const { quota } of over)
    tally.steps?.push({ source: quota.layer, ruleId: quota.id, effect: 'ask' });
  tally.ask = askBeyond(call, over, tally.ask);
}

/**
 * The question whether a call may exceed these quotas.
 * @param asked What else the person is asked. Its texts are kept.
 */
export function askBeyond(
  { entry }: FoundCall,
  over: readonly Compared[],
  asked?: Verdict,
): Verdict {
  const [first] = over as readonly [Compared];
  const names = over.map(({ quota }) => `\`${quota.id}\``).join(' and ');
  const quotas = `quota${over.length === 1 ? '' : 's'} ${names}`;
  const own = promptOf(entry, `Allow ${titleOf(entry.definition)} to run beyond the ${quotas}?`);
  const prompt = asked?.prompt ?? own;
  const message = [prompt.message, ...over.map(exceededText)]
    .filter((part) => part !== undefined)
    .join('\n');
  return makeVerdict('ask', {
    source: asked?.source ?? first.quota.layer,
    ruleId: asked === undefined ? first.quota.id : asked.ruleId,
    prompt: { ...prompt, message },
    details: joinDetails(asked?.details, {
      quotas: Object.freeze(over.map(({ level }) => level)),
    }),
  });
}
