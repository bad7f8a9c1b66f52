/** Keeps the token out of errors, whatever the relay or the network puts into them. */

/** What takes the token out of texts from outside. */
export interface Scrub {
  /** Removes the token from a message, and shortens it. */
  message(text: string): string;
  /**
   * The relay's code, unchanged, since programs compare it.
   * @param otherwise the code if the relay gave none, or a text that cannot be a code
   */
  code(text: string | undefined, otherwise: string): string;
}

const maxMessageChars = 1_000;
/** A shorter token could be a part of a word. Redaction elsewhere has the same limit. */
const leastTokenChars = 4;
const code = /^[A-Za-z][\w-]{0,63}$/;
/** No code has a word of its own that is as long as this. */
const leastTokenInCode = 16;

export function createScrub(token: string): Scrub {
  const isHidden = token.length >= leastTokenChars;
  return {
    message: (text) => (isHidden ? text.replaceAll(token, '***') : text).slice(0, maxMessageChars),
    code(text = '', otherwise) {
      const hasToken = token.length >= leastTokenInCode && text.includes(token);
      return code.test(text) && !hasToken ? text : otherwise;
    },
  };
}
