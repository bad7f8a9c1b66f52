/** Reading what a provider sent: anything may be anything. */

/**
 * A member of a value that may be no object at all. What throws when it is read counts as absent.
 */
export function member(value: unknown, name: string): unknown {
  if (typeof value !== 'object' || value === null) return undefined;
  try {
    return (value as Record<string, unknown>)[name];
  } catch {
    return undefined;
  }
}

/** The members of an array, or none. */
export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? (value as readonly unknown[]) : [];
}

/** A call's id as text: some gateways send numbers. The empty one where there is none. */
export function idOf(value: unknown): string {
  return typeof value === 'number' && Number.isFinite(value) ? String(value) : textOf(value);
}

/** A text, or the empty one. */
export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
