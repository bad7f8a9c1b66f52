/**
 * Makes the data of large changes of tools. A thousand agents may listen to a session, and a change
 * may take a megabyte. So its data is made once for all of them, and each turn of the event loop
 * sends it to one of them.
 */
import type { JsonObject } from '../../../core.ts';
import { nextTurn } from '../../../values/limits/next-turn.ts';
import type { ToolsRecord } from '../ports/documents.ts';
import type { RelayStore } from '../ports/store.ts';

/** A change with more definitions than this is large. */
const manyTools = 50;
/** How many changes a node keeps, and for how many milliseconds. */
const maxKept = 8;
const keptMs = 1_000;

/** The changes of one node. */
interface Shared {
  /** The oldest change comes first. */
  readonly kept: Map<string, Promise<JsonObject>>;
  /** Resolves at the turn of the last connection that waits for one. */
  turn: Promise<void>;
}

const nodes = new WeakMap<RelayStore, Shared>();

/** Whether a change may carry many definitions. */
function mayBeLarge({ added, modified, all }: ToolsRecord): boolean {
  return all === true || added.length + modified.length > manyTools;
}

/** Whether the data of a change carries many definitions. */
function isLarge({ updates }: JsonObject): boolean {
  const { added, modified } = updates as { readonly [kind: string]: readonly unknown[] };
  return (added?.length ?? 0) + (modified?.length ?? 0) > manyTools;
}

/**
 * Gets the data of a change.
 * @param key the same for connections that can be sent the same data
 * @param make makes the data from the current tools
 */
export async function updateData(
  store: RelayStore,
  key: string,
  record: ToolsRecord,
  make: () => Promise<JsonObject>,
): Promise<JsonObject> {
  if (!mayBeLarge(record)) return make();
  let shared = nodes.get(store);
  if (shared === undefined) {
    shared = { kept: new Map(), turn: Promise.resolve() };
    nodes.set(store, shared);
  }
  const { kept } = shared;
  let data = kept.get(key);
  if (data === undefined) {
    data = make();
    keep(kept, key, data);
  }
  const given = await data;
  if (!isLarge(given)) return given;
  shared.turn = shared.turn.then(nextTurn);
  await shared.turn;
  return given;
}

/** Keeps a change for a moment, or until it turns out to be small. */
function keep(kept: Shared['kept'], key: string, data: Promise<JsonObject>): void {
  kept.set(key, data);
  const forget = (): void => {
    if (kept.get(key) === data) kept.delete(key);
  };
  data.then(
    (given) => {
      if (!isLarge(given)) forget();
    },
    () => forget(),
  );
  setTimeout(forget, keptMs).unref?.();
  for (const [oldest] of kept) {
    if (kept.size <= maxKept) break;
    kept.delete(oldest);
  }
}
