/** Who may answer a question about a call. */

/** The people who may answer. Plain data. */
export interface Approvers {
  /**
   * Whoever is one of these: a name, as `by` of an answer has it, or `role:` and the name of a
   * role. 1 to 100 entries of at most 1 024 characters.
   */
  readonly any: readonly string[];
  /**
   * How many different people have to allow the call. One rejection rejects it. 1 to 20.
   * @default 1
   */
  readonly count?: number | undefined;
  /**
   * The person for whom the session acts is not one of them, in whatever spelling.
   * @default whoever is named, and that person too if it is one of them
   */
  readonly notPrincipal?: true | undefined;
}

/** Who asks for approvals, or answers one: a name and the roles that the host vouches for. */
export interface Answerer {
  /** The name of the person. */
  readonly by: string;
  /** The roles of the person now, such as `manager`. At most 100. @default none */
  readonly roles?: readonly string[] | undefined;
}

/** What one person has answered, where certain people have to. */
export interface GivenAnswer {
  /** The name of the person. */
  readonly by: string;
  /** The roles of the person at the time of the answer; absent if there were none. */
  readonly roles?: readonly string[];
  /** The answer. */
  readonly decision: 'allow_once' | 'allow_always' | 'reject_once' | 'reject_always';
}
