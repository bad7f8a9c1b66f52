/** Files of a state that several processes share. */

import { type Stats, statSync } from 'node:fs';
import { isMisuseError } from '../../../core.ts';
import { takeLock } from '../../../values/files/lock-file.ts';
import { HookFault } from '../event.ts';

// Does something while no other process holds the same lock.

/** Milliseconds between two attempts. */
const pauseMs = 8;

/**
 * Waits for its turn. The lock of a process that has died does not count.
 * @param take Takes the lock, or throws `in_use` while another process has it.
 * @param until Epoch milliseconds after which it gives up.
 * @throws HookFault if it gives up; what `take` throws otherwise
 */
export async function inTurn<T>(take: () => T, what: string, until: number): Promise<T> {
  for (;;)
    try {
      return take();
    } catch (error) {
      if (!isMisuseError(error) || error.code !== 'in_use') throw error;
      if (Date.now() >= until)
        throw new HookFault(`Other hooks did not let go of ${what} in time. Try again.`);
      await new Promise<void>((resolve) => void setTimeout(resolve, pauseMs));
    }
}

/** Holds a lock file while `work` runs. @throws HookFault */
export async function locked<T>(file: string, until: number, work: () => T): Promise<T> {
  const lock = await inTurn(() => takeLock(file, 'host-tools hook'), file, until);
  try {
    return work();
  } finally {
    lock.release();
  }
}

// Files of hooks are regular ones. To open a pipe would wait for somebody at its other end.

/**
 * Checks a file before it is opened. One that does not exist yet is fine.
 * @throws HookFault if it is a pipe, a socket, a device or a folder
 */
export function requireRegularFile(file: string): void {
  const stats = statSync(file, { throwIfNoEntry: false });
  if (stats === undefined || stats.isFile()) return;
  throw new HookFault(
    `Expected ${file} to be a regular file, got ${kindOf(stats)}. Remove it or name another file.`,
  );
}

function kindOf(stats: Stats): string {
  if (stats.isFIFO()) return 'a named pipe';
  if (stats.isSocket()) return 'a socket';
  return stats.isDirectory() ? 'a folder' : 'a device';
}
