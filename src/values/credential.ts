/** A credential as a handler has it. Printing it, or turning it into JSON, shows nothing. */

class HeldCredential {
  readonly #token: string;
  readonly #expiresAt: number | undefined;

  constructor(token: string, expiresAt: number | undefined) {
    this.#token = token;
    this.#expiresAt = expiresAt;
    Object.freeze(this);
  }

  get token(): string {
    return this.#token;
  }

  get expiresAt(): number | undefined {
    return this.#expiresAt;
  }

  headers(): { readonly Authorization: string } {
    return { Authorization: `Bearer ${this.#token}` };
  }
}

/** @param expiresAt Epoch milliseconds; undefined if that is not known. */
export function heldCredential(token: string, expiresAt: number | undefined) {
  return new HeldCredential(token, expiresAt);
}
