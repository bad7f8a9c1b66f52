/** Runs the host's code within a time limit. Whatever it throws becomes text. */

/** The outcome of the host's code. `late`: it did not end within the time limit. */
export type Ended<T> =
  | { readonly kind: 'value'; readonly value: T }
  | { readonly kind: 'threw'; readonly text: string; readonly thrown: unknown }
  | { readonly kind: 'late' };

const longestText = 500;

/**
 * Runs `code` at once and waits at most `timeoutMs` for its promise. Never rejects. A loop that
 * never yields cannot be stopped.
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

/** A thrown value as a short text that is not empty, even if reading the value throws. */
export function textOf(thrown: unknown): string {
  try {
    const text = thrown instanceof Error ? thrown.message || thrown.name : String(thrown);
    if (text.trim() !== '')
      return text.length > longestText ? `${text.slice(0, longestText)}…` : text;
  } catch {
    // The value cannot be converted to text.
  }
  return 'an error without a message';
}

/** Reads a member of a foreign value, whose getter may throw. */
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
