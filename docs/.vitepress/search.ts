/**
 * How the search of the site ranks its results. The site gets these functions as text, so each
 * stands on its own and names nothing outside of it.
 */

/**
 * Guides come first. Then what describes a protocol, an option or a measurement for those who
 * already know what they look for; then the reference, where each option occurs several times; and
 * last the decisions, which are for developers of this library.
 */
export function boostDocument(page: string): number {
  if (page.includes('/decisions/')) return 0.05;
  if (page.includes('/api/')) return 0.2;
  return /\/(?:relay-protocol|errors|performance|public-reports|architecture)\b/.test(page)
    ? 0.4
    : 1;
}

/** Words without a meaning of their own are neither kept nor looked up: "human in the loop". */
export function processTerm(term: string): string | null {
  const word = term.toLowerCase();
  return /^(?:a|an|and|are|as|be|by|for|how|i|in|is|it|my|of|on|or|the|to|with)$/.test(word)
    ? null
    : word;
}
