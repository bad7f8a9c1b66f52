/** Does something while no other process holds the same lock. */

import { isMisuseError } from '../../../core.ts';
import { takeLock } from '../../../values/files/lock-file.ts';
import { HookFault } from '../event.ts';

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
