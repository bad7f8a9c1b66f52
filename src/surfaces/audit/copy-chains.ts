/** Copies an audit log from one store to another. */
import type { Store } from '../../extend.ts';
import {
  auditSpace,
  chainName,
  closedKey,
  countChains,
  countChanged,
  countKey,
  endsOf,
  entriesOf,
} from './store-chains.ts';

/** How many lines were copied, and how many were there already. */
export interface CopiedLines {
  readonly chains: number;
  readonly copied: number;
  readonly present: number;
}

/** Lines of one step, as they are read. */
const linesAtOnce = 100;

/**
 * Copies all chains. What is there already is left alone, so that it can be done again after more
 * lines were written.
 * @throws Error if a chain there is not the beginning of the one that is copied
 */
export async function copyChains(from: Store, to: Store): Promise<CopiedLines> {
  const { chains, isAsWritten } = await countChains(from);
  if (!isAsWritten) throw new Error(`In the audit log to copy, ${countChanged}. Verify the log`);
  let [copied, present] = [0, 0];
  for (let number = 1; number <= chains; number++) {
    const { last } = await endsOf(to, number);
    const known = last === 0 ? undefined : await newestOf(to, number, last);
    let at = last;
    let waiting: string[] = [];
    const flush = async (): Promise<void> => {
      if (waiting.length > 0) await append(to, number, at, waiting);
      at += waiting.length;
      copied += waiting.length;
      waiting = [];
    };
    let met = known === undefined;
    let end = 0;
    for await (const { id, value } of entriesOf(from, number)) {
      end = id;
      if (!met) {
        present++;
        met = value === known;
        continue;
      }
      waiting.push(value);
      if (waiting.length === linesAtOnce) await flush();
    }
    if (!met)
      throw new Error(
        `Chain ${number} of the audit log there is not the beginning of the one that is copied. ` +
          'Copy into a store in which nobody has recorded calls, before your programs use it',
      );
    await flush();
    await copyClosed(from, to, number, end, at);
  }
  return { chains, copied, present };
}

async function newestOf(store: Store, number: number, last: number): Promise<string | undefined> {
  for await (const { value } of entriesOf(store, number, last)) return value;
  return undefined;
}

async function append(
  to: Store,
  number: number,
  last: number,
  values: readonly string[],
): Promise<void> {
  const log = chainName(number);
  const { results } = await to.apply(auditSpace, [{ op: 'get', keys: [countKey] }]);
  const found = results?.[0][0];
  const outcome = await to.apply(auditSpace, [
    ...(Number(found?.value ?? 0) >= number
      ? []
      : [
          {
            op: 'set',
            key: countKey,
            value: String(number),
            version: found?.version ?? 0,
          } as const,
        ]),
    ...values.map((value, at) => ({ op: 'append', log, value, after: last + at }) as const),
  ]);
  if (outcome.results === undefined)
    throw new Error(
      `Somebody else writes chain ${number} of the audit log there. Stop the programs that use ` +
        'the two stores, and copy again',
    );
}

/** A chain that its writer has closed is closed there, too. */
async function copyClosed(
  from: Store,
  to: Store,
  number: number,
  end: number,
  last: number,
): Promise<void> {
  const key = closedKey(number);
  const { results } = await from.apply(auditSpace, [{ op: 'get', keys: [key] }]);
  if (results?.[0][0]?.value !== String(end)) return;
  await to.apply(auditSpace, [{ op: 'set', key, value: String(last) }]);
}
