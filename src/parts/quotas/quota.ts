/** A quota as calls are counted by it. */

import type { CallSession } from '../../core/call/session-port.ts';
import type { Conditioned } from '../../core/rules/conditioned.ts';
import type { Judged } from '../../core/rules/judged.ts';

/** A checked quota. It is frozen and shares nothing with the host's object. */
export interface CompiledQuota extends Conditioned {
  /**
   * The start of the keys of its sums. It contains everything that changes the meaning of a sum, so
   * that sums of different meaning never mix.
   */
  readonly key: string;
  /** The session that counts, if it is not that of the call: one for which the call's acts. */
  readonly session?: CallSession;
  /** Undefined if calls are counted. */
  readonly sum: readonly string[] | undefined;
  readonly max: number;
  /** {@link max} in the units of a store. */
  readonly maxUnits: bigint;
  /** Undefined for a quota per session. */
  readonly windowMs: number | undefined;
  /** The window in words: `minute`, `session`, `2 hours` or `1500 ms`. */
  readonly per: string;
  /** Without any of these and without paths, all calls count together. */
  readonly by: readonly ('session' | 'principal')[];
  /** Paths of the input, for whose values there are sums of their own. */
  readonly paths: readonly (readonly string[])[];
  readonly over: 'deny' | 'ask';
  readonly reason: string;
  /** Whether calls to the tool may count. */
  appliesTo(tool: { readonly name: string }): boolean;
  /** Whether the input decides which calls count. */
  readonly hasWhen: boolean;
  /** Paths whose attributes the `when` part reads, as tools declare them. */
  readonly attributes: readonly string[];
  /** Whether a call counts, by the `when` part. @throws `overBudget`. */
  counts(judged: Judged): boolean;
}
