/** What rules and policies decide. */

/** No objection. Other gates may still object. Made by {@link allow}. */
export interface Allow {
  readonly effect: 'allow';
}

/** A person must approve first. Beats an `allow`, yields to a `deny`. Made by {@link ask}. */
export interface Ask {
  readonly effect: 'ask';
  /** The question for the approver. */
  readonly prompt?: string;
}

/** Refuses the call, whatever other gates say; it ends as `policy_denied`. Made by {@link deny}. */
export interface Deny {
  readonly effect: 'deny';
  /** A stable word for code to read. Matches `^[a-z][a-z0-9_]*$`. */
  readonly reason: string;
  /** Tells the model what to do instead. @default a text that names the reason */
  readonly message?: string;
}

/** The outcome of a gate. A deny beats an ask, and an ask beats an allow. */
export type Decision = Allow | Ask | Deny;

/** The kind of a decision, as rules and defaults name it. */
export type Effect = Decision['effect'];
