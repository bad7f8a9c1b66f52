/** A quota as calls are counted by it, and those of a registry in the order they were added. */

import type { Quota } from '../../api/quotas.ts';
import type { CallSession } from '../../core/call/session-port.ts';
import type { PartSet } from '../../core/part.ts';
import type { Conditioned } from '../../core/rules/conditioned.ts';
import type { Judged } from '../../core/rules/rule.ts';
import { compileQuotas } from './quotas.ts';

export class QuotaLayers {
  #all: readonly CompiledQuota[];
  readonly #parts: PartSet;

  constructor(quotas: readonly Quota[], parts: PartSet) {
    this.#parts = parts;
    this.#all = compileQuotas(quotas, 'registry', parts);
  }

  get all(): readonly CompiledQuota[] {
    return this.#all;
  }

  /** Takes over the quotas of another registry, without their counts. */
  takeOver(other: QuotaLayers): void {
    this.#all = other.all;
  }

  /**
   * Compiles quotas as if they were added.
   * @param ids Those of other quotas.
   * @throws MisuseError `invalid_quota`
   */
  compile(quotas: readonly Quota[], ids: ReadonlySet<string>): readonly CompiledQuota[] {
    return compileQuotas(quotas, 'registry', this.#parts, ids);
  }

  /**
   * Adds quotas after the existing ones. The returned function removes them.
   * @param review Sees the new quotas. If it throws, nothing is added.
   */
  add(quotas: readonly Quota[], review: (added: readonly CompiledQuota[]) => void): () => void {
    const ids = new Set(this.#all.map(({ id }) => id));
    const compiled = this.compile(quotas, ids);
    review(compiled);
    const added = new Set(compiled);
    this.#all = [...this.#all, ...added];
    return () => {
      this.#all = this.#all.filter((one) => !added.has(one));
    };
  }
}

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
