/** The counts of quotas, in a file that all hooks with the same rules share. */
import { readFileSync } from 'node:fs';
import type { Store } from '../../../extend.ts';
import { replaceFileSync } from '../../../values/files/whole-file.ts';
import type { MaybePromise } from '../../../values/maybe-promise.ts';
import { HookFault } from '../event.ts';
import { locked, requireRegularFile } from './locked-file.ts';

/** An amount in units of 10^-18, and when it was added. */
type Spent = readonly [at: number, amount: string];

interface Sum {
  /** Milliseconds for which an amount counts; null for a quota per session. */
  readonly windowMs: number | null;
  readonly spent: readonly Spent[];
}

/**
 * Most amounts under one key. Older ones are combined into one, which counts as long as the newest
 * of them.
 */
const maxSpent = 1_000;
/** Most keys. A call that would need another one is refused. */
const maxKeys = 10_000;
/** How long the sum of a session is kept after its last call. */
const keepSessionMs = 86_400_000;

/**
 * A store in a file, for sums alone.
 * @param until Epoch milliseconds until which it waits for other hooks.
 * @throws HookFault if it is no regular file
 */
export function fileQuotas(file: string, until: number, now: () => number): Store {
  requireRegularFile(file);
  return sumsOnly((operations) =>
    locked(`${file}.lock`, until, () => {
      const at = now();
      const sums = readSums(file, at);
      const uses = operations.flatMap((one) =>
        one.op === 'add' || one.op === 'sum' ? [useOf(sums, one, at)] : [],
      );
      const adds = operations.filter((one) => one.op === 'add');
      if (adds.length === 0) return { results: uses };
      const refused = uses.findIndex(({ retryAfterMs }) => retryAfterMs !== 0);
      if (refused >= 0) return { refused, gone: false, retryAfterMs: 0, uses };
      for (const one of adds) add(sums, one, at);
      if (sums.size > maxKeys) throw new HookFault(`${file} counts for too many values.`);
      replaceFileSync(file, JSON.stringify([...sums]), { durable: false });
      return { results: adds.map(() => 'spent') };
    }),
  );
}

/** Accepts everything, for calls that have already spent their amounts. */
export const spentBefore: Store = sumsOnly((operations) => ({
  results: operations.map(({ op }) => (op === 'sum' ? { used: 0n, retryAfterMs: 0 } : 'spent')),
}));

/**
 * A store that only adds, or only reads sums. What a hook has reserved is spent, because the call
 * may run as soon as the hook has answered: nothing is given back.
 */
function sumsOnly(add: (operations: readonly Store.Operation[]) => MaybePromise<object>): Store {
  const unused = async (): Promise<never> => {
    throw new HookFault('A hook keeps nothing but sums.');
  };
  return Object.freeze({
    kind: 'files',
    apply: <T extends readonly Store.Operation[]>(_space: Store.Space, operations: T) =>
      (operations.some(({ op }) => op === 'subtract')
        ? { results: operations.map(() => true) }
        : add(operations)) as MaybePromise<Store.Outcome<T>>,
    schedule: unused,
    due: unused,
    listen: unused,
    ping() {},
    async close() {},
  });
}

function useOf(
  sums: ReadonlyMap<string, Sum>,
  { key, amount, max }: Store.Sliding,
  at: number,
): Store.Use {
  const { spent = [], windowMs = null } = sums.get(key) ?? {};
  const used = spent.reduce((sum, [, one]) => sum + BigInt(one), 0n);
  if (max === undefined || used + amount <= max) return { used, retryAfterMs: 0 };
  if (amount > max || windowMs === null) return { used, retryAfterMs: undefined };
  let left = used;
  for (const [since, one] of spent) {
    left -= BigInt(one);
    if (left + amount <= max) return { used, retryAfterMs: Math.max(1, since + windowMs - at) };
  }
  return { used, retryAfterMs: undefined };
}

function add(sums: Map<string, Sum>, { key, amount, windowMs }: Store.Sliding, at: number): void {
  const spent: Spent[] = [...(sums.get(key)?.spent ?? []), [at, String(amount)]];
  while (spent.length > maxSpent) {
    const [one, two] = spent.splice(0, 2) as [Spent, Spent];
    spent.unshift([two[0], String(BigInt(one[1]) + BigInt(two[1]))]);
  }
  sums.set(key, { windowMs: windowMs ?? null, spent });
}

/** Reads the sums, without amounts that no longer count. @throws HookFault */
function readSums(file: string, now: number): Map<string, Sum> {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    if ((error as { code?: unknown }).code === 'ENOENT') return new Map();
    throw error;
  }
  try {
    const sums = new Map<string, Sum>();
    for (const [key, sum] of JSON.parse(text) as [string, Sum][]) {
      const { windowMs } = sum;
      const kept = windowMs ?? keepSessionMs;
      for (const [at, amount] of sum.spent)
        if (!Number.isFinite(at) || BigInt(amount) < 0n) throw new Error('no amount');
      const isOver = (sum.spent.at(-1)?.[0] ?? 0) + kept <= now;
      // The amounts of a session count together, until a day after the last of them.
      const spent = windowMs === null ? sum.spent : sum.spent.filter(([at]) => at + windowMs > now);
      if (!isOver && spent.length > 0) sums.set(key, { windowMs, spent });
    }
    return sums;
  } catch {
    throw new HookFault(
      `${file} was modified or truncated, so the use of the quotas is not known. Remove it to ` +
        'begin to count anew.',
    );
  }
}
