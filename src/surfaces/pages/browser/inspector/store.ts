/** The state of the page, and the stream that updates it. */
import { useEffect, useLayoutEffect, useState } from 'preact/hooks';
import type { CallLine, FeedMessage, InspectorState } from '../../inspector-wire.ts';
import { ask, Refused, readLines, request } from '../parts/server.ts';

/** The state of the page's connection. */
export type Connection = 'connecting' | 'live' | 'lost' | 'refused';

/** Everything that the page shows. */
export interface Known {
  readonly connection: Connection;
  /** Why there is no connection. */
  readonly trouble: string;
  /** How often a connection was made. */
  readonly lives: number;
  readonly hello: Extract<FeedMessage, { type: 'hello' }> | undefined;
  readonly state: InspectorState | undefined;
  readonly calls: ReadonlyMap<number, CallLine>;
  /** The numbers of the calls, oldest first. A new list after each change. */
  readonly order: readonly number[];
}

/** The store of one page. */
export interface Store {
  readonly known: Known;
  readonly token: string;
  /** What was typed, by the names of fields. It outlives its view. */
  readonly drafts: Map<string, unknown>;
  subscribe(changed: () => void): () => void;
}

/** Milliseconds between two attempts, growing. */
const pauses = [300, 1_000, 2_000, 5_000];
/** Milliseconds without a sign of life after which the connection counts as lost. */
const silenceMs = 40_000;

/** Begins to listen. It tries again as long as the page is open. */
export function openStore(token: string): Store {
  const subscribers = new Set<() => void>();
  const calls = new Map<number, CallLine>();
  const store = {
    token,
    drafts: new Map<string, unknown>(),
    known: {
      connection: 'connecting',
      trouble: '',
      lives: 0,
      hello: undefined,
      state: undefined,
      calls,
      order: [],
    } as Known,
    subscribe(changed: () => void) {
      subscribers.add(changed);
      return () => void subscribers.delete(changed);
    },
  };
  let planned = false;
  // Many lines arrive at once, and one drawing shows them all. A page in the background draws
  // nothing.
  const publish = (): void => {
    if (planned) return;
    planned = true;
    const draw = (): void => {
      planned = false;
      for (const changed of subscribers) changed();
    };
    if (document.hidden) setTimeout(draw, 250);
    else requestAnimationFrame(draw);
  };
  const set = (change: Partial<Known>): void => {
    store.known = { ...store.known, ...change };
    publish();
  };
  const take = (message: FeedMessage): void => {
    if (message.type === 'hello') {
      const { hello, lives, order } = store.known;
      const isSame = hello?.run === message.run;
      // The calls of another server have the same numbers.
      if (!isSame) calls.clear();
      set({
        hello: message,
        connection: 'live',
        trouble: '',
        lives: lives + 1,
        order: isSame ? order : [],
      });
    } else if (message.type === 'state') set({ state: message.state });
    else if (message.type === 'calls') set({ order: merge(calls, message.calls, store.known) });
  };
  void listen(token, take, (connection, trouble) => set({ connection, trouble }));
  return store;
}

function merge(
  calls: Map<number, CallLine>,
  lines: readonly CallLine[],
  { order, hello }: Known,
): readonly number[] {
  const added: number[] = [];
  for (const line of lines) {
    if (!calls.has(line.n)) added.push(line.n);
    calls.set(line.n, line);
  }
  const merged = [...order, ...added];
  if (added.length > 0 && (order.at(-1) ?? 0) > Math.min(...added)) merged.sort((a, b) => a - b);
  const over = merged.length - (hello?.maxCalls ?? 10_000);
  for (const n of merged.slice(0, Math.max(0, over))) calls.delete(n);
  return over > 0 ? merged.slice(over) : merged;
}

async function listen(
  token: string,
  take: (message: FeedMessage) => void,
  tell: (connection: Connection, trouble: string) => void,
): Promise<void> {
  for (let failures = 0; ; failures++) {
    const quiet = new AbortController();
    let timer = setTimeout(() => quiet.abort(), silenceMs);
    try {
      const response = await request(token, 'stream', undefined, quiet.signal);
      await readLines(response, (line) => {
        failures = 0;
        clearTimeout(timer);
        timer = setTimeout(() => quiet.abort(), silenceMs);
        take(line as FeedMessage);
      });
      tell('lost', 'The server has ended the connection.');
    } catch (error) {
      const refused = error instanceof Refused && error.status === 401;
      tell(refused ? 'refused' : 'lost', error instanceof Error ? error.message : String(error));
      if (refused) return;
    } finally {
      clearTimeout(timer);
    }
    await new Promise((resolve) => setTimeout(resolve, pauses[Math.min(failures, 3)]));
  }
}

/** The present state of the page. Draws again when it changes. */
export function useKnown(store: Store): Known {
  const [, draw] = useState(0);
  // At once: an effect waits for a frame, and what arrives before it would not be drawn.
  useLayoutEffect(() => store.subscribe(() => draw((n) => n + 1)), [store]);
  return store.known;
}

/** A value that a person types, kept while the page is open. */
export function useDraft<T>(
  { drafts }: Store,
  name: string,
  initial: () => T,
): readonly [value: T, set: (next: T | ((newest: T) => T)) => void] {
  const [value, set] = useState<T>(() => (drafts.has(name) ? (drafts.get(name) as T) : initial()));
  return [
    value,
    (next) => {
      // The newest may not be drawn yet.
      const newest = drafts.has(name) ? (drafts.get(name) as T) : value;
      const changed = next instanceof Function ? next(newest) : next;
      drafts.set(name, changed);
      set(() => changed);
    },
  ];
}

/**
 * A request to the server, which is repeated whenever `path` or `version` changes, and with each
 * new connection. An answer stays while the server cannot be reached.
 * @param version Undefined to keep the present answer.
 */
export function useAnswer<T>(
  store: Store,
  path: string | undefined,
  version: unknown,
): { readonly answer: T | undefined; readonly trouble: string } {
  const [held, hold] = useState<{ path?: string; answer?: T; trouble: string }>({ trouble: '' });
  const { lives } = store.known;
  useEffect(() => {
    if (path === undefined || version === undefined) return;
    const left = new AbortController();
    ask<T>(store.token, path, undefined, left.signal).then(
      (answer) => {
        if (!left.signal.aborted) hold({ path, answer, trouble: '' });
      },
      (error: Error) => {
        if (left.signal.aborted) return;
        const isAway = error instanceof Refused && error.status === 0;
        hold((before) => ({
          ...(isAway && before.path === path ? before : { path }),
          trouble: error.message,
        }));
      },
    );
    return () => left.abort();
  }, [store, path, version, lives]);
  const fits = held.path === path;
  return { answer: fits ? held.answer : undefined, trouble: fits ? held.trouble : '' };
}
