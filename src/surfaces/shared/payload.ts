/** Reads payloads of providers, in which any value may have any type. */

/**
 * Reads a member of a value that may not be an object. A member that throws when it is read counts
 * as absent.
 */
export function member(value: unknown, name: string): unknown {
  if (typeof value !== 'object' || value === null) return undefined;
  try {
    return (value as Record<string, unknown>)[name];
  } catch {
    return undefined;
  }
}

/** Returns an array unchanged, and an empty one for any other value. */
export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? (value as readonly unknown[]) : [];
}

/** A call's id as text, because some gateways send numbers. Empty if there is none. */
export function idOf(value: unknown): string {
  return typeof value === 'number' && Number.isFinite(value) ? String(value) : textOf(value);
}

/** Returns a text unchanged, and an empty one for any other value. */
export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
