/** Spans of time in words, for messages that people and models read. */

const units: readonly (readonly [ms: number, name: string])[] = [
  [86_400_000, 'day'],
  [3_600_000, 'hour'],
  [60_000, 'minute'],
  [1_000, 'second'],
];

/**
 * A time to wait in the largest unit that fits and the one below it, such as `1 hour and 30
 * minutes`. It is rounded up, so that a caller who waits that long has waited long enough.
 */
export function waitText(ms: number): string {
  const seconds = Math.max(1_000, Math.ceil(ms / 1_000) * 1_000);
  const at = units.findIndex(([unit]) => unit <= seconds);
  const [large] = units[at] as (typeof units)[number];
  const small = units[at + 1]?.[0] ?? large;
  return inUnits(Math.ceil(seconds / small) * small);
}

/** A window as it follows "per": `day`, `2 hours`, or `1500 ms` if it is not in whole seconds. */
export function windowText(ms: number): string {
  return ms % 1_000 === 0 ? inUnits(ms).replace(/^1 (?=\w+$)/, '') : `${ms} ms`;
}

/** Exactly, as a list of all units that it takes. */
function inUnits(ms: number): string {
  const parts: string[] = [];
  let left = ms;
  for (const [unit, name] of units) {
    const count = Math.floor(left / unit);
    left -= count * unit;
    if (count > 0) parts.push(`${count} ${name}${count === 1 ? '' : 's'}`);
  }
  return parts.length < 3
    ? parts.join(' and ')
    : `${parts.slice(0, -1).join(', ')} and ${parts.at(-1)}`;
}
