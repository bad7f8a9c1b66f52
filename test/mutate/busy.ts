/** How busy the machine is. */
import { availableParallelism, loadavg } from 'node:os';

/**
 * How many times longer work takes than on an idle machine; a mutant must not count as noticed
 * because its tests were slow.
 */
export function slowdown(): number {
  return Math.max(1, (loadavg()[0] as number) / availableParallelism());
}
