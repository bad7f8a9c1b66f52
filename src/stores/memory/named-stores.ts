/** Stores in memory that are named after what a registry keeps in them. */
import type { Store } from '../../api/store.ts';
import {
  fn,
  numberFrom,
  readOptions,
  type TableOf,
  wholeNumber,
  withDefault,
} from '../../values/options/index.ts';
import { memoryStore } from './memory-store.ts';

/** Options of {@link memoryQuotas}. */
export interface MemoryQuotasOptions {
  /** Returns epoch milliseconds. @default that of `memoryStore` */
  readonly now?: (() => number) | undefined;
  /** `maxSums` of {@link memoryStore}: how many sums are kept, from 1. @default 1_000_000 */
  readonly maxKeys?: number | undefined;
}

const quotasTable = {
  now: fn<() => number>(),
  maxKeys: withDefault(wholeNumber(1), 1_000_000),
} satisfies TableOf<MemoryQuotasOptions>;

/**
 * A `memoryStore` for the quotas of registries. Give the same one to several registries to let them
 * spend together.
 * @throws MisuseError `invalid_option`.
 *
 * @example
 * ```ts
 * import { HostToolRegistry, memoryQuotas } from 'host-tools';
 *
 * const quotaStore = memoryQuotas();
 * const [chat, mail] = [
 *   new HostToolRegistry({ quotaStore }),
 *   new HostToolRegistry({ quotaStore }), // its calls count together with those of `chat`
 * ];
 * ```
 */
export function memoryQuotas(options: MemoryQuotasOptions = {}): Store {
  const { now, maxKeys } = readOptions('memoryQuotas', options, quotasTable);
  return memoryStore({ now, maxSums: maxKeys });
}

/** Options of {@link memoryIdempotency}. */
export interface MemoryIdempotencyOptions {
  /** Returns epoch milliseconds. @default that of `memoryStore` */
  readonly now?: (() => number) | undefined;
  /**
   * `maxChars` of {@link memoryStore}, from 1: while the store is full, calls with further keys are
   * refused (`idempotency_unavailable`). @default 67_108_864
   */
  readonly maxChars?: number | undefined;
}

const idempotencyTable = {
  now: fn<() => number>(),
  maxChars: withDefault(numberFrom(1), 67_108_864),
} satisfies TableOf<MemoryIdempotencyOptions>;

/**
 * A `memoryStore` for the outcomes of calls with an idempotency key. Outcomes are never dropped
 * before they expire, because their calls could then run twice.
 * @throws MisuseError `invalid_option`.
 *
 * @example
 * ```ts
 * import { HostToolRegistry, memoryIdempotency } from 'host-tools';
 *
 * const registry = new HostToolRegistry({ idempotency: { store: memoryIdempotency() } });
 * ```
 */
export function memoryIdempotency(options: MemoryIdempotencyOptions = {}): Store {
  return memoryStore(readOptions('memoryIdempotency', options, idempotencyTable));
}

/** Options of {@link memoryOffload}. */
export interface MemoryOffloadOptions {
  /** Returns epoch milliseconds. @default that of `memoryStore` */
  readonly now?: (() => number) | undefined;
  /**
   * `maxChars` of {@link memoryStore}, from 1, for all sessions together: while the store is full,
   * further outputs are cut. @default 268_435_456
   */
  readonly maxChars?: number | undefined;
}

const offloadTable = {
  now: fn<() => number>(),
  maxChars: withDefault(numberFrom(1), 268_435_456),
} satisfies TableOf<MemoryOffloadOptions>;

/**
 * A `memoryStore` for offloaded outputs.
 * @throws MisuseError `invalid_option`.
 *
 * @example
 * ```ts
 * import { HostToolRegistry, memoryOffload } from 'host-tools';
 *
 * const registry = new HostToolRegistry({
 *   offload: { store: memoryOffload({ maxChars: 16_777_216 }) },
 * });
 * ```
 */
export function memoryOffload(options: MemoryOffloadOptions = {}): Store {
  return memoryStore(readOptions('memoryOffload', options, offloadTable));
}
