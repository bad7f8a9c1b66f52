/** What a thread uses, and what V8 lets it use. */
import { Worker } from 'node:worker_threads';
import type { Look } from './memory.ts';

/** Megabytes for the young objects of a thread. Most versions of Node take more. */
const youngMb = 16;
/**
 * Megabytes that V8 gives a thread beyond its limit where its memory is watched. If V8 itself has
 * to refuse memory, it may abort the whole process. It always does if the thread asks for much at
 * once, such as for a large `Set`.
 */
const marginMb = 2_048;

interface HeapStatistics {
  readonly used_heap_size: number;
  readonly external_memory: number;
}

/** Node 22.16 and later, and 24, can look into a thread, also while it loops. */
interface Watchable {
  getHeapStatistics(): Promise<HeapStatistics>;
}

const canWatch = 'getHeapStatistics' in Worker.prototype;

/** The limits that V8 gets. */
export function heapLimits(
  maxMemoryMb: number,
  watched = canWatch,
): { maxOldGenerationSizeMb: number; maxYoungGenerationSizeMb: number } {
  return {
    maxOldGenerationSizeMb: watched ? maxMemoryMb + marginMb : maxMemoryMb,
    // With much young memory, V8 may find the old one full so suddenly that it aborts the process.
    maxYoungGenerationSizeMb: youngMb,
  };
}

/** The heap of the thread, and its buffers. Undefined where Node cannot tell. */
export function threadMemory(worker: Worker): Look | undefined {
  if (!canWatch) return undefined;
  let isAsked = false;
  return (tell) => {
    if (isAsked) return;
    isAsked = true;
    (worker as unknown as Watchable).getHeapStatistics().then(
      ({ used_heap_size, external_memory }) => {
        isAsked = false;
        tell(used_heap_size + external_memory);
      },
      // The thread has ended, or has not started yet.
      () => {
        isAsked = false;
      },
    );
  };
}
