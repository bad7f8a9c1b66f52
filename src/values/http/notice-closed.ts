/** Keeps requests off connections that their server has closed. */
import { nextTurn } from '../limits/stretches.ts';

/**
 * Lets Node read from its sockets once, so that a connection which the server has closed is not
 * used for the request. Such a request would fail as if the server might have read it. The first
 * turn may already have begun, so there are two.
 */
export async function noticeClosed(): Promise<void> {
  await nextTurn();
  await nextTurn();
}
