/** Distinguishes the alternatives of a union. */

/**
 * Whether a value has its own member of this name. `in` would also find one on a polluted
 * `Object.prototype`, and take a refusal for an allowance.
 */
export function hasOwn<T extends object, K extends string>(
  value: T,
  name: K,
): value is Extract<T, { readonly [Name in K]: unknown }> {
  return Object.hasOwn(value, name);
}
