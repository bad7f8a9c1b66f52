/** The store in the memory of this process. */
import type { Store } from '../../api/store.ts';
import { safeClock } from '../../values/limits/safe-clock.ts';
import {
  fn,
  numberFrom,
  readOptions,
  type TableOf,
  wholeNumber,
  withDefault,
} from '../../values/options/index.ts';
import { checkDue, checkSchedule, checkSpace, checkStep } from '../shared/check-operations.ts';
import { inProcess } from '../shared/use-store.ts';
import { dueItems } from './due-items.ts';
import { Memory } from './memory.ts';
import { createMessages } from './messages.ts';
import { Misfit } from './space.ts';

/** Settings of {@link memoryStore}. */
export interface MemoryStoreOptions {
  /**
   * The time in epoch milliseconds, for everything that has an end. If it throws or returns
   * something else, the machine's clock is used.
   * @default `Date.now` for ends that are given as a time, and a clock that no change of the
   * machine's time affects for times to live, windows and delays
   */
  readonly now?: (() => number) | undefined;
  /**
   * The most characters that the store keeps, from 1. The count includes an overhead for each key
   * and entry; a document of 1 KB to 1 MB that several sessions have counts once. A step that needs
   * more fails and changes nothing. Once three quarters are used, no session can be opened.
   * @default 1_073_741_824, which takes 1 to 2 GB of memory
   */
  readonly maxChars?: number | undefined;
  /**
   * The most sums that are kept at the same time. A quota has one for each session, principal or
   * value that it counts for. A step that needs another one fails. One principal may have as many
   * as are left for all others: half of them if it is alone, a third each if there are two, so that
   * room is left for whoever comes next. From 1. A sum takes about half a kilobyte, and up to
   * 200 KB once it has more than a thousand amounts in its window.
   * @default 1_000_000
   */
  readonly maxSums?: number | undefined;
}

const memoryTable = {
  now: fn<() => number>(),
  maxChars: withDefault(numberFrom(1), 1_024 ** 3),
  maxSums: withDefault(wholeNumber(1), 1_000_000),
} satisfies TableOf<MemoryStoreOptions>;

/**
 * Keeps everything in this process, and answers at once. It is limited in size and lost when the
 * process ends; other processes do not see it. What is over cannot be read any more, and its memory
 * is freed by later steps, a little at a time: the store sets no timers. The sum of a session is
 * kept as long as the session, and for a day after its last amount.
 * @throws MisuseError `invalid_option`.
 *
 * @example
 * ```ts
 * import { memoryStore } from 'host-tools';
 *
 * const store = memoryStore({ maxChars: 64 * 1024 * 1024 });
 * await store.apply({ shared: 'notes' }, [{ op: 'set', key: 'a', value: 'b', ttlMs: 60_000 }]);
 * ```
 */
export function memoryStore(options: MemoryStoreOptions = {}): Store {
  const { now, maxChars, maxSums } = readOptions('memoryStore', options, memoryTable);
  const wall = now === undefined ? () => Date.now() : safeClock(now);
  const time = now === undefined ? () => performance.now() : wall;
  const memory = new Memory({ wall, time }, maxChars, maxSums);
  const items = dueItems((chars) => memory.take(chars));
  const messages = createMessages();
  return inProcess({
    kind: 'memory',
    apply: (space, operations) => apply(memory, messages.publish, space, operations),
    schedule(scheduled, delayMs, done = []) {
      checkSchedule(scheduled, delayMs, done);
      memory.begin();
      items.update(scheduled, memory.time + delayMs, done);
    },
    due(limit, delayMs) {
      checkDue(limit, delayMs);
      memory.begin();
      return items.take(limit, memory.time, delayMs);
    },
    async listen(space, listener) {
      checkSpace(space);
      return messages.listen(channelOf(space), listener);
    },
    ping() {},
    async close() {},
  } satisfies Store);
}

function channelOf(space: Store.Space): string {
  const { shared, session } = space as { readonly shared?: string; readonly session?: string };
  return shared === undefined ? `session ${session}` : `shared ${shared}`;
}

function apply<const T extends readonly Store.Operation[]>(
  memory: Memory,
  publish: (channel: string, message: string) => void,
  space: Store.Space,
  operations: T,
): Store.Outcome<T> {
  checkStep(space, operations);
  memory.begin();
  const undo: (() => void)[] = [];
  const last = operations.length - 1;
  const results: unknown[] = [];
  let published = false;
  try {
    for (let index = 0; index <= last; index++) {
      const operation = operations[index] as Store.Operation;
      memory.undo = index < last ? undo : undefined;
      const result = memory.run(space, operation);
      if (result instanceof Misfit) {
        takeBack(undo);
        return refusal(memory, space, operations, index, result);
      }
      if (operation.op === 'publish') published = true;
      results.push(result);
    }
  } catch (error) {
    takeBack(undo);
    throw error;
  }
  if (published) {
    const channel = channelOf(space);
    for (const operation of operations)
      if (operation.op === 'publish') publish(channel, messageOf(operation, results));
  }
  const all: unknown = results;
  return { results: all as Store.Applied<T>['results'] };
}

function takeBack(undo: readonly (() => void)[]): void {
  for (let index = undo.length - 1; index >= 0; index--) undo[index]?.();
}

function messageOf({ message, versionOf }: Store.Publish, results: readonly unknown[]): string {
  return versionOf === undefined ? message : `${message} ${results[versionOf]}`;
}

function refusal(
  memory: Memory,
  space: Store.Space,
  operations: readonly Store.Operation[],
  refused: number,
  { gone, retryAfterMs, found }: Misfit,
): Store.Refused {
  if (operations[refused]?.op !== 'add')
    return found === undefined
      ? { refused, gone, retryAfterMs }
      : { refused, gone, retryAfterMs, found };
  const uses = operations.flatMap((operation) =>
    operation.op === 'add' ? [memory.use(space, operation)] : [],
  );
  return { refused, gone, retryAfterMs, uses };
}
