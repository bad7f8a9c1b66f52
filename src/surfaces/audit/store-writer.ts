/** Writes the lines of a log into a chain of a store. */
import type { Store } from '../../extend.ts';
import {
  after,
  ignoreRejection,
  isThenable,
  type MaybePromise,
} from '../../values/maybe-promise.ts';
import { type AuditHead, type LineHash, linkLine, readLine, renderBody } from './line.ts';
import {
  auditSpace,
  chainName,
  chainsIn,
  closedKey,
  countChanged,
  countKey,
  holderKey,
} from './store-chains.ts';
import type { LineWriter, QueuedLine } from './writers.ts';

/** A writer that died holds its chain for so long; one that lives renews this in time. */
const holdMs = 60_000;
const renewMs = 20_000;
/** Most lines and characters of one step, so that Redis is held for a millisecond or two. */
const batchLines = 250;
const batchChars = 250_000;
/** How many holders are looked at in one step. */
const lookAtOnce = 500;
/** How often other writers may be first before writing counts as failed. */
const mostTries = 20;

/** The chain that this writer holds. */
interface Held {
  readonly number: number;
  /** The version of the document that says who holds it; undefined until the first line. */
  version: number | undefined;
  /** The version of the number of chains, for a chain that does not exist yet. */
  readonly count: number;
  /** The id of the last entry. */
  last: number;
  head: AuditHead;
  /** Whether the writer before has not closed it. */
  wasLeft: boolean;
}

export interface StoreWriter extends LineWriter {
  /** The last line of the chain that this writer holds; the beginning if it has written nothing. */
  head(): AuditHead;
  /** Gives the chain back, if the store can do that at once. */
  release(): void;
}

const none: AuditHead = Object.freeze({ seq: 0, hash: '' });

/**
 * Longer than 60 lines, since its short functions share the chain that is held.
 * @param keep how many lines of a chain are kept; undefined for all
 */
export function storeWriter(
  store: Store,
  hash: LineHash,
  keep: number | undefined,
  now: () => number,
): StoreWriter {
  let held: Held | undefined;
  let head = none;
  let renewing: ReturnType<typeof setInterval> | undefined;
  let isBusy = false;

  const renew = (): void => {
    if (held?.version === undefined) return;
    const { number, version } = held;
    // If it is not renewed, the next step finds that somebody else holds the chain.
    try {
      ignoreRejection(
        store.apply(auditSpace, [{ op: 'touch', key: holderKey(number), version, ttlMs: holdMs }]),
      );
    } catch {
      // The store is a file that cannot be written now.
    }
  };
  const hold = (): MaybePromise<Held> => {
    renewing ??= setInterval(renew, renewMs);
    renewing.unref();
    return after(takeChain(store, hash), (taken) => {
      held = taken;
      return taken;
    });
  };
  const write = (lines: readonly QueuedLine[], tries: number): MaybePromise<number> => {
    if (tries === 0) throw new Error(`Other writers took the chain ${mostTries} times.`);
    return after(held ?? hold(), (own) => {
      const linked = link(own, lines, hash, now);
      return after(store.apply(auditSpace, stepOf(own, linked.texts, keep)), (outcome) => {
        if (outcome.results !== undefined) {
          if (own.version === undefined) own.version = outcome.results[1] as number;
          own.wasLeft = false;
          return wrote(own, linked, linked.texts.length);
        }
        // A step that was not answered may have taken place.
        return after(readBack(store, own, linked.texts), (found) => {
          if (found === 0 || outcome.refused === 0 || own.version === undefined) held = undefined;
          else own.wasLeft = false;
          const count = wrote(own, linked, found);
          return count > 0 ? count : write(lines, tries - 1);
        });
      });
    });
  };
  /** @returns how many of the queued lines are among the first `count` of those that were linked */
  const wrote = (own: Held, { heads, more }: Linked, count: number): number => {
    if (count === 0) return 0;
    own.last += count;
    own.head = heads[count - 1] as AuditHead;
    head = { ...own.head, chain: own.number };
    return count - more;
  };
  const giveBack = (): MaybePromise<unknown> => {
    clearInterval(renewing);
    renewing = undefined;
    if (held?.version === undefined) return undefined;
    const { number, version, last } = held;
    held = undefined;
    return store.apply(auditSpace, [
      { op: 'delete', key: holderKey(number), version, required: true },
      { op: 'set', key: closedKey(number), value: String(last) },
    ]);
  };
  const busy = (lines: readonly QueuedLine[]): MaybePromise<number> => {
    isBusy = true;
    try {
      const answer = write(lines, mostTries);
      if (isThenable(answer))
        return Promise.resolve(answer).finally(() => {
          isBusy = false;
        });
      isBusy = false;
      return answer;
    } catch (error) {
      isBusy = false;
      throw error;
    }
  };
  return {
    write: async (lines) => busy(lines),
    sync: async () => {},
    async close() {
      try {
        await giveBack();
      } catch {
        // The store cannot be reached. The next writer notes that nobody has closed the chain.
      }
    },
    writeNow(lines) {
      if (isBusy) return 0;
      const answer = busy(lines);
      if (!isThenable(answer)) return answer;
      // The process does not wait for it.
      ignoreRejection(answer);
      return 0;
    },
    head: () => head,
    release() {
      try {
        ignoreRejection(giveBack());
      } catch {
        // As in `close`.
      }
    },
  };
}

/** Lines with their place in a chain. */
interface Linked {
  readonly texts: readonly string[];
  readonly heads: readonly AuditHead[];
  /** How many of them do not come from the queue. */
  readonly more: number;
}

