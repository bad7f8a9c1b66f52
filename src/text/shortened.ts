/** Texts that are cut short. */

/** A copy of its own: engines let a slice keep the whole text that it was cut from in memory. */
export function detached(text: string): string {
  return JSON.parse(JSON.stringify(text)) as string;
}

/** The beginning of a text that may be very long, at most `maxChars` of it. */
export function shortened(text: string, maxChars: number): string {
  return text.length <= maxChars ? text : detached(text.slice(0, maxChars));
}
