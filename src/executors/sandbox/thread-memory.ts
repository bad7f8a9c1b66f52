/** How much memory a thread uses, and how much V8 lets it use. */
import { Worker } from 'node:worker_threads';
import type { Look } from './memory.ts';

/** Megabytes for the young objects of a thread. The default of most versions of Node is higher. */
const youngMb = 16;
/**
 * Megabytes that V8 allows a thread beyond its limit, where this library watches the memory
 * itself. If V8 has to refuse memory, it may abort the whole process. It always does so if the
 * thread asks for much at once, such as for a large `Set`.
 */
const marginMb = 2_048;

interface HeapStatistics {
  readonly used_heap_size: number;
  readonly external_memory: number;
}

/** Whether this version of Node (22.16 and later, 24) can measure a thread while it loops. */
interface Watchable {
  getHeapStatistics(): Promise<HeapStatistics>;
}

const canWatch = 'getHeapStatistics' in Worker.prototype;

/** The limits that are given to V8. */
export function heapLimits(
  maxMemoryMb: number,
  watched = canWatch,
): { maxOldGenerationSizeMb: number; maxYoungGenerationSizeMb: number } {
  return {
    maxOldGenerationSizeMb: watched ? maxMemoryMb + marginMb : maxMemoryMb,
    // If the part for young objects is large, V8 may notice so late that the part for old objects
    // is full that it aborts the process.
    maxYoungGenerationSizeMb: youngMb,
  };
}

/** Measures the heap of a thread and its buffers. Undefined if Node cannot measure them. */
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
