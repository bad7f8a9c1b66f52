/** How the policies of this package report a failure, as opposed to a decision. */

/**
 * Denies the call as `policy_error` with its own reason. Any other exception of a policy gives
 * `policy_threw`. It is logged like any exception, so the message may contain everything that the
 * host needs to know. The model sees only the reason.
 */
export class PolicyFault extends Error {
  override readonly name = 'PolicyFault';
  // Private, so that no error of a host can choose a reason by accident.
  readonly #reason: string;

  /** @param reason Matches `^[a-z][a-z0-9_]*$`. */
  constructor(reason: string, message: string, options?: ErrorOptions) {
    super(message, options);
    this.#reason = reason;
  }

  /** The reason of the thrown value; undefined for anything but a fault of this class. */
  static reasonOf(thrown: unknown): string | undefined {
    return typeof thrown === 'object' && thrown !== null && #reason in thrown
      ? thrown.#reason
      : undefined;
  }
}
