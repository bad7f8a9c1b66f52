/**
 * Aborts the call of a request. A real `AbortController` would take a twentieth of the time of a
 * call, and the core uses only these members of its signal.
 */

/** Cancels one call. */
export interface RequestAbort {
  /** Passed to the session that makes the call, and to no one else. */
  readonly signal: AbortSignal;
  abort(): void;
}

/** Makes the abort of one call. */
export function createRequestAbort(): RequestAbort {
  let listener: (() => void) | undefined;
  const signal = {
    aborted: false,
    reason: undefined as unknown,
    addEventListener(_type: string, added: () => void) {
      listener = added;
    },
    removeEventListener() {
      listener = undefined;
    },
  };
  return {
    signal: signal as unknown as AbortSignal,
    abort() {
      if (signal.aborted) return;
      signal.aborted = true;
      signal.reason = new DOMException('This operation was aborted', 'AbortError');
      listener?.();
    },
  };
}
