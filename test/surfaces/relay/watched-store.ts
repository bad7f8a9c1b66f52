/** A store that counts what is asked of it, that can be taken away, and that can lose messages. */
import type { Store } from '../../../src/extend.ts';
import { memoryStore } from '../../../src/index.ts';
import { type KeptStore, keptStore } from '../../../src/surfaces/relay/ports/kept-store.ts';

export interface WatchedStore {
  readonly store: Store;
  /** Every operation rejects while it is true; those under way when it changes have happened. */
  away: boolean;
  /**
   * Operations so far: `due`, and for each step its operations, with their key if it is one, and the
   * space, such as `get session+open A`. Messages alone are no operation.
   */
  readonly operations: string[];
  /**
   * Runs before the next operation of the name, once, and holds it up: a method such as `due`, an
   * operation such as `set`, or one on a key, such as `set application`.
   */
  holdUp(name: string, run: () => unknown): void;
  /** Runs after the next operation of the name, before what it gives is known. */
  holdBack(name: string, run: () => unknown): void;
  /** Loses every message while it is true. */
  deaf: boolean;
  /** Listeners that were not given up. */
  readonly listening: number;
  /** Says that messages may have been lost. */
  lost(): void;
}

export function watchedStore(inner: Store = memoryStore()): WatchedStore {
  const operations: string[] = [];
  const before = new Map<string, () => unknown>();
  const after = new Map<string, () => unknown>();
  const listeners = new Set<(message: string | undefined) => void>();
  const watched = {
    away: false,
    deaf: false,
    get listening() {
      return listeners.size;
    },
    lost() {
      for (const listener of [...listeners]) listener(undefined);
    },
  };
  const hold = async (holds: Map<string, () => unknown>, names: readonly string[]) => {
    const name = names.find((one) => holds.has(one)) ?? '';
    const run = holds.get(name);
    holds.delete(name);
    await run?.();
  };
  const watch = async <T>(names: readonly string[], run: () => T): Promise<Awaited<T>> => {
    await hold(before, names);
    if (watched.away) throw new Error('The store is away.');
    const given = await run();
    await hold(after, names);
    return given;
  };
  const store: Store = {
    ...inner,
    async apply(space, ops) {
      const named = ops.filter(({ op }) => op !== 'publish');
      const name = Object.values(space)[0] as string;
      if (named.length > 0) operations.push(`${named.map(shownOf).join('+')} ${name}`);
      return watch(['apply', ...named.flatMap(namesOf)], () => inner.apply(space, ops));
    },
    schedule(...given) {
      operations.push('schedule');
      return watch(['schedule'], () => inner.schedule(...given));
    },
    due(...given) {
      operations.push('due');
      return watch(['due'], () => inner.due(...given));
    },
    ping: () => watch(['ping'], () => inner.ping()),
    async listen(space, listener) {
      const own = (message: string | undefined): void => {
        if (!watched.deaf) listener(message);
      };
      const stop = await inner.listen(space, own);
      listeners.add(listener);
      return () => {
        listeners.delete(listener);
        stop();
      };
    },
  };
  return Object.assign(watched, {
    store,
    operations,
    holdUp: (name: string, run: () => unknown) => void before.set(name, run),
    holdBack: (name: string, run: () => unknown) => void after.set(name, run),
  });
}

const shownOf = (operation: Store.Operation): string => {
  const keys = keysOf(operation);
  return keys.length === 1 ? `${operation.op} ${keys[0]}` : operation.op;
};

function keysOf(operation: Store.Operation): readonly string[] {
  if ('keys' in operation) return operation.keys;
  return 'key' in operation ? [operation.key] : [];
}

function namesOf(operation: Store.Operation): readonly string[] {
  const { op } = operation;
  return [op, ...keysOf(operation).map((key) => `${op} ${key}`)];
}

/** A store as the parts of a relay get it. */
export function kept(store: Store): KeptStore {
  return keptStore(store, () => {});
}

/** Single steps on a session, such as a test takes to see what a relay has kept. */
export function on(store: Pick<Store | KeptStore, 'apply'>) {
  const one = async <const T extends Store.Operation>(session: string, operation: T) =>
    (await store.apply({ session }, [operation])).results?.[0];
  return {
    async create(session: string, key: string, value: string, expiresAt: number) {
      const ops = [
        { op: 'open', expiresAt },
        { op: 'set', key, value },
      ] as const;
      return (await store.apply({ session }, ops)).results !== undefined;
    },
    extend: (session: string, expiresAt: number) => one(session, { op: 'extend', expiresAt }),
    drop: (session: string) => one(session, { op: 'drop' }),
    get: async (session: string, keys: readonly string[]) =>
      (await one(session, { op: 'get', keys })) ?? [],
    set: (session: string, key: string, value: string, version?: number) =>
      one(session, { op: 'set', key, value, version }),
    append: (session: string, log: string, value: string, keep: number) =>
      one(session, { op: 'append', log, value, keep }),
    async read(session: string, log: string, after: number, limit: number) {
      const page = await one(session, { op: 'read', log, after, limit });
      return page ?? { entries: [], first: 0, last: 0 };
    },
    /** Takes a lease from whoever has it. */
    lease: (session: string, key: string, value: string, ttlMs: number) =>
      one(session, { op: 'set', key, value, ttlMs }),
    /** A document such as a lease. */
    find: async (session: string, key: string) =>
      (await one(session, { op: 'get', keys: [key] }))?.[0],
  };
}

/** The store, with something that runs before each step that has an operation of this kind. */
export function beforeOp<K extends Store.Operation['op']>(
  inner: Store,
  op: K,
  run: (operation: Extract<Store.Operation, { op: K }>, session: string) => unknown,
): Store {
  return {
    ...inner,
    async apply(space, ops) {
      for (const operation of ops)
        if (operation.op === op)
          await run(
            operation as Extract<Store.Operation, { op: K }>,
            Object.values(space)[0] as string,
          );
      return inner.apply(space, ops);
    },
  };
}
