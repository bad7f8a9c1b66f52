/** The option `offload` of registries. */

import type { OffloadOptions } from '../../api/registry.ts';
import type { Store } from '../../api/store.ts';
import { memoryStore } from '../../stores/memory/memory-store.ts';
import { keeper, storeOption } from '../../stores/shared/use-store.ts';
import {
  duration,
  readOptions,
  type TableOf,
  wholeNumber,
  withDefault,
} from '../../values/options/index.ts';
import { outputUse } from './offload-in.ts';

/** Most characters that are kept in memory, of all sessions. */
const maxChars = 268_435_456;

/** The name of the built-in tool that reads outputs. */
export const readerName = 'read_tool_output';

const table = {
  store: storeOption,
  maxBytes: withDefault(wholeNumber(1, 2 ** 26), 4_194_304),
  ttlMs: withDefault(duration, 3_600_000),
} satisfies TableOf<OffloadOptions>;

/** What the calls of a registry share. */
export interface Offload {
  readonly store: Store;
  readonly maxBytes: number;
  readonly ttlMs: number;
}

/** What is remembered about a kept output, besides what other parts know. */
export interface OffloadedAbout {
  /** The tool that returned it. */
  readonly tool: string;
  /** It may contain secrets, which no event may show. */
  readonly secret: boolean;
}

/**
 * @param shared The store of the registry.
 * @throws MisuseError `invalid_option`, which names the option.
 */
export function readOffload(
  options: OffloadOptions,
  { now }: { readonly now: () => number },
  where: string,
  shared: Store | undefined,
  ports: { usesStore: boolean },
): Offload {
  const { store: own, maxBytes, ttlMs } = readOptions(where, options, table, { path: 'offload' });
  const store = keeper(where, 'offload.store', own, shared, outputUse, ports);
  return { store: store ?? memoryStore({ now, maxChars }), maxBytes, ttlMs };
}
