/** Asks the host's quota store: in bounded time, without trusting its answer. */

import type { QuotaAnswer, QuotaSpend, QuotaStore, QuotaUse } from '../../api/quotas.ts';
import type { FoundCall } from '../../core/call/call.ts';
import { reportFault } from '../../core/call/report-fault.ts';
import { answerInTime, tooLate } from '../../core/call/with-deadline.ts';
import { describe, MisuseError } from '../../values/errors/index.ts';
import { hasOwn } from '../../values/json/value.ts';
import { ignoreRejection, isThenable } from '../../values/maybe-promise.ts';
import type { Spending } from './quota-spending.ts';
import { quotaStoreOf, reservedQuota } from './quota-state.ts';

/** The store gave no usable answer. `cause` is undefined if it was only too slow. */
export interface NoAnswer {
  readonly unavailable: true;
  readonly cause: unknown;
}

/** The call has ended meanwhile, so no answer is needed. */
export const callEnded: unique symbol = Symbol('call ended');

/** The store's answer to a reservation. */
export type Reservation = QuotaAnswer | NoAnswer | typeof callEnded;
/** The store's answer to a look. */
export type Looked = readonly QuotaUse[] | NoAnswer | typeof callEnded;

/**
 * Reserves all of the amounts, or none. If the call ends or the time runs out first, a reservation
 * that the store makes later is given back.
 */
export function reserveAll(
  call: FoundCall,
  spendings: readonly Spending[],
): Reservation | Promise<Reservation> {
  return ask(call, spendings, reserving);
}

/** Compares the amounts with what is already spent. Changes nothing. */
export function lookAll(call: FoundCall, spendings: readonly Spending[]): Looked | Promise<Looked> {
  return ask(call, spendings, looking);
}

/** One of the two questions to a store. */
interface Question<T> {
  run(store: QuotaStore, spends: readonly QuotaSpend[]): unknown;
  /** The answer if it is well formed, else undefined. */
  read(answer: unknown, spendings: readonly Spending[]): T | undefined;
  /** Completes the sentence "Expected the quota store to answer …". */
  readonly expected: string;
  /** Undoes an answer that comes too late. */
  undo(call: FoundCall, answer: T): void;
}

const reserving: Question<QuotaAnswer> = {
  run: (store, spends) => store.reserve(spends),
  read: readAnswer,
  expected: '{ reservation }, or { refused } with the use of each amount',
  undo(call, answer) {
    if (hasOwn(answer, 'reservation')) giveBackTo(call, answer.reservation);
  },
};

const looking: Question<readonly QuotaUse[]> = {
  run: (store, spends) => store.look(spends),
  read: readUses,
  expected: 'the use of each amount',
  undo() {},
};

/** Gives back what the call has reserved, if its handler has not started. */
export function giveBackQuota(call: FoundCall): void {
  const { extra } = call;
  const reserved = extra === undefined ? undefined : reservedQuota.of(extra);
  if (extra === undefined || reserved === undefined) return;
  reservedQuota.delete(extra);
  giveBackTo(call, reserved.reservation);
}

/** Gives back a reservation. If that fails, the amounts stay spent until they leave the window. */
function giveBackTo(call: FoundCall, reservation: object): void {
  const failed = (error: unknown): void =>
    reportFault(
      call,
      error,
      'quotaStore',
      'what a call had reserved of its quotas could not be given back',
    );
  try {
    const answer: unknown = quotaStoreOf(call).giveBack(reservation);
    if (isThenable(answer)) Promise.resolve(answer).then(undefined, failed);
  } catch (error) {
    failed(error);
  }
}

type Answer<T> = T | NoAnswer | typeof callEnded;

function ask<T extends object>(
  call: FoundCall,
  spendings: readonly Spending[],
  question: Question<T>,
): Answer<T> | Promise<Answer<T>> {
  const spends = Object.freeze(spendings.map(({ spend }) => spend));
  try {
    const answer = question.run(quotaStoreOf(call), spends);
    if (!isThenable(answer)) return settle(call, spendings, question, answer);
    return inTime(call, spendings, question, answer);
  } catch (error) {
    return failed(call, error);
  }
}

