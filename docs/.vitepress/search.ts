/**
 * How the search of the site ranks its results. The site gets these functions as text, so each
 * is complete by itself and names nothing outside of it.
 */

/**
 * Guides come first. Then what describes a protocol, an option or a measurement for those who
 * already know what they look for; then the reference, where each option occurs several times; and
 * last the decisions, which are for developers of this library. Where a page begins comes before
 * its sections and before sections of other pages that have the word in their heading.
 */
export function boostDocument(
  page: string,
  _term?: string,
  section?: { readonly titles?: readonly string[] },
): number {
  const begins = section?.titles?.length === 0 ? 2 : 1;
  if (page.includes('/decisions/')) return 0.02 * begins;
  if (page.includes('/api/')) return 0.2 * begins;
  // The list of all pages has the words of all of them.
  if (/\/(?:README|pages)\b/.test(page)) return 0.2;
  return /\/(?:relay-protocol|errors|imports|performance|public-reports|architecture)\b/.test(page)
    ? 0.4 * begins
    : begins;
}

/**
 * A whole name, such as `defineTool`, leads to its page in the reference. The search calls this for
 * each result before it sorts them. Nothing is left out.
 */
export function filter(result: {
  readonly id: string;
  readonly title?: string;
  readonly titles?: readonly string[];
  readonly queryTerms: readonly string[];
  score: number;
}): boolean {
  const name = /^\w*[a-z][A-Z]\w*/.exec(result.title ?? '')?.[0].toLowerCase() ?? '';
  const isNamed = result.queryTerms.some(
    (term) => name.startsWith(term) && name.length - term.length < 3,
  );
  if (isNamed && result.id.includes('/api/') && result.titles?.length === 0) result.score *= 20;
  return true;
}

/** A word in a heading says more than one in a text, and less than VitePress believes. */
export const boost = { title: 2, text: 2, titles: 1 };

/** A letter may be wrong in a long word. In a short one, it would be another word. */
export function fuzzy(term: string): number | false {
  return term.length > 5 ? 0.2 : false;
}

/**
 * What is kept and looked up of a word: its stem, so that "approvals" and "approving" find
 * "approve". Words without a meaning of their own are left out: "human in the loop".
 */
export function processTerm(term: string): string | null {
  const word = term.toLowerCase();
  if (/^(?:a|an|and|are|as|be|by|for|how|i|in|is|it|my|of|on|or|the|to|with)$/.test(word))
    return null;
  if (!/^[a-z]{5,}$/.test(word)) return word;
  return word
    .replace(/(?<=[^s])s$/, '')
    .replace(/(?<=.{5})ing$|(?<=.{3})ed$/, '')
    .replace(/(?<=.{3})[eyi]+$/, '');
}
