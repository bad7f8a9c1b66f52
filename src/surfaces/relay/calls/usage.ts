/**
 * Counts how many times each tool of an application was called, over all nodes. A node counts in
 * memory and adds to the store from time to time, so that a call needs no operation of its own. A
 * node that dies loses the counts of its last seconds.
 */
import type { Store } from '../../../extend.ts';
import { keys } from '../ports/documents.ts';
import { documentsOf, type KeptStore, writeDocument } from '../ports/kept-store.ts';

/** Counts calls of the application's tools. */
export interface Usage {
  /** Counts one call. */
  count(code: string, tool: string): void;
  /** Reads the calls of each tool so far, including those that this node has not stored yet. */
  read(code: string): Promise<ReadonlyMap<string, number>>;
  /** Stores the counts, unless the store cannot be reached. Never rejects. */
  flush(): Promise<void>;
}

/** Milliseconds after a call until the counts are stored. */
const flushMs = 1_000;
/** The most names in a session's counts. The names that were counted first are removed first. */
const maxNames = 2_000;
/** The most tries to add counts. Other nodes may add theirs at the same time. */
const maxTries = 5;

interface State {
  readonly store: KeptStore;
  /** Counts that are not stored, by session and tool. */
  pending: Map<string, Map<string, number>>;
  timer: ReturnType<typeof setTimeout> | undefined;
}

/** Makes the counts of a node. */
export function createUsage(store: KeptStore): Usage {
  const state: State = { store, pending: new Map(), timer: undefined };
  return {
    count(code, tool) {
      let counts = state.pending.get(code);
      if (counts === undefined) {
        counts = new Map();
        state.pending.set(code, counts);
      }
      counts.set(tool, (counts.get(tool) ?? 0) + 1);
      if (state.timer !== undefined) return;
      state.timer = setTimeout(() => void flush(state), flushMs);
      // The timer must not keep the process alive.
      state.timer.unref?.();
    },
    async read(code) {
      const { counts } = await stored(store, code);
      for (const [tool, calls] of state.pending.get(code) ?? [])
        counts.set(tool, (counts.get(tool) ?? 0) + calls);
      return counts;
    },
    flush: () => flush(state),
  };
}

async function flush(state: State): Promise<void> {
  clearTimeout(state.timer);
  state.timer = undefined;
  const { pending } = state;
  state.pending = new Map();
  // Counts are not worth a retry. Those that the store cannot take now are lost.
  for (const [code, counts] of pending) await add(state.store, code, counts).catch(() => {});
}

async function add(
  store: KeptStore,
  code: string,
  counts: ReadonlyMap<string, number>,
): Promise<void> {
  for (let tries = 0; tries < maxTries; tries++) {
    const { counts: all, version } = await stored(store, code);
    for (const [tool, calls] of counts) all.set(tool, (all.get(tool) ?? 0) + calls);
    const value = JSON.stringify(Object.fromEntries([...all].slice(-maxNames)));
    if ((await writeDocument(store, code, keys.usage, value, version)) !== undefined) return;
  }
}

async function stored(
  store: KeptStore,
  code: string,
): Promise<{ readonly counts: Map<string, number>; readonly version: number }> {
  const [found] = await documentsOf(store, code, [keys.usage]);
  return {
    counts: new Map(
      found === undefined
        ? []
        : Object.entries(JSON.parse(found.value) as Readonly<Record<string, number>>),
    ),
    version: found?.version ?? 0,
  };
}

// A use that counts against a limit, in the same step as the operations that it is for.

/** One use of a session's limit. */
export interface Use {
  readonly op: Store.Count;
  /** The error for a use beyond the limit. @param retryAfterMs until its window ends */
  refusal(retryAfterMs: number): Error;
}

/** Makes the operations that a step begins with: the count of the use, if there is one. */
export function countedFirst(use: Use | undefined): readonly Store.Operation[] {
  return use === undefined ? [] : [use.op];
}

/**
 * Checks whether the use was what the step was refused for.
 * @throws the refusal of the use
 */
export function checkUse(use: Use | undefined, { refused, retryAfterMs }: Store.Refused): void {
  if (use !== undefined && refused === 0 && retryAfterMs > 0) throw use.refusal(retryAfterMs);
}