function link(
  { head, wasLeft }: Held,
  lines: readonly QueuedLine[],
  hash: LineHash,
  now: () => number,
): Linked {
  const texts: string[] = [];
  const heads: AuditHead[] = [];
  let [last, chars] = [head, 0];
  const add = (body: string): void => {
    const linked = linkLine(body, last, hash);
    last = linked.head;
    chars += linked.text.length;
    texts.push(linked.text);
    heads.push(last);
  };
  if (wasLeft) add(renderBody({ type: 'recovered', at: now() }));
  const more = texts.length;
  for (const { text } of lines) {
    if (texts.length > more && (texts.length >= batchLines || chars + text.length > batchChars))
      break;
    add(text);
  }
  return { texts, heads, more };
}

/** Adds lines to a chain, if this writer holds it and nobody else has added any. */
function stepOf(
  { number, version, count, last }: Held,
  texts: readonly string[],
  keep: number | undefined,
): readonly Store.Operation[] {
  const log = chainName(number);
  const appends = texts.map(
    (value, at): Store.Append => ({ op: 'append', log, value, keep, after: last + at }),
  );
  const key = holderKey(number);
  return version === undefined
    ? [
        { op: 'set', key: countKey, value: String(number), version: count },
        { op: 'set', key, value: '', version: 0, ttlMs: holdMs },
        ...appends,
      ]
    : [{ op: 'touch', key, version, ttlMs: holdMs }, ...appends];
}

/** How many of these lines are in the chain, right after the last that is known. */
function readBack(
  store: Store,
  { number, last }: Held,
  texts: readonly string[],
): MaybePromise<number> {
  const read = { op: 'read', log: chainName(number), after: last, limit: texts.length } as const;
  return after(store.apply(auditSpace, [read]), ({ results }) => {
    const entries = results?.[0].entries ?? [];
    const other = entries.findIndex(
      ({ id, value }, at) => id !== last + at + 1 || value !== texts[at],
    );
    return other === -1 ? entries.length : other;
  });
}

/** Takes the first chain that nobody holds, or the place of a new one. */
function takeChain(store: Store, hash: LineHash): MaybePromise<Held> {
  return after(store.apply(auditSpace, [{ op: 'get', keys: [countKey] }]), ({ results }) => {
    const found = results?.[0][0];
    const chains = chainsIn(found);
    if (chains === undefined)
      throw new Error(
        `In the audit log in the store, ${countChanged}. Verify the log. To go on without it, ` +
          'use another schema or prefix of the store.',
      );
    const fresh: Held = {
      number: chains + 1,
      version: undefined,
      count: found?.version ?? 0,
      last: 0,
      head: none,
      wasLeft: false,
    };
    const look = (from: number): MaybePromise<Held> => {
      if (from > chains) return fresh;
      const numbers = Array.from(
        { length: Math.min(lookAtOnce, chains - from + 1) },
        (_, at) => from + at,
      );
      const get: Store.Get = { op: 'get', keys: numbers.map(holderKey) };
      return after(store.apply(auditSpace, [get]), ({ results: holders }) => {
        const free = numbers.filter((_, at) => holders?.[0][at] === undefined);
        return after(takeOne(store, hash, free), (taken) => taken ?? look(from + lookAtOnce));
      });
    };
    return look(1);
  });
}

/** Takes the first of these chains that is still free, and whose last line is as written. */
function takeOne(
  store: Store,
  hash: LineHash,
  numbers: readonly number[],
): MaybePromise<Held | undefined> {
  const [number, ...others] = numbers;
  if (number === undefined) return undefined;
  return after(endOf(store, hash, number), ({ last, head }) => {
    const key = holderKey(number);
    const take = [
      { op: 'set', key, value: '', version: 0, ttlMs: holdMs },
      { op: 'get', keys: [closedKey(number)] },
      { op: 'read', log: chainName(number), after: 0, limit: 0 },
    ] as const;
    return after(store.apply(auditSpace, take), ({ results }): MaybePromise<Held | undefined> => {
      if (results === undefined) return takeOne(store, hash, others);
      const [version, [closed], page] = results;
      if (page.last === last) {
        const wasLeft = closed?.value !== String(last);
        return { number, version, count: 0, last, head, wasLeft };
      }
      // Somebody has held it since its end was read.
      return after(store.apply(auditSpace, [{ op: 'delete', key, version }]), () =>
        takeOne(store, hash, numbers),
      );
    });
  });
}

/** Where a chain ends. @throws Error if its last line is not as written */
function endOf(
  store: Store,
  hash: LineHash,
  number: number,
): MaybePromise<Pick<Held, 'last' | 'head'>> {
  const log = chainName(number);
  const look = { op: 'read', log, after: 0, limit: 0 } as const;
  return after(store.apply(auditSpace, [look]), ({ results }) => {
    const last = results?.[0].last ?? 0;
    const read = { op: 'read', log, after: Math.max(0, last - 1), limit: 1 } as const;
    return after(store.apply(auditSpace, [read]), (outcome) => {
      const [entry] = outcome.results?.[0].entries ?? [];
      const line = entry === undefined ? undefined : readLine(Buffer.from(entry.value), hash);
      if (line?.fits !== true)
        throw new Error(
          `The last line of chain ${number} of the audit log in the store was changed or ` +
            'removed, or `key` is not the one of the log. Verify the log. To go on without that ' +
            'chain, use another schema or prefix of the store.',
        );
      return { last, head: { seq: line.seq, hash: line.hash } };
    });
  });
}
