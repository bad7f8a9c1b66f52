/** How the policies of this package report that they failed, as opposed to that they decided. */

/**
 * Denies the call as `policy_error` with a reason of its own, where any other exception of a policy
 * gives `policy_threw`. Logged like any exception, so the message may say everything that the host
 * needs to know. The model is shown the reason only.
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

  /** The reason of what was thrown; undefined for anything but a fault of this class. */
  static reasonOf(thrown: unknown): string | undefined {
    return typeof thrown === 'object' && thrown !== null && #reason in thrown
      ? thrown.#reason
      : undefined;
  }
}
