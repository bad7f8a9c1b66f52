/** Asks the server to try something as soon as a person has changed it. */
import { useEffect, useState } from 'preact/hooks';
import { ask, Refused } from '../parts/server.ts';
import type { Store } from './store.ts';

/** Milliseconds without a change after which it is tried. */
const pauseMs = 200;

export interface Trial<T> {
  /** The newest answer, if nothing was refused since. */
  readonly answer: T | undefined;
  /** Whether the answer is about what is asked now. */
  readonly isCurrent: boolean;
  readonly trouble: string;
}

/**
 * @param body What to try; undefined if nothing can be tried.
 * @param gone Whether the server cannot try it any more.
 */
export function useTrial<T>(
  store: Store,
  path: string,
  body: object | undefined,
  gone: boolean,
): Trial<T> {
  const asked = body === undefined ? undefined : JSON.stringify(body);
  const [held, hold] = useState<{ asked?: string; answer?: T; trouble: string }>({ trouble: '' });
  const { lives } = store.known;
  useEffect(() => {
    if (asked === undefined || gone) return;
    const left = new AbortController();
    const timer = setTimeout(() => {
      ask<T>(store.token, path, JSON.parse(asked) as object, left.signal).then(
        (answer) => {
          if (!left.signal.aborted) hold({ asked, answer, trouble: '' });
        },
        (error: Error) => {
          if (left.signal.aborted) return;
          const isAway = error instanceof Refused && error.status === 0;
          hold((before) => ({ ...(isAway ? before : { asked }), trouble: error.message }));
        },
      );
    }, pauseMs);
    return () => {
      clearTimeout(timer);
      left.abort();
    };
  }, [store, path, asked, gone, lives]);
  const isCurrent = asked !== undefined && held.asked === asked;
  return { answer: held.answer, isCurrent, trouble: held.trouble };
}
