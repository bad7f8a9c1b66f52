/** Outputs that are kept as a whole, in the memory of this process. */

import type { OffloadStore } from '../../api/offload.ts';
import { inProcess } from '../../values/limits/in-process.ts';
import {
  fn,
  readOptions,
  type TableOf,
  wholeNumber,
  withDefault,
} from '../../values/options/index.ts';

/** Options of {@link memoryOffload}. */
export interface MemoryOffloadOptions {
  /**
   * Returns epoch milliseconds. If it throws or returns something else, the machine's clock is
   * used.
   * @default Date.now
   */
  readonly now?: (() => number) | undefined;
  /**
   * The most UTF-8 bytes that are kept for all sessions together. The oldest outputs are removed
   * first. From 1.
   * @default 67_108_864
   */
  readonly maxBytes?: number | undefined;
}

const table = {
  now: fn<() => number>(),
  maxBytes: withDefault(wholeNumber(1), 67_108_864),
} satisfies TableOf<MemoryOffloadOptions>;

/** Most outputs that are kept, however short they are. */
const maxOutputs = 100_000;

interface Kept {
  readonly session: string;
  readonly text: string;
  readonly about: string;
  readonly bytes: number;
  readonly expiresAt: number;
}

/** The outputs of one session, the oldest first. */
interface OfSession {
  readonly outputs: Map<string, Kept>;
  bytes: number;
}

/**
 * A store for a registry's `offload` in the memory of this process, and its default. It answers at
 * once, and its outputs last no longer than the process.
 * @throws MisuseError `invalid_option`.
 *
 * @example
 * ```ts
 * import { HostToolRegistry, memoryOffload } from 'host-tools';
 *
 * const registry = new HostToolRegistry({
 *   offload: { store: memoryOffload({ maxBytes: 16_777_216 }) },
 * });
 * ```
 */
export function memoryOffload(options: MemoryOffloadOptions = {}): OffloadStore {
  const { now, maxBytes } = readOptions('memoryOffload', options, table);
  const clock = now === undefined ? () => Date.now() : () => timeOf(now);
  const sessions = new Map<string, OfSession>();
  /** All outputs, the oldest first, under session and key. */
  const all = new Map<string, readonly [session: string, key: string]>();
  let total = 0;

  const drop = (session: string, key: string): void => {
    const of = sessions.get(session);
    const kept = of?.outputs.get(key);
    if (of === undefined || kept === undefined) return;
    of.outputs.delete(key);
    of.bytes -= kept.bytes;
    total -= kept.bytes;
    all.delete(`${session} ${key}`);
    if (of.outputs.size === 0) sessions.delete(session);
  };
  const dropOldest = (of: OfSession, session: string, most: number): void => {
    for (const key of of.outputs.keys()) {
      if (of.bytes <= most) return;
      drop(session, key);
    }
  };

  return inProcess({
    put({ session, key, text, about, maxBytes: most, ttlMs }) {
      const time = clock();
      const bytes = Buffer.byteLength(text);
      drop(session, key);
      const of = sessions.get(session);
      if (of !== undefined) dropOldest(of, session, most - bytes);
      for (const [owner, old] of all.values()) {
        if (total + bytes <= maxBytes && all.size < maxOutputs) {
          // Expired outputs at the front are removed too.
          const kept = sessions.get(owner)?.outputs.get(old);
          if (kept === undefined || kept.expiresAt > time) break;
        }
        drop(owner, old);
      }
      if (bytes > maxBytes) return;
      let mine = sessions.get(session);
      if (mine === undefined) {
        mine = { outputs: new Map(), bytes: 0 };
        sessions.set(session, mine);
      }
      mine.outputs.set(key, { session, text, about, bytes, expiresAt: time + ttlMs });
      mine.bytes += bytes;
      total += bytes;
      all.set(`${session} ${key}`, [session, key]);
    },
    get(session, key) {
      const kept = sessions.get(session)?.outputs.get(key);
      if (kept === undefined) return undefined;
      if (kept.expiresAt > clock()) return { text: kept.text, about: kept.about };
      drop(session, key);
      return undefined;
    },
  });
}

function timeOf(now: () => number): number {
  try {
    const time: unknown = now();
    if (typeof time === 'number' && Number.isFinite(time)) return time;
  } catch {
    // Continues to the machine's clock below.
  }
  return Date.now();
}
