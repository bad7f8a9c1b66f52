/** Outputs that are kept as a whole, in a store. */
import type { Store } from '../../api/store.ts';
import { nameFor } from '../../stores/shared/use-store.ts';
import { after, type MaybePromise } from '../../values/maybe-promise.ts';

/** What offloaded outputs need of a store. */
export const outputUse = { what: 'offloaded outputs', needs: ['set', 'get', 'delete'] } as const;

/** An output to keep. */
export interface OffloadedOutput {
  /** A digest of the session and its principal. */
  readonly session: string;
  /** A digest of the handle. Each is used once. */
  readonly key: string;
  /** The whole output as text. Its UTF-8 is at most `maxBytes` long. */
  readonly text: string;
  /** What the library remembers about it, in at most 1 000 characters. Returned unchanged. */
  readonly about: string;
  /** The most bytes of all texts of the session. The oldest ones beyond that are dropped. */
  readonly maxBytes: number;
  readonly ttlMs: number;
}

/** Characters of one document, which has at most 8 MB. */
const documentChars = 2_000_000;
/** Most outputs of a session, whose documents one step can remove. */
const mostOutputs = 900;
/** How often the list of a session is tried to be changed while others change it. */
const mostTries = 100;

/** The list of what is kept: for each output, its key, its bytes and its documents. */
const index = 'outputs';
type Entry = readonly [key: string, bytes: number, documents: number];

function spaceOf(session: string): Store.Space {
  return { shared: nameFor('outputs', session) };
}

function documentOf(key: string, part: number): string {
  return nameFor(`output ${part}`, key);
}

/**
 * Keeps an output in the space of its session. The documents are written first, so that a list that
 * changes meanwhile costs little.
 */
export function putOutput(store: Store, output: OffloadedOutput): MaybePromise<void> {
  const { session, key, text, about } = output;
  const parts = partsOf(text);
  const ttlMs = Math.ceil(output.ttlMs);
  const sets = parts.map((part, at): Store.Set => {
    const value = at === 0 ? `${parts.length} ${about.length} ${about}${part}` : part;
    return { op: 'set', key: documentOf(key, at), value, ttlMs };
  });
  const entry: Entry = [key, Buffer.byteLength(text), parts.length];
  const read: Store.Get = { op: 'get', keys: [index] };
  return after(
    store.apply(spaceOf(session), [...sets, read] as readonly Store.Operation[]),
    ({ results }) => {
      const [found] = (results?.at(-1) ?? []) as readonly (Store.Document | undefined)[];
      return enter(store, output, entry, found, mostTries);
    },
  );
}

/** Enters an output into the list, and drops those for which there is no room. */
function enter(
  store: Store,
  output: OffloadedOutput,
  entry: Entry,
  found: Store.Document | undefined,
  tries: number,
): MaybePromise<void> {
  const all = found === undefined ? [] : (JSON.parse(found.value) as readonly Entry[]);
  const others = all.filter(([key]) => key !== output.key);
  let bytes = others.reduce((sum, [, more]) => sum + more, entry[1]);
  let first = 0;
  while (first < others.length && (bytes > output.maxBytes || others.length - first >= mostOutputs))
    bytes -= (others[first++] as Entry)[1];
  const deletes = others.slice(0, first).flatMap(([key, , documents]) =>
    Array.from({ length: documents }, (_, part): Store.Delete => {
      return { op: 'delete', key: documentOf(key, part) };
    }),
  );
  const list: Store.Set = {
    op: 'set',
    key: index,
    value: JSON.stringify([...others.slice(first), entry]),
    version: found?.version ?? 0,
    // As long as anything that is in it.
    ttlMs: Math.ceil(Math.max(output.ttlMs, found?.remainingMs ?? 0)),
  };
  return after(store.apply(spaceOf(output.session), [list, ...deletes]), (outcome) => {
    if (outcome.results !== undefined) return undefined;
    if (tries > 1) return enter(store, output, entry, outcome.found, tries - 1);
    throw new Error(`The outputs of the session changed ${mostTries} times while one was kept.`);
  });
}

/** The output under the key; undefined if this session has none. */
export function outputIn(
  store: Store,
  session: string,
  key: string,
): MaybePromise<Pick<OffloadedOutput, 'text' | 'about'> | undefined> {
  const space = spaceOf(session);
  return after(
    store.apply(space, [{ op: 'get', keys: [documentOf(key, 0)] }]),
    ({ results }): MaybePromise<Pick<OffloadedOutput, 'text' | 'about'> | undefined> => {
      const value = results?.[0][0]?.value;
      const [start, parts, chars] = /^(\d+) (\d+) /.exec(value ?? '') ?? [];
      if (value === undefined || start === undefined) return undefined;
      const begin = start.length + Number(chars);
      const about = value.slice(start.length, begin);
      const text = value.slice(begin);
      if (parts === '1') return { text, about };
      const keys = Array.from({ length: Number(parts) - 1 }, (_, at) => documentOf(key, at + 1));
      return after(store.apply(space, [{ op: 'get', keys }]), ({ results: more }) => {
        const rest = more?.[0].map((document) => document?.value);
        return rest === undefined || rest.includes(undefined)
          ? undefined
          : { text: text + rest.join(''), about };
      });
    },
  );
}

/** A text in pieces that are documents each. No character is divided. */
function partsOf(text: string): readonly string[] {
  const parts: string[] = [];
  let from = 0;
  do {
    let to = Math.min(text.length, from + documentChars);
    const last = text.charCodeAt(to - 1);
    if (to < text.length && last >= 0xd800 && last < 0xdc00) to -= 1;
    parts.push(text.slice(from, to));
    from = to;
  } while (from < text.length);
  return parts;
}
