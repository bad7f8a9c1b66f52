/** Shortening texts. */

/** A copy that shares no memory: engines let a slice keep the whole text it was cut from alive. */
export function detached(text: string): string {
  return JSON.parse(JSON.stringify(text)) as string;
}

/** At most the first `maxChars` characters of a text that may be very long. */
export function shortened(text: string, maxChars: number): string {
  return text.length <= maxChars ? text : detached(text.slice(0, maxChars));
}
