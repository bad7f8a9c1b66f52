/** Stores with one fault each in operations that are one step, and the rules that must notice. */
import type { Applied, RelayStore } from '../../../../src/surfaces/relay/ports/store.ts';
import type { StoreOp } from '../../../../src/surfaces/relay/ports/store-ops.ts';
import type { Mutant } from './store-mutants.ts';

/** Carries out operations one by one until one does not fit. */
const oneByOne = async (
  inner: RelayStore,
  session: string,
  ops: readonly StoreOp[],
  between: () => Promise<void> = async () => {},
): Promise<Applied> => {
  const results: unknown[] = [];
  for (const [refused, op] of ops.entries()) {
    const part = await inner.apply(session, [op]);
    if (part.results === undefined) return { ...part, refused };
    results.push(part.results[0]);
    await between();
  }
  return { results } as unknown as Applied;
};

/** Only what tests whether the operations fit. */
const conditions = (ops: readonly StoreOp[]): readonly StoreOp[] =>
  ops.filter(({ op }) => op === 'set' || op === 'renew' || op === 'count');

const nothing = 'of a step with an operation that does not fit, nothing takes place';
const alike = 'several operations in one step do what they do one by one, from the seed 1';

export const applyMutants: Record<string, Mutant> = {
  'that leaves what it has done of a step that does not fit': [
    (inner) => ({
      apply: ((session: string, ops: readonly StoreOp[]) =>
        oneByOne(inner, session, ops)) as RelayStore['apply'],
    }),
    [nothing, alike],
  ],
  'that reads before it writes, whatever the order': [
    (inner) => ({
      apply: (async (session: string, ops: readonly StoreOp[]) => {
        const order = ops
          .map((_, index) => index)
          .sort((one, other) => Number(ops[one]?.op !== 'get') - Number(ops[other]?.op !== 'get'));
        const applied = await inner.apply(
          session,
          order.map((index) => ops[index] as StoreOp),
        );
        return applied.results === undefined
          ? { ...applied, refused: order[applied.refused] }
          : { results: ops.map((_, index) => applied.results[order.indexOf(index)]) };
      }) as RelayStore['apply'],
    }),
    ['each operation of a step sees what those before it have done', alike],
  ],
  'whose steps let others in between': [
    (inner) => ({
      apply: (async (session: string, ops: readonly StoreOp[]) => {
        const [first] = conditions(ops);
        const fits = first === undefined || first.op !== 'set' || first.version === undefined;
        if (!fits) {
          const [found] = await inner.get(session, [first.key]);
          if ((found?.version ?? 0) !== first.version)
            return { refused: ops.indexOf(first), gone: false, retryAfterMs: 0 };
        }
        await new Promise((resolve) => setImmediate(resolve));
        const free = ops.map((op) => (op.op === 'set' ? { ...op, version: undefined } : op));
        return inner.apply(session, free);
      }) as RelayStore['apply'],
    }),
    [
      'of many callers with steps over the same versions at once, one succeeds with all of its ' +
        'step',
    ],
  ],
  'that does not say that a session is gone': [
    (inner) => ({
      apply: (async (session: string, ops: readonly StoreOp[]) => {
        const applied = await inner.apply(session, ops);
        return applied.results === undefined ? { ...applied, gone: false } : applied;
      }) as RelayStore['apply'],
    }),
    ['a step is refused in a session that does not exist, unless it only reads'],
  ],
  "that takes a session's counters for those of all": [
    (inner) => ({
      apply: (async (session: string, ops: readonly StoreOp[]) => {
        for (const op of ops)
          if (op.op === 'count') await inner.count(op.key, op.limit, op.windowMs);
        return inner.apply(session, ops);
      }) as RelayStore['apply'],
    }),
    ['a counter of a session allows as many uses as its limit, and ends with the session'],
  ],
  'that forgets what is to be removed when an item is scheduled': [
    (inner) => ({ schedule: (session, key, delayMs) => inner.schedule(session, key, delayMs) }),
    ['an item is scheduled in one step with the removal of others'],
  ],
  'that removes the item that it schedules': [
    (inner) => ({
      schedule: async (session, key, delayMs, done = []) => {
        await inner.schedule(session, key, delayMs);
        for (const item of done) await inner.unschedule(item.session, item.key);
      },
    }),
    ['an item is scheduled in one step with the removal of others'],
  ],
};
