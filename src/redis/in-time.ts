/** How long a command may take. */
import { unreachable } from './unreachable.ts';

/**
 * What the command gives; rejects with `timeout` where that takes longer. p-timeout makes an error
 * with its stack for every wait, which was a fifth of what a relay on Redis does.
 */
export function inTime<T>(command: Promise<T>, milliseconds: number): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(unreachable('timeout')), milliseconds);
    command.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
