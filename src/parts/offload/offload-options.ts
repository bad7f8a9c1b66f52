/** The option `offload` of registries. */

import {
  duration,
  readOptions,
  type TableOf,
  wholeNumber,
  withDefault,
  withMethods,
} from '../../values/options/index.ts';
import { memoryOffload } from './memory-offload.ts';
import type { OffloadStore } from './store.ts';

/** The name of the built-in tool that reads outputs. */
export const readerName = 'read_tool_output';

/** How outputs over their budget are kept, for `outputStrategy: "offload"`. */
export interface OffloadOptions {
  /**
   * Keeps the outputs: `memoryOffload()`, `fileOffload({ dir })`, `redisOffload({ client })` or
   * your own. @default memoryOffload() on the registry's clock
   */
  readonly store?: OffloadStore | undefined;
  /**
   * The most UTF-8 bytes that one session keeps, and that one output may have. The oldest outputs
   * of the session are removed first. A longer output is cut instead. From 1 to 2^26.
   * @default 4_194_304
   */
  readonly maxBytes?: number | undefined;
  /** Milliseconds for which an output is kept. Above 0, at most 2^31-1. @default 3_600_000 */
  readonly ttlMs?: number | undefined;
}

const table = {
  store: withMethods<OffloadStore>(['put', 'get']),
  maxBytes: withDefault(wholeNumber(1, 2 ** 26), 4_194_304),
  ttlMs: withDefault(duration, 3_600_000),
} satisfies TableOf<OffloadOptions>;

/** What the calls of a registry share. */
export interface Offload {
  readonly store: OffloadStore;
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

/** @throws MisuseError `invalid_option`, which names the option. */
export function readOffload(options: OffloadOptions, now: () => number, where: string): Offload {
  const { store, maxBytes, ttlMs } = readOptions(where, options, table, { path: 'offload' });
  return { store: store ?? memoryOffload({ now }), maxBytes, ttlMs };
}