function settle<T extends object>(
  call: FoundCall,
  spendings: readonly Spending[],
  question: Question<T>,
  answer: unknown,
): Answer<T> {
  const read = question.read(answer, spendings);
  if (!call.ended) return read ?? nonsense(call, question.expected, answer);
  if (read !== undefined) question.undo(call, read);
  return callEnded;
}

async function inTime<T extends object>(
  call: FoundCall,
  spendings: readonly Spending[],
  question: Question<T>,
  answer: PromiseLike<unknown>,
): Promise<Answer<T>> {
  const { policyTimeoutMs } = call.session.registry;
  let came: { readonly answer: unknown } | undefined;
  let isOver = false;
  const asked = Promise.resolve(answer).then((settled) => {
    came = { answer: settled };
    const late = isOver ? question.read(settled, spendings) : undefined;
    if (late !== undefined) question.undo(call, late);
    return came;
  });
  try {
    const settled = await answerInTime(call, asked, policyTimeoutMs);
    // The call may have ended in the same turn in which the answer came.
    const got = settled === tooLate ? came : settled;
    if (got !== undefined) return settle(call, spendings, question, got.answer);
    isOver = true;
    if (call.ended) return callEnded;
    return failed(
      call,
      new Error(`The quota store did not answer within ${policyTimeoutMs / 1_000} s.`),
    );
  } catch (error) {
    return failed(call, error);
  }
}

function failed(call: FoundCall, cause: unknown): NoAnswer | typeof callEnded {
  reportFault(call, cause, 'quotaStore', 'the quota store failed, so the call was refused');
  return call.ended ? callEnded : { unavailable: true, cause };
}

function nonsense(call: FoundCall, expected: string, answer: unknown): NoAnswer | typeof callEnded {
  ignoreRejection(answer);
  return failed(
    call,
    new MisuseError(
      'invalid_option',
      `Expected the quota store to answer ${expected}, got ${describe(answer)}.`,
    ),
  );
}

/** Reads own members only, each once. */
function readAnswer(answer: unknown, spendings: readonly Spending[]): QuotaAnswer | undefined {
  if (typeof answer !== 'object' || answer === null) return undefined;
  if (Object.hasOwn(answer, 'reservation')) {
    if (Object.hasOwn(answer, 'refused')) return undefined;
    const { reservation } = answer as { reservation: unknown };
    return typeof reservation === 'object' && reservation !== null ? { reservation } : undefined;
  }
  if (!Object.hasOwn(answer, 'refused')) return undefined;
  const refused = readUses((answer as { refused: unknown }).refused, spendings);
  return refused?.some((use, index) => isOver(spendings[index] as Spending, use)) === true
    ? { refused }
    : undefined;
}

function readUses(
  answer: unknown,
  spendings: readonly Spending[],
): readonly QuotaUse[] | undefined {
  if (!Array.isArray(answer) || answer.length !== spendings.length) return undefined;
  const uses: QuotaUse[] = [];
  for (const use of answer as readonly unknown[]) {
    if (typeof use !== 'object' || use === null || !Object.hasOwn(use, 'used')) return undefined;
    const { used } = use as { used: unknown };
    const wait: unknown = Object.hasOwn(use, 'retryAfterMs')
      ? (use as { retryAfterMs: unknown }).retryAfterMs
      : undefined;
    if (typeof used !== 'bigint' || used < 0n) return undefined;
    if (wait !== undefined && !(Number.isFinite(wait) && (wait as number) >= 0)) return undefined;
    uses.push({ used, retryAfterMs: wait as number | undefined });
  }
  return uses;
}

/** Whether an amount does not fit. An amount of 0 always does. */
export function isOver({ spend }: Spending, { used }: QuotaUse): boolean {
  return spend.amount > 0n && spend.max !== undefined && used + spend.amount > spend.max;
}
