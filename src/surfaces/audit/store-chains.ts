/** The chains of an audit log in a store: how they are named and read. */
import type { Store } from '../../extend.ts';
import type { RawLine } from './open-log.ts';

/**
 * Everything of an audit log. Each chain is a log named `chain N`, and has one writer at a time:
 * who holds the document `writer N`. The next writer goes on with a chain that nobody holds.
 */
export const auditSpace = { shared: 'audit' } as const;

/** The document with the number of chains. */
export const countKey = 'chains';
export const chainName = (number: number): string => `chain ${number}`;
export const holderKey = (number: number): string => `writer ${number}`;
/** The document with the id of the last line, if the writer has closed the chain. */
export const closedKey = (number: number): string => `closed ${number}`;

/** Lines that are read at once. Most have less than a kilobyte, and some have megabytes. */
const linesAtOnce = 100;

/** The number of chains that a document has; undefined if no writer has written it so. */
export function chainsIn(document: { readonly value: string } | undefined): number | undefined {
  if (document === undefined) return 0;
  return /^[1-9]\d{0,5}$/.test(document.value) ? Number(document.value) : undefined;
}

/** What is wrong with a number of chains that no writer has written. */
export const countChanged = 'the number of chains was changed';

/** How many chains a log has, and whether the store has a number that a writer may have written. */
export async function countChains(
  store: Store,
): Promise<{ readonly chains: number; readonly isAsWritten: boolean }> {
  const { results } = await store.apply(auditSpace, [{ op: 'get', keys: [countKey] }]);
  const told = chainsIn(results?.[0][0]);
  // Somebody may have changed the number to hide a chain.
  for (let chains = told ?? 0; ; chains++)
    if ((await endsOf(store, chains + 1)).last === 0)
      return { chains, isAsWritten: told !== undefined };
}

/** The ids of the oldest and the newest line of a chain that are kept; 0 if there are none. */
export async function endsOf(
  store: Store,
  number: number,
): Promise<Pick<Store.Page, 'first' | 'last'>> {
  const { results } = await store.apply(auditSpace, [
    { op: 'read', log: chainName(number), after: 0, limit: 0 },
  ]);
  return results?.[0] ?? { first: 0, last: 0 };
}

/**
 * The lines of a chain, oldest first, up to the last that there is now.
 * @param from the id of the first line. @default the oldest that is kept
 */
export async function* entriesOf(
  store: Store,
  number: number,
  from = 1,
): AsyncGenerator<Store.Entry, void, undefined> {
  const { first, last } = await endsOf(store, number);
  for (let after = Math.max(first, from) - 1; after < last; ) {
    const { results } = await store.apply(auditSpace, [
      { op: 'read', log: chainName(number), after, limit: linesAtOnce },
    ]);
    const entries = results?.[0].entries ?? [];
    const newest = entries.at(-1);
    // Those that were read may have been dropped meanwhile, because the log keeps so many.
    if (newest === undefined) return;
    yield* entries;
    after = newest.id;
  }
}

/** A line of a store as one of a file. */
export function rawLine({ value }: Store.Entry): RawLine {
  return { bytes: Buffer.from(value), file: undefined, isFirst: false, torn: false };
}
