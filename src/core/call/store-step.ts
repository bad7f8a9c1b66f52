/**
 * What gates want to do in a store before a handler starts. Those of one store and space take one
 * step there together: all or none.
 */
import type { Store } from '../../api/store.ts';
import { describe, MisuseError } from '../../values/errors/index.ts';
import { ignoreRejection, isThenable } from '../../values/maybe-promise.ts';
import type { FoundCall } from './call.ts';
import type { Next, Step } from './step.ts';
import { answerOfStore } from './with-deadline.ts';

/** What one gate wants to do. The call goes on once all of it has taken place. */
export interface StoreStep {
  readonly store: Store;
  readonly space: { readonly shared: string };
  readonly operations: readonly Store.Operation[];
  /** It has taken place. @param results one for each operation */
  settled(results: readonly unknown[]): void;
  /** One of its operations did not fit, so nothing has taken place. */
  refused(answer: Store.Refused): Step;
  /** Another gate's operation did not fit, or the store gave no answer. Nothing is known of it. */
  missed(): void;
  /** The store failed. @returns why the call cannot go on */
  failed(cause: unknown): Next;
  /** It has taken place after the call had ended, or had stopped waiting. */
  undo(results: readonly unknown[]): void;
}

/** A store takes no more in one step. */
const mostOperations = 1_000;

/** What a gate wants: a step in a store, or as other gates. */
export type StoreGate = (call: FoundCall) => StoreStep | Step;

function isStoreStep(wanted: StoreStep | Step): wanted is StoreStep {
  return wanted !== undefined && Object.hasOwn(wanted, 'operations');
}

/** Asks gates in their order, as few times as their stores allow. */
export function storeGates(gates: readonly StoreGate[]): (call: FoundCall) => Step {
  return (call) => {
    for (let next = 0; next < gates.length; ) {
      const joined: StoreStep[] = [];
      let count = 0;
      for (; next < gates.length; next++) {
        const wanted = (gates[next] as StoreGate)(call);
        // It may have ended the call.
        if (call.state !== 'gates') return undefined;
        if (wanted === undefined) continue;
        if (isStoreStep(wanted)) {
          const [first] = joined;
          if (first !== undefined && !isTogether(first, wanted)) break;
          count += wanted.operations.length;
          if (first !== undefined && count > mostOperations) break;
          joined.push(wanted);
          // It is asked again, once what comes before it has taken place.
        } else if (joined.length > 0) break;
        else return wanted;
      }
      if (joined.length === 0) return undefined;
      const outcome = carryOut(call, joined);
      if (outcome !== undefined || call.state !== 'gates') return outcome;
    }
    return undefined;
  };
}

function isTogether(one: StoreStep, other: StoreStep): boolean {
  return one.store === other.store && one.space.shared === other.space.shared;
}

/** Takes the step. A call that has to wait for it is judged again, and comes back. */
function carryOut(call: FoundCall, joined: readonly StoreStep[]): Step {
  const [{ store, space }] = joined as readonly [StoreStep];
  try {
    const answer: unknown = store.apply(space, operationsOf(joined));
    return isThenable(answer) ? inTime(call, joined, answer) : conclude(call, joined, answer);
  } catch (error) {
    return failed(call, joined, error);
  }
}

async function inTime(
  call: FoundCall,
  joined: readonly StoreStep[],
  answer: PromiseLike<unknown>,
): Promise<Next> {
  try {
    const got = await answerOfStore(call, answer, 'store', (late) => undoLate(joined, late));
    return got === undefined ? undefined : await conclude(call, joined, got.answer);
  } catch (error) {
    return failed(call, joined, error);
  }
}

function conclude(call: FoundCall, joined: readonly StoreStep[], answer: unknown): Step {
  const outcome = read(answer, operationsOf(joined));
  if (outcome === undefined) {
    ignoreRejection(answer);
    return failed(
      call,
      joined,
      new MisuseError(
        'invalid_option',
        'Expected the store to answer a step with { results }, one for each operation, or with ' +
          `{ refused } and the index of an operation; got ${describe(answer)}.`,
      ),
    );
  }
  if (outcome.results !== undefined) {
    if (call.ended) undo(joined, outcome.results);
    else each(joined, outcome.results, (one, own) => one.settled(own));
    return undefined;
  }
  let { refused } = outcome;
  let owner: StoreStep | undefined;
  for (const one of joined)
    if (owner === undefined && refused < one.operations.length) owner = one;
    else {
      if (owner === undefined) refused -= one.operations.length;
      one.missed();
    }
  return call.ended ? undefined : owner?.refused({ ...outcome, refused });
}

/** Reads own members only, so that a prototype that somebody has changed answers nothing. */
function read(answer: unknown, operations: readonly Store.Operation[]): Store.Outcome | undefined {
  if (typeof answer !== 'object' || answer === null) return undefined;
  if (Object.hasOwn(answer, 'results')) {
    const { results } = answer as { readonly results: unknown };
    if (results !== undefined)
      return Array.isArray(results) &&
        results.length === operations.length &&
        operations.every((operation, index) => isResult(operation, results[index]))
        ? { results, refused: undefined }
        : undefined;
  }
  if (!Object.hasOwn(answer, 'refused')) return undefined;
  const { refused } = answer as { readonly refused: unknown };
  return Number.isInteger(refused) && Number(refused) >= 0 && Number(refused) < operations.length
    ? { ...(answer as Store.Refused), results: undefined }
    : undefined;
}

/** Whether it can be the version or the place with which a gate goes on. */
function isResult({ op }: Store.Operation, result: unknown): boolean {
  if (op === 'set') return Number.isSafeInteger(result) && Number(result) > 0;
  return op !== 'add' || typeof result === 'string';
}

function operationsOf(joined: readonly StoreStep[]): readonly Store.Operation[] {
  return joined.flatMap((one) => one.operations);
}

function failed(call: FoundCall, joined: readonly StoreStep[], cause: unknown): Next {
  // Some stores say what they hear after they have given up.
  const late: unknown = (cause as { readonly late?: unknown } | undefined)?.late;
  if (isThenable(late))
    Promise.resolve(late).then(
      (answer) => undoLate(joined, answer),
      () => {},
    );
  for (const one of joined) one.missed();
  const error = (joined[0] as StoreStep).failed(cause);
  return call.ended ? undefined : error;
}

function undoLate(joined: readonly StoreStep[], answer: unknown): void {
  const results = read(answer, operationsOf(joined))?.results;
  if (results !== undefined) undo(joined, results);
}

function undo(joined: readonly StoreStep[], results: readonly unknown[]): void {
  each(joined, results, (one, own) => one.undo(own));
}

function each(
  joined: readonly StoreStep[],
  results: readonly unknown[],
  tell: (one: StoreStep, own: readonly unknown[]) => void,
): void {
  let from = 0;
  for (const one of joined) {
    const to = from + one.operations.length;
    tell(one, results.slice(from, to));
    from = to;
  }
}
