/** The secret texts of a call, and the search that finds them in what others may read. */
import { type Budget, exhaust, spend, valueSteps } from './budget.ts';
import { createSearch, type Form, longestPrefix, type Search } from './search.ts';
import { type Spelling, spellings } from './spellings.ts';

/** The most secrets of a call together with the calls that it makes. */
const maxSecrets = 500;
/**
 * The most characters in the prefixes of all spellings. They determine the size of the automaton
 * and the time it takes to build.
 */
const maxCharacters = 50_000;
const leastSecretLength = 4;
const leastSecretDigits = 6;
/**
 * How much of a secret is needed to write the prefix of each spelling, even if the last character
 * is cut in half.
 */
const headLength = longestPrefix * 2;

/**
 * A set of secret texts that only grows. A call shares it with the calls that it makes. The search
 * is built when first needed, and again after the set has grown. If there are more secrets than can
 * be searched for, everything is hidden.
 */
export class Secrets {
  readonly #texts = new Set<string>();
  #search: Search | undefined;
  #lost = false;

  /** @param known secrets to start with */
  constructor(known?: Secrets) {
    if (known === undefined) return;
    for (const text of known.#texts) this.#texts.add(text);
    this.#lost = known.#lost;
    // A search does not change, so one that is already built serves both until either set grows.
    this.#search = known.#search;
  }

  /** Whether there is nothing to hide. */
  get none(): boolean {
    return this.#texts.size === 0 && !this.#lost;
  }

  /**
   * Whether some secrets are unknown because there were too many, or collecting them took too long.
   */
  get lost(): boolean {
    return this.#lost;
  }

  /**
   * Adds a secret string, and its trimmed form. A string of fewer than 4 characters is not treated
   * as a secret.
   */
  addText(text: string): void {
    const trimmed = text.trim();
    if (trimmed === '') return;
    if (text.length >= leastSecretLength) this.#add(text);
    if (trimmed.length >= leastSecretLength) this.#add(trimmed);
  }

  /** Adds a secret number in JSON. One with fewer than 6 digits is not treated as a secret. */
  addNumber(text: string): void {
    if (text.replace(/\D/g, '').length >= leastSecretDigits) this.#add(text);
  }

  /** Records that some secrets could not be collected. From now on everything is hidden. */
  lose(): void {
    this.#lost = true;
    this.#texts.clear();
    this.#search = undefined;
  }

  /** The known texts. */
  [Symbol.iterator](): Iterator<string> {
    return this.#texts.values();
  }

  /** Finds secrets in a text; undefined if there are none. Throws when the budget is exceeded. */
  find(text: string, budget: Budget): Int32Array | undefined {
    // No spelling of a secret is shorter than this.
    if (text.length < leastSecretLength) return undefined;
    if (this.#search === undefined && !this.#lost) {
      spend(budget, this.#texts.size * spellings.length * valueSteps);
      const forms = formsOf(this.#texts);
      if (forms === undefined) this.lose();
      else this.#search = createSearch(forms, budget);
    }
    return this.#search === undefined ? exhaust(budget) : this.#search.find(text, budget);
  }

  #add(text: string): void {
    if (this.#lost || this.#texts.has(text)) return;
    if (this.#texts.size === maxSecrets) return this.lose();
    this.#texts.add(text);
    this.#search = undefined;
  }
}

/** Every spelling of every secret; undefined if there are too many. */
function formsOf(texts: ReadonlySet<string>): Form[] | undefined {
  const forms: Form[] = [];
  let characters = 0;
  for (const text of texts) {
    const head = text.slice(0, headLength);
    const seen = new Set<string>();
    for (const spelling of spellings) {
      const start = spelling(head);
      // Spellings of a long secret may start alike and differ later, so only short ones are
      // deduplicated.
      if (start === '' || (head === text && seen.has(start))) continue;
      seen.add(start);
      const prefix = start.slice(0, longestPrefix);
      characters += prefix.length;
      if (characters > maxCharacters) return undefined;
      forms.push({
        prefix,
        whole:
          head === text && start === prefix
            ? undefined
            : (budget) => spelledOut(text, spelling, budget),
      });
    }
  }
  return forms;
}

function spelledOut(text: string, spelling: Spelling, budget: Budget): string {
  // The built-in encoders are several times as fast as the search.
  spend(budget, Math.ceil(text.length / 4));
  return spelling(text);
}
