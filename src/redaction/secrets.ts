/** The secret texts that nothing told of a call may hold, and the search that takes them out. */
import { type Budget, exhaust, spend, valueSteps } from './budget.ts';
import { createSearch, type Form, longestPrefix, type Search } from './search.ts';
import { type Spelling, spellings } from './spellings.ts';

/** Most secrets of a call and of the calls that it makes. */
const mostSecrets = 500;
/**
 * Most characters of all prefixes of all spellings: the size of the automaton, and the time that it
 * takes to build.
 */
const mostCharacters = 50_000;
const leastSecretLength = 4;
const leastSecretDigits = 6;
/**
 * Enough of a secret to write the prefix of each of its spellings, also where its last character is
 * cut in half.
 */
const headLength = longestPrefix * 2;

/**
 * Secret texts, which only ever become more. A call shares them with the calls that it makes. The
 * search for them is built when first needed, and again after they have grown. Where there are more
 * than can be searched for, everything that is told is hidden.
 */
export class Secrets {
  readonly #texts = new Set<string>();
  #search: Search | undefined;
  #lost = false;

  /** Starts with the secrets of another set, if one is given. */
  constructor(known?: Secrets) {
    if (known === undefined) return;
    for (const text of known.#texts) this.#texts.add(text);
    this.#lost = known.#lost;
  }

  /** True when there is nothing to hide. */
  get none(): boolean {
    return this.#texts.size === 0 && !this.#lost;
  }

  /** Some secrets are not known here: there were too many, or looking for them took too long. */
  get lost(): boolean {
    return this.#lost;
  }

  /**
   * Adds a secret string and what remains of it without white space around it; shorter than 4
   * characters it is no secret.
   */
  addText(text: string): void {
    const trimmed = text.trim();
    if (trimmed === '') return;
    if (text.length >= leastSecretLength) this.#add(text);
    if (trimmed.length >= leastSecretLength) this.#add(trimmed);
  }

  /** Adds a secret number as JSON writes it; with fewer than 6 digits it is no secret. */
  addNumber(text: string): void {
    if (text.replace(/\D/g, '').length >= leastSecretDigits) this.#add(text);
  }

  /** Some secrets could not be collected: from now on everything is hidden. */
  lose(): void {
    this.#lost = true;
    this.#texts.clear();
    this.#search = undefined;
  }

  /** The texts that are known. */
  [Symbol.iterator](): Iterator<string> {
    return this.#texts.values();
  }

  /** Where secrets stand in the text; undefined when nowhere. Throws when the budget is spent. */
  find(text: string, budget: Budget): Int32Array | undefined {
    // No spelling is shorter than this.
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
    if (this.#texts.size === mostSecrets) return this.lose();
    this.#texts.add(text);
    this.#search = undefined;
  }
}

/** Every spelling of every secret; undefined when they are too many. */
function formsOf(texts: ReadonlySet<string>): Form[] | undefined {
  const forms: Form[] = [];
  let characters = 0;
  for (const text of texts) {
    const head = text.slice(0, headLength);
    const seen = new Set<string>();
    for (const spelling of spellings) {
      const start = spelling(head);
      // Spellings of a long secret that begin alike may go on differently.
      if (start === '' || (head === text && seen.has(start))) continue;
      seen.add(start);
      const prefix = start.slice(0, longestPrefix);
      characters += prefix.length;
      if (characters > mostCharacters) return undefined;
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
  // The engine's own encoders are several times as fast as a search.
  spend(budget, Math.ceil(text.length / 4));
  return spelling(text);
}
