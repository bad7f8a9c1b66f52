/** A quick test of ids that callers give. */

/** Values that are looked at before the input is read in full. */
const mostLooked = 500;
const leastSecret = 4;

/**
 * Whether a text or number of the input is part of the id, or may be. This costs less than finding
 * the secrets, and almost never holds.
 */
export function sharesText(id: string, input: unknown): boolean {
  let left = mostLooked;
  const shares = (value: unknown): boolean => {
    if (--left < 0) return true;
    if (typeof value === 'string' || typeof value === 'number') {
      const text = String(value).trim().toLowerCase();
      return text.length >= leastSecret && text.length <= id.length && id.includes(text);
    }
    if (typeof value !== 'object' || value === null) return false;
    for (const key in value) if (shares((value as Record<string, unknown>)[key])) return true;
    return false;
  };
  try {
    // A text may hold JSON.
    return typeof input === 'string' ? input.length >= leastSecret : shares(input);
  } catch {
    return true;
  }
}
