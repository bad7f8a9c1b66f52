/** A time limit for a command. */
import { unreachable } from './unreachable.ts';

/**
 * The command's result. Rejects with `timeout` if it takes longer. Not done with p-timeout, which
 * makes an error with a stack for every wait; that took a fifth of the time of a relay on Redis.
 */
export function inTime<T>(command: Promise<T>, milliseconds: number): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(unreachable('timeout')), milliseconds);
    command.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
