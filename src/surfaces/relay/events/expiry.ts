/** Waits for the end of a session. The host may move the end in the meantime. */
import { longestTimerMs } from '../../../values/options/index.ts';
import { endOfSession } from '../calls/session-document.ts';
import type { RelaySettings } from '../settings.ts';
import type { StreamRequest } from './ports.ts';

/**
 * Calls `expired` when the session has expired. The session is read again at the end that was known
 * so far, because the host may have extended it.
 * @returns a function that stops waiting; idempotent
 */
export function whenExpired(
  { store, now, leaseMs }: Pick<RelaySettings, 'store' | 'now' | 'leaseMs'>,
  { code, expiresAt }: Pick<StreamRequest, 'code' | 'expiresAt'>,
  expired: () => void,
): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let stopped = false;
  const waitUntil = (end: number): void => {
    if (!stopped) waitFor(end - now(), look);
  };
  const waitFor = (ms: number, then: () => void): void => {
    timer = setTimeout(then, Math.min(longestTimerMs, Math.max(0, ms)));
  };
  const look = (): void => {
    endOfSession(store, code).then(
      (end) => {
        if (end !== undefined && end > now()) waitUntil(end);
        else if (!stopped) expired();
      },
      // While the store cannot be reached, it is not known whether the session was extended.
      () => {
        if (!stopped) waitFor(leaseMs, look);
      },
    );
  };
  waitUntil(expiresAt);
  return () => {
    stopped = true;
    clearTimeout(timer);
  };
}
