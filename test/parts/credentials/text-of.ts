/** Everything that a reader could see of a value, hidden members and errors included. */
export function textOf(value: unknown): string {
  const seen = new Set<unknown>();
  const walk = (one: unknown): string => {
    if (typeof one !== 'object' || one === null)
      return typeof one === 'function' ? '' : String(one);
    if (seen.has(one)) return '';
    seen.add(one);
    if (one instanceof Map || one instanceof Set) return [...one].map(walk).join(' ');
    return Reflect.ownKeys(one)
      .map((key) => `${String(key)} ${walk((one as Record<PropertyKey, unknown>)[key])}`)
      .join(' ');
  };
  return walk(value);
}
