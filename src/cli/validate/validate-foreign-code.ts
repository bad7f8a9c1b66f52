/** Running code that is not ours: within a time limit, and whatever it throws becomes text. */

/** How a piece of foreign code ended. `late`: it has not, and nobody waits any longer. */
export type Ended<T> =
  | { readonly kind: 'value'; readonly value: T }
  | { readonly kind: 'threw'; readonly text: string; readonly thrown: unknown }
  | { readonly kind: 'late' };

const longestText = 500;

/**
 * Runs `code` at once and waits at most `timeoutMs` for what it promises. Never rejects. A loop
 * that never yields cannot be cut short from here.
 */
export async function within<T>(timeoutMs: number, code: () => T): Promise<Ended<Awaited<T>>> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<Ended<Awaited<T>>>((resolve) => {
    timer = setTimeout(() => resolve({ kind: 'late' }), timeoutMs);
  });
  const ended = (async (): Promise<Ended<Awaited<T>>> => {
    try {
      return { kind: 'value', value: await code() };
    } catch (error) {
      return { kind: 'threw', text: textOf(error), thrown: error };
    }
  })();
  try {
    return await Promise.race([ended, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** Whatever was thrown, as a short text that is not empty; reading it may itself throw. */
export function textOf(thrown: unknown): string {
  try {
    const text = thrown instanceof Error ? thrown.message || thrown.name : String(thrown);
    if (text.trim() !== '')
      return text.length > longestText ? `${text.slice(0, longestText)}…` : text;
  } catch {
    // A value that cannot be shown.
  }
  return 'an error without a message';
}

/** A member of something foreign, whose getter may throw. */
export function memberOf(
  holder: unknown,
  key: string,
): { readonly value: unknown } | { readonly value: undefined; readonly threw: string } {
  try {
    return { value: (holder as Record<string, unknown> | null | undefined)?.[key] };
  } catch (error) {
    return { value: undefined, threw: textOf(error) };
  }
}
