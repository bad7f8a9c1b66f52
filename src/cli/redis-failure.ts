/** The error of a command that cannot reach its Redis. */
import { messageOf } from '../values/errors/index.ts';
import { type CliFault, failure } from './fault.ts';

/**
 * @param error what the client rejected with
 * @param seen a code that the client reported before. A client that gives up says only that the
 * connection is closed
 */
export function redisFailure(error: unknown, seen?: string): CliFault {
  const why = (error as { code?: string }).code ?? seen ?? messageOf(error);
  return failure(`Cannot reach Redis: ${why.replace(/\.+$/, '')}.`);
}
