/** Ends a wait early if the network is back, the page becomes visible, or the application asks. */
import type { Scope } from './scope.ts';

interface Source {
  addEventListener?(type: string, listener: () => void): void;
  removeEventListener?(type: string, listener: () => void): void;
}

/**
 * Why a wait is over: its time is up, the network is back, the page is visible again, or the
 * application wants an attempt now.
 */
export type Woken = 'time' | 'online' | 'visible' | 'asked';

/**
 * Waits for some milliseconds. If `wakeable`, the wait ends early when the network is back or the
 * page becomes visible. Rejects when the scope ends.
 * @param whenAsked registers what to call when the application wants an attempt now, and returns a
 * function that removes it
 */
export function sleepUntilWoken(
  scope: Scope,
  ms: number,
  wakeable: boolean,
  whenAsked: (run: () => void) => () => void = () => () => {},
): Promise<Woken> {
  const inner = scope.child();
  return new Promise<Woken>((resolve, reject) => {
    inner.onEnd(reject);
    inner.after(ms, () => resolve('time'));
    inner.onEnd(whenAsked(() => resolve('asked')));
    if (!wakeable) return;
    const page = globalThis as Source & {
      readonly document?: Source & { readonly visibilityState?: string };
    };
    listen(inner, page, 'online', () => resolve('online'));
    listen(inner, page.document, 'visibilitychange', () => {
      if (page.document?.visibilityState === 'visible') resolve('visible');
    });
  }).finally(() => inner.end(undefined));
}

function listen(
  scope: Scope,
  source: Source | undefined,
  type: string,
  listener: () => void,
): void {
  if (typeof source?.addEventListener !== 'function') return;
  source.addEventListener(type, listener);
  scope.onEnd(() => source.removeEventListener?.(type, listener));
}
