/** The option `offload` of registries. */

import type { OffloadOptions, OffloadStore } from '../../api/offload.ts';
import {
  duration,
  readOptions,
  type TableOf,
  wholeNumber,
  withDefault,
  withMethods,
} from '../../values/options/index.ts';
import { memoryOffload } from './memory-offload.ts';

/** The name of the built-in tool that reads outputs. */
export const readerName = 'read_tool_output';

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
